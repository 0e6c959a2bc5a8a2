"""Pretrained encoder-decoders as summarizers, held against transformers' own decoding and losses."""

import json
import math
import shutil

import pretrained as tiny
import pytest
import torch
from pretrained import batch
from pretrained import summarizer as load

from rlsum.data.corpus import Tokenization
from rlsum.data.subwords import IGNORED
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pretrained import loading
from rlsum.models.summarizer import Tokens
from rlsum.training import losses
from rlsum.training.validation import decoded_outputs

ALL = list(tiny.ARCHITECTURES)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder of each architecture. Many ids end a text, so that some texts do end."""
    made = {}
    for name in ALL:
        folder = tiny.save(tmp_path_factory.mktemp("pretrained") / name, name)
        end = json.loads((folder / "config.json").read_text())["eos_token_id"]
        made[name] = tiny.ruled(folder, eos_token_id=[end, *range(20, 40)])
    return made


def attended(news):
    """The mask of a batch's articles."""
    return (torch.arange(news.src.shape[1]) < news.src_lengths.unsqueeze(1)).long()


def labelled(network, news, smoothing=0.0, **inputs):
    """Logits by transformers' own shift of labels, and torch's log-probabilities of the labels."""
    logits = network(input_ids=news.src, attention_mask=attended(news), labels=news.target, **inputs).logits
    losses = torch.nn.functional.cross_entropy(
        logits.transpose(1, 2), news.target, reduction="none", label_smoothing=smoothing
    )
    return logits, -losses


def check_agreement(model, news, tokens):
    scored = model(news, tokens.ids).log_prob
    torch.testing.assert_close(scored, tokens.log_prob, atol=1e-5, rtol=0)
    assert (tokens.log_prob.sum(-1) < -1).all()  # nothing is certain


# ---- scoring and decoding agree -----------------------------------------------------------------------------------


def test_attention_is_not_computed_by_cudnn(folders):
    torch.backends.cuda.enable_cudnn_sdp(True)
    load(folders[ALL[0]])
    assert not torch.backends.cuda.cudnn_sdp_enabled()


@pytest.mark.parametrize("name", ALL)
def test_samples_and_greedy_of_one_batch_have_the_log_probability_of_scoring(folders, name):
    model = load(folders[name])
    news = batch(model)
    torch.manual_seed(0)
    samples, greedy = model.self_critical(news, 3, Sampling(max_length=10))
    assert (len(samples.ids), len(greedy.ids)) == (12, 4)
    check_agreement(model, news, samples)
    check_agreement(model, news, greedy)
    lengths = (samples.ids != IGNORED).sum(-1)
    assert lengths.min() < lengths.max()  # some have ended before others
    assert not torch.equal(samples.ids[0], samples.ids[1])
    assert not samples.log_prob.requires_grad
    alone = model.generate(news, Decoding(max_length=10))
    width = max(alone.ids.shape[1], greedy.ids.shape[1])
    padded = [torch.nn.functional.pad(ids, (0, width - ids.shape[1]), value=IGNORED) for ids in (alone.ids, greedy.ids)]
    assert torch.equal(*padded)


@pytest.mark.parametrize("decoding", [Decoding(max_length=9), Decoding("beam", beam=3, max_length=9)])
def test_what_nobody_reads_is_not_scored(folders, monkeypatch, decoding):
    """Validation and generation read the texts alone."""
    model = load(folders["t5"])
    news, scored = batch(model), model.generate(batch(model), decoding)
    texts = model.to_text(news, scored)
    monkeypatch.setattr(type(model), "forward", None)
    assert [output.candidate for output in decoded_outputs(model, news, decoding, "s", seed=0)] == texts
    assert model.generate(news, decoding, scored=False).log_prob.isnan().all()  # not a number that looks like one


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "decoding",
    [
        Decoding(max_length=9),
        Decoding(max_length=9, min_length=6, block_ngrams=2),
        Decoding("beam", beam=3, max_length=9, min_length=4, length_penalty=2.0),
    ],
    ids=["greedy", "constrained", "beam"],
)
def test_decoding_is_that_of_plain_transformers(folders, name, decoding):
    """Start tokens, forced and suppressed ones, lengths, padding: the same ids from padded inputs on either side."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    model = load(folders[name])
    news = batch(model)
    ours = model.generate(news, decoding)
    check_agreement(model, news, ours) if decoding.min_length == 0 else None
    plain = AutoModelForSeq2SeqLM.from_pretrained(folders[name], dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folders[name])
    options = {"num_beams": decoding.beam, "early_stopping": True, "length_penalty": decoding.length_penalty}
    found = plain.generate(
        **tokenizer([source for source, _ in tiny.NEWS], padding=True, return_tensors="pt"),
        max_new_tokens=decoding.max_length,
        min_new_tokens=decoding.min_length,
        min_length=0,
        no_repeat_ngram_size=decoding.block_ngrams,
        **(options if decoding.method == "beam" else {"num_beams": 1}),
    )
    for text, row, ids in zip(model.to_text(news, ours), found, ours.ids, strict=True):
        kept = ids[ids != IGNORED].tolist()
        if decoding.block_ngrams and model.rules.start in kept:
            continue  # transformers blocks n-grams that have the start token, too
        assert text == tokenizer.decode(row, skip_special_tokens=True).strip()
        assert row[1 : 1 + len(kept)].tolist() == kept


@pytest.mark.parametrize("name", ALL)
def test_log_probabilities_are_those_that_transformers_samples_with(folders, name):
    model = load(folders[name])
    news, rules = batch(model), model.rules
    torch.manual_seed(1)
    config = rules.generation_config(Decoding("sample", max_length=8))
    found = model.network.generate(
        news.src,
        attention_mask=attended(news),
        generation_config=config,
        output_scores=True,
        return_dict_in_generate=True,
    )
    ids = rules.ends_of(found.sequences[:, 1:], 8)
    steps = torch.stack([scores.log_softmax(-1) for scores in found.scores], 1)
    expected = steps.gather(-1, ids.clamp(min=0).unsqueeze(-1)).squeeze(-1).masked_fill(ids == IGNORED, 0.0)
    torch.testing.assert_close(model(news, ids).log_prob, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ALL)
def test_the_loss_is_that_of_transformers_labels(folders, name):
    """The label shift; where the first token is forced, transformers' loss counts it and ours does not."""
    model = load(folders[name])
    news = batch(model)
    _, expected = labelled(model.network, news)
    log_prob = model(news, news.target).log_prob
    first = 0 if model.rules.forced_first is None else 1
    if model.rules.suppressed:  # what they had is shared by the others
        assert (log_prob[:, first:] >= expected[:, first:] - 1e-6).all()
        assert log_prob.isfinite().all()
        return
    torch.testing.assert_close(log_prob[:, first:], expected[:, first:], atol=1e-5, rtol=0)
    assert (log_prob[:, :first] == 0).all()


@pytest.mark.parametrize("name", ALL)
def test_the_smoothed_loss_is_that_of_torch_on_the_logits_of_transformers(folders, name):
    model = load(folders[name], smoothed=True).train()
    news = batch(model)
    logits, expected = labelled(model.network, news, 0.1)
    first = 0 if model.rules.forced_first is None else 1
    if model.rules.suppressed:  # among the tokens that are possible; a reference may hold another
        possible = torch.ones_like(logits, dtype=torch.bool)
        possible[:, :, list(model.rules.suppressed)] = False
        possible[:, first, list(model.rules.suppressed_first)] = False
        possible.scatter_(-1, news.target.clamp(min=0).unsqueeze(-1), True)
        log_prob = logits.masked_fill(~possible, -math.inf).log_softmax(-1)
        own = log_prob.gather(-1, news.target.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        mean = log_prob.masked_fill(~possible, 0).sum(-1) / possible.sum(-1)
        expected = (0.9 * own + 0.1 * mean).masked_fill(news.target == IGNORED, 0)
    scored = model(news, news.target)
    ours = losses.smoothed(scored.log_prob, scored.mean_log_prob, 0.1)
    torch.testing.assert_close(ours[:, first:], expected[:, first:], atol=1e-5, rtol=1e-6)
    assert (ours[:, :first] == 0).all()
    assert scored.log_prob.requires_grad
    assert model.eval()(news, news.target).mean_log_prob is None  # validation needs none
    assert load(folders[name]).train()(news, news.target).mean_log_prob is None


# ---- padding, company, dropout -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_padding_and_company_change_nothing(folders, name):
    model = load(folders[name])
    together = batch(model)
    scored = model(together, together.target).log_prob
    beams = model.generate(together, Decoding("beam", beam=2, max_length=8))
    texts = model.to_text(together, beams)
    for i, pair in enumerate(tiny.NEWS):
        alone = batch(model, [pair])
        own = model(alone, alone.target).log_prob[0]
        torch.testing.assert_close(scored[i, : len(own)], own, atol=1e-5, rtol=0)
        assert (scored[i, len(own) :] == 0).all()
        assert model.to_text(alone, model.generate(alone, Decoding("beam", beam=2, max_length=8))) == [texts[i]]


@pytest.mark.parametrize("name", ["bart", "t5"])
def test_dropout_acts_where_it_is_wanted_and_never_in_decoding(folders, name):
    quiet, loud = load(folders[name]).train(), load(folders[name], dropout=True).train()
    news = batch(quiet)
    score = {key: [model(news, news.target).log_prob for _ in range(2)] for key, model in (("q", quiet), ("l", loud))}
    assert torch.equal(*score["q"])
    assert not torch.equal(*score["l"])
    decodings = [loud.generate(news, Decoding(max_length=8)).log_prob for _ in range(2)]
    assert torch.equal(*decodings)
    assert loud.network.training


def test_dropout_that_is_switched_off_stays_in_what_is_saved(folders, tmp_path):
    load(folders["t5"]).save_to(tmp_path, {}, Decoding(max_length=12))
    assert json.loads((tmp_path / "config.json").read_text())["dropout_rate"] == 0.1


@pytest.mark.parametrize("name", ["bart", "t5"])
def test_gradient_checkpointing_gives_the_same_gradient(folders, name):
    gradients = []
    for checkpointing in (False, True):
        model = load(folders[name], gradient_checkpointing=checkpointing).train()
        news = batch(model)
        model(news, news.target).log_prob.sum().backward()
        gradients.append({key: p.grad for key, p in model.named_parameters() if p.grad is not None})
    assert gradients[0]
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=1e-4)


# ---- global attention ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoding", [Decoding(max_length=9), Decoding("beam", beam=3, max_length=9, min_length=4)])
def test_the_first_token_attends_to_all_as_in_transformers_with_that_mask(folders, decoding):
    """Scoring, samples and decoding; an article longer than the window of 8 tokens."""
    from transformers import AutoModelForSeq2SeqLM

    model, without = load(folders["led"], global_attention="first"), load(folders["led"])
    news = batch(model)
    assert news.src.shape[1] > 16
    everywhere = torch.zeros_like(news.src)
    everywhere[:, 0] = 1
    plain = AutoModelForSeq2SeqLM.from_pretrained(folders["led"], dtype=torch.float32).eval()
    with torch.no_grad():
        _, expected = labelled(plain, news, global_attention_mask=everywhere)
    torch.testing.assert_close(model(news, news.target).log_prob, expected, atol=1e-5, rtol=0)
    assert (without(news, news.target).log_prob - expected).abs().max() > 1e-3
    torch.manual_seed(0)
    for tokens in model.self_critical(news, 2, Sampling(max_length=9)):
        check_agreement(model, news, tokens)
    ours = model.generate(news, decoding)
    options = {"num_beams": decoding.beam, "early_stopping": True} if decoding.method == "beam" else {"num_beams": 1}
    masks = {"attention_mask": attended(news), "global_attention_mask": everywhere}
    found = plain.generate(news.src, **masks, **options, max_new_tokens=9, min_new_tokens=decoding.min_length)
    for row, ids in zip(found, ours.ids, strict=True):
        kept = ids[ids != IGNORED].tolist()
        assert row[1 : 1 + len(kept)].tolist() == kept


# ---- texts --------------------------------------------------------------------------------------------------------


def test_a_reference_that_is_cut_has_no_end_token_and_an_article_keeps_its_own(folders):
    model = load(folders["t5"])
    rows = model.read(tiny.rows(tiny.NEWS), Tokenization(max_source=10, max_target=5))
    news = model.collate(rows[:4])
    assert rows["tgt_whole"] == [False] * 4
    assert not (news.target == 1).any()
    assert [row[-1] for row in rows["src_tokens"]] == [1] * 4
    whole = model.read(tiny.rows(tiny.NEWS), Tokenization(max_source=64, max_target=64))
    assert whole["tgt_whole"] == [True] * 4
    assert all(row[-1] == 1 for row in whole["tgt_tokens"])
    assert whole["source"] == [source for source, _ in tiny.NEWS]


def test_a_prefix_stands_before_every_article(folders):
    with_prefix, without = load(folders["t5"], prefix="the mayor said "), load(folders["t5"])
    said = batch(with_prefix, [("the mill", "x")])
    assert torch.equal(said.src, batch(without, [("the mayor said the mill", "x")]).src)
    assert said.sources == ("the mill",)


def test_line_breaks_of_pegasus_come_back_as_lines(folders):
    model = load(folders["pegasus"], line_break="<n>")
    news = batch(model, [("the mill", "the mill\nthe road .")], max_target=60)
    assert model.to_text(news, Tokens(news.target, torch.zeros(1))) == ["the mill\nthe road ."]
    plain = load(folders["pegasus"])
    news = batch(plain, [("the mill", "the mill\nthe road .")], max_target=60)
    assert plain.to_text(news, Tokens(news.target, torch.zeros(1))) == ["the mill the road ."]


@pytest.mark.parametrize("name", ["bart", "t5"])
def test_a_text_that_spells_a_special_token_does_not_gain_its_meaning(folders, name):
    model = load(folders[name])
    news = batch(model, [("the </s> mill", "the </s> mill")], max_target=60)
    end = model.vocabulary.tokenizer.eos_token_id
    assert (news.src == end).sum() == (news.target == end).sum() == 1


# ---- what cannot be -----------------------------------------------------------------------------------------------


def test_a_folder_that_lacks_files_says_which_and_what_to_do(folders, tmp_path):
    (tmp_path / "empty").mkdir()
    faults = loading.folder_faults(str(tmp_path / "empty"))
    assert [fault.split("; ")[0].split(": ")[1] for fault in faults] == [
        "has no config.json",
        "has no weights (*.safetensors)",
        "has no tokenizer (tokenizer.json, spiece.model, sentencepiece.bpe.model, vocab.json, vocab.txt)",
    ]
    assert loading.folder_faults(str(tmp_path / "nowhere")) != []
    assert loading.folder_faults(str(folders["t5"])) == []
    assert loading.folder_faults("google/pegasus-large") == []


@pytest.mark.parametrize("content", ['{"num_beams": 4, ', "[]", "\xff"])
def test_settings_that_cannot_be_read_are_a_fault_and_none_are_not(folders, tmp_path, content):
    copied = shutil.copytree(folders["t5"], tmp_path / "t5")
    (copied / "generation_config.json").write_bytes(content.encode("latin-1"))
    (fault,) = loading.folder_faults(str(copied))
    assert "generation_config.json is not a JSON object; correct it, or delete it" in fault
    (copied / "generation_config.json").unlink()
    assert loading.folder_faults(str(copied)) == []


def test_a_name_that_cannot_be_reached_is_a_clear_error():
    message = r"model\.pretrained=no-such/model: no such folder, and from the hub it cannot"
    with pytest.raises(loading.PretrainedError, match=message):
        loading.load_config("no-such/model")
