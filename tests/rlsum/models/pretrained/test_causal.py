"""Language models as summarizers, held against transformers' own decoding, and a plain loop over tokens."""

import language_models as lm
import pretrained as tiny
import pytest
import torch
from portable import draw_normal

from rlsum.data.subwords import IGNORED
from rlsum.errors import UserError
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pretrained import causal, loading, prefix
from rlsum.models.pretrained import rows as plain
from rlsum.models.sampling import Drawn

ONCE = {"llama", "qwen2", "qwen3", "gpt2", "gpt_neox", "opt"}  # the others have windows or biases


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder of each architecture. Many ids end a text, so that some texts do end."""
    place = tmp_path_factory.mktemp("language-models")
    return {name: lm.save(place / name, name, many_ends=True) for name in lm.NAMES}


def alone(model, news, row, ids):
    """Log-probabilities of ids behind an article, one token after the other, without padding, mask or cache."""
    text, steps = news.src[row, : news.src_lengths[row]].tolist(), []
    for token in ids:
        logits = model.network(torch.tensor([text])).logits[0, -1]
        steps.append(logits.log_softmax(-1)[token])
        text.append(token)
    return torch.stack(steps)


@pytest.mark.parametrize("name", lm.NAMES)
def test_scores_and_samples_have_the_log_probabilities_of_a_plain_loop(folders, name):
    model = lm.summarizer(folders[name])
    news = tiny.batch(model)
    torch.manual_seed(0)
    samples, greedy = model.self_critical(news, 2, Sampling(max_length=8))
    assert model.reads_once(news, 20) == (name in ONCE)
    lengths = (samples.ids != IGNORED).sum(-1)
    assert lengths.min() < lengths.max()  # some have ended before others
    scored = model(news, samples.ids).log_prob
    for tokens, k in ((samples, 2), (greedy, 1)):
        for row, ids in enumerate(tokens.ids):
            kept = ids[ids != IGNORED].tolist()
            with torch.no_grad():
                expected = alone(model, news, row // k, kept)
            torch.testing.assert_close(tokens.log_prob[row, : len(kept)], expected, atol=1e-5, rtol=0)
            assert (tokens.log_prob[row, len(kept) :] == 0).all()
            if k == 2:
                torch.testing.assert_close(scored[row, : len(kept)], expected, atol=1e-5, rtol=0)
    assert (samples.log_prob.sum(-1) < -1).all()  # nothing is certain


@pytest.mark.parametrize("name", ["llama", "mistral", "gpt2"])
@pytest.mark.parametrize(
    "decoding",
    [
        Decoding(max_length=9),
        Decoding(max_length=9, min_length=6, block_ngrams=2),
        Decoding("beam", beam=3, max_length=9, min_length=4, length_penalty=2.0),
        Decoding("sample", samples=2, max_length=9, temperature=0.8, top_k=30, top_p=0.9),
    ],
    ids=["greedy", "constrained", "beam", "sample"],
)
def test_decoding_is_that_of_plain_transformers(folders, name, decoding):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = lm.summarizer(folders[name])
    news, network = tiny.batch(model, tiny.NEWS[:3]), AutoModelForCausalLM.from_pretrained(folders[name]).eval()
    tokenizer = AutoTokenizer.from_pretrained(folders[name], padding_side="left")
    prompts = lm.prompts(tokenizer, [article for article, _ in tiny.NEWS[:3]])
    assert [row[:length].tolist() for row, length in zip(news.src, news.src_lengths, strict=True)] == prompts
    options = {
        "max_new_tokens": 9,
        "min_new_tokens": decoding.min_length,
        "no_repeat_ngram_size": decoding.block_ngrams,
    }
    if decoding.method == "beam":
        options |= {"num_beams": 3, "early_stopping": True, "length_penalty": 2.0}
    if decoding.method == "sample":
        options |= {"do_sample": True, "temperature": 0.8, "top_k": 30, "top_p": 0.9, "num_return_sequences": 2}
    inputs = tokenizer.pad({"input_ids": prompts}, return_tensors="pt")
    torch.manual_seed(0)
    expected = network.generate(**inputs, **options)[:, inputs["input_ids"].shape[1] :]
    torch.manual_seed(0)
    ours = model.generate(news, decoding)
    assert len(expected) == len(ours.ids) == 3 * decoding.samples
    for row, ids, text in zip(expected, ours.ids, model.to_text(news, ours), strict=True):
        kept = ids[ids != IGNORED].tolist()
        assert row[: len(kept)].tolist() == kept
        assert text == "\n".join(map(str.strip, tokenizer.decode(kept, True).strip().split("\n")))
    if decoding.method == "beam" or decoding == Decoding(max_length=9):
        torch.testing.assert_close(model(news, ours.ids).log_prob, ours.log_prob, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", lm.NAMES)
def test_the_loss_is_that_of_transformers_labels_at_the_summary_alone(folders, name):
    model = lm.summarizer(folders[name])
    news = tiny.batch(model)
    log_prob = model(news, news.target).log_prob
    for row, target in enumerate(news.target):
        kept, length = target[target != IGNORED], int(news.src_lengths[row])
        ids = torch.cat([news.src[row, :length], kept])[None]
        labels = ids.masked_fill(torch.arange(ids.shape[1]) < length, IGNORED)
        loss = model.network(ids, labels=labels).loss
        torch.testing.assert_close(-log_prob[row].sum() / len(kept), loss, atol=1e-5, rtol=0)


def test_samples_are_scored_under_the_distribution_that_drew_them(folders):
    model = lm.summarizer(folders["llama"])
    news, sampling = tiny.batch(model), Sampling(max_length=9, min_length=2, temperature=0.7, top_k=20, block_ngrams=2)
    samples = model.sample(news, 3, sampling)
    scored = model(news, samples.ids, Drawn.all(samples.ids, sampling)).log_prob
    torch.testing.assert_close(scored, samples.log_prob, atol=1e-5, rtol=0)
    assert (scored - model(news, samples.ids).log_prob).abs().max() > 0.1


@pytest.mark.parametrize("name", ["llama", "gpt2"])
@pytest.mark.parametrize("section", [{}, {"gradient_checkpointing": True}, {"lora": {"rank": 2}}])
def test_an_article_that_is_read_once_gives_the_gradients_of_plain_rows(folders, monkeypatch, name, section):
    gradients = []
    for _ in range(2):
        torch.manual_seed(1)
        model = lm.summarizer(folders[name], **section).train()
        news = tiny.batch(model)
        model(news, news.target.repeat_interleave(2, 0)).log_prob.sum().backward()
        gradients.append({key: p.grad for key, p in model.named_parameters() if p.grad is not None})
        monkeypatch.setattr(model.__class__, "reads_once", lambda *_: False)
    assert gradients[0].keys() == gradients[1].keys() != set()
    for key, gradient in gradients[0].items():
        close = max(1e-4, 1e-5 * gradient.abs().max().item())  # of the largest: small ones are differences of such
        torch.testing.assert_close(gradients[1][key], gradient, atol=close, rtol=1e-4, msg=key)


def test_a_way_that_disagrees_with_plain_rows_is_not_taken_and_told_once(folders, monkeypatch, caplog):
    model = lm.summarizer(folders["llama"])
    news = tiny.batch(model)
    expected = model(news, news.target).log_prob
    assert model.reads_once(news, 20)
    monkeypatch.setattr(prefix, "logits", lambda *given: 1.01 * plain.logits(*given))
    wrong = lm.summarizer(folders["llama"])
    with caplog.at_level("INFO", logger="rlsum.readers"):
        for _ in range(2):
            torch.testing.assert_close(wrong(news, news.target).log_prob, expected, atol=1e-5, rtol=0)
    told = [line for line in caplog.messages if "reads its article again: log-probabilities would differ" in line]
    assert len(told) == 1


def test_a_network_that_padding_changes_is_refused_and_reads_one_article_at_a_time(folders, monkeypatch):
    model, right = lm.summarizer(folders["bloom"]), plain.left_padded
    news = tiny.batch(model)
    assert not model.reads_once(news, 20)
    monkeypatch.setattr(plain, "left_padded", lambda *given: (right(*given)[0], torch.ones_like(right(*given)[1])))
    wrong = lm.summarizer(folders["bloom"])
    one = tiny.batch(wrong, tiny.NEWS[:1])
    wrong(one, one.target)
    for _ in range(2):  # a notebook may go on
        with pytest.raises(UserError, match="bloom cannot read articles with padding; set batch_size to 1"):
            wrong(news, news.target)


@pytest.mark.parametrize(
    "way", [Decoding("beam", beam=2, max_length=5), Decoding(max_length=5), Sampling(max_length=5)]
)
def test_a_network_that_decodes_otherwise_than_it_scores_writes_and_learns_nothing(tmp_path, way):
    def written(model, news):
        return model.sample(news, 2, way) if isinstance(way, Sampling) else model.generate(news, way)

    other = lm.summarizer(lm.save(tmp_path / "xlnet", "xlnet"))
    one = tiny.batch(other, tiny.NEWS[:1])
    for write in (lambda: written(other, one), lambda: other(one, one.target)):
        with pytest.raises(UserError, match="between decoding and scoring: transformers gives xlnet other inputs"):
            write()
    padded = lm.summarizer(lm.save(tmp_path / "git", "git"))  # it scores padded articles as single ones
    tokens = written(padded, one)
    with torch.no_grad():
        expected = alone(padded, one, 0, tokens.ids[0].tolist())
    torch.testing.assert_close(tokens.log_prob[0], expected, atol=1e-5, rtol=0)
    with pytest.raises(UserError, match="git cannot read articles with padding; set batch_size to 1"):
        written(padded, tiny.batch(padded))


def test_positions_that_the_longest_article_of_a_batch_stretches_are_refused(tmp_path):
    rope = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 8.0}
    folder = lm.save(tmp_path / "llama", "llama")
    sizes = loading.load_config(str(folder), loading.CAUSAL)
    sizes.rope_parameters, sizes.max_position_embeddings = rope, 120
    sizes.save_pretrained(folder)
    model = lm.summarizer(folder)
    assert model.reads_once(tiny.batch(model, [("the mill", "the mill"), tiny.NEWS[3]]), 9)
    news = tiny.batch(model)
    assert max(news.src_lengths) > 120 > min(news.src_lengths)
    for way in (Decoding("beam", beam=2, max_length=9), Decoding(max_length=9)):
        with pytest.raises(UserError, match="llama cannot read articles with padding"):
            model.generate(news, way)


def test_an_attention_that_asks_for_something_else_is_told_and_not_taken(folders, monkeypatch):
    def other(*_):
        raise TypeError("another argument")

    model = lm.summarizer(folders["llama"])
    news = tiny.batch(model)
    expected = model(news, news.target).log_prob
    monkeypatch.setattr(prefix, "logits", other)
    asks = lm.summarizer(folders["llama"])
    torch.testing.assert_close(asks(news, news.target).log_prob, expected, atol=1e-5, rtol=0)
    assert asks._differs == {("cpu", False): "its attention cannot be replaced (another argument)"}


def test_half_precision_is_compared_with_half_precision(folders):
    model = lm.summarizer(folders["llama"])
    news = tiny.batch(model)
    with torch.autocast("cpu", torch.bfloat16):
        assert model.reads_once(news, 20)


@pytest.mark.parametrize("noise", [{"dropout": True}, {"lora": {"rank": 2, "dropout": 0.5, "targets": ["c_attn"]}}])
def test_dropout_keeps_plain_rows_and_acts_in_training_alone(folders, noise):
    loud = lm.summarizer(folders["gpt2"], **noise).train()
    if "lora" in noise:  # updates that start at 0 would hide it
        draw_normal(((p, 0.5) for name, p in loud.named_parameters() if "lora_" in name), seed=1)
    news = tiny.batch(loud)
    assert not loud.reads_once(news, 20)
    assert not torch.equal(*(loud(news, news.target).log_prob for _ in range(2)))
    assert torch.equal(*(loud.generate(news, Decoding(max_length=5)).log_prob for _ in range(2)))
    quiet = lm.summarizer(folders["gpt2"]).train()
    assert torch.equal(*(quiet(news, news.target).log_prob for _ in range(2)))


@pytest.mark.parametrize("way", ["greedy", "beam", "sample"])
def test_a_stop_string_ends_a_text_for_certain_and_is_no_part_of_it(folders, way):
    free = lm.summarizer(folders["llama"])
    news = tiny.batch(free)
    decoding = Decoding(way, beam=3, samples=1, max_length=9)
    torch.manual_seed(0)
    texts = free.to_text(news, free.generate(news, decoding))
    letters = [letter for letter in "".join(text[1:] for text in texts) if letter.isascii()]
    stop = max(letters, key=letters.count)
    model = lm.summarizer(folders["llama"], stop=[stop])
    torch.manual_seed(0)
    ended = model.generate(news, decoding)
    assert any(stop in text for text in texts)
    if way != "beam":  # which finds others
        assert [text.split(stop)[0].strip() for text in texts] == model.to_text(news, ended)
    assert not any(stop in text for text in model.to_text(news, ended))
    scored = model(news, ended.ids).log_prob
    torch.testing.assert_close(scored, ended.log_prob, atol=1e-5, rtol=0)
    forced = 0
    for ids, row in zip(ended.ids.tolist(), scored, strict=True):
        kept = [token for token in ids if token != IGNORED]
        if len(kept) > 1 and stop in model.vocabulary.tokenizer.decode(kept[:-1]):
            assert (kept[-1], row[len(kept) - 1].item()) == (model.vocabulary.end, 0.0)
            forced += 1
    assert forced


def test_a_stop_string_that_begins_in_the_prompt_ends_no_text(folders):
    free = lm.summarizer(folders["llama"])
    news, decoding = tiny.batch(free), Decoding("beam", beam=2, max_length=9)
    text = free.to_text(news, free.generate(news, decoding))[1]
    first = free.vocabulary.tokenizer.decode(free.generate(news, decoding).ids[1, :1])
    stopping = lm.summarizer(folders["llama"], stop=[free.vocabulary.after[-1] + first])
    assert text == stopping.to_text(news, stopping.generate(news, decoding))[1]


@pytest.mark.parametrize("way", ["greedy", "sample"])
def test_a_padding_token_that_was_added_without_a_row_of_the_network_is_not_read(tmp_path, way):
    folder = lm.save(tmp_path / "llama", "llama", many_ends=True)
    words = lm.tokenizer()
    words.add_special_tokens({"pad_token": "[PAD]"})
    words.save_pretrained(folder)
    model = lm.summarizer(folder)
    news = tiny.batch(model)
    torch.manual_seed(0)
    tokens = model.generate(news, Decoding(way, samples=3 if way == "sample" else 1, max_length=12))
    assert (tokens.ids[:, -1] == IGNORED).any()  # some have ended before others
    torch.testing.assert_close(model(news, tokens.ids).log_prob, tokens.log_prob, atol=1e-5, rtol=0)


@pytest.mark.parametrize("key", ["forced_eos_token_id", "suppress_tokens"])
def test_rules_for_single_tokens_are_refused(folders, key):
    network = lm.summarizer(folders["llama"]).network
    setattr(network.generation_config, key, [3])
    with pytest.raises(UserError, match=f"generation_config.json: {key} is not followed"):
        causal.TokenRules.behind_a_prompt(network.generation_config, 0, 2)


@pytest.mark.parametrize("wrong", [9999, -1])
def test_an_end_that_the_network_does_not_have_is_named(tmp_path, wrong):
    folder = tiny.ruled(lm.save(tmp_path / "llama", "llama"), eos_token_id=[2, wrong])
    with pytest.raises(UserError, match=rf"llama: eos_token_id={wrong} is no token .* correct generation_config.json"):
        lm.summarizer(folder)
