"""``rlsum generate`` with a model that no run has written: the same texts as transformers' own ``generate``."""

import json
import re

import language_models
import pretrained as tiny
import pytest
from commands import invoked
from rows import changed, jsonl

from rlsum import api
from rlsum.errors import UserError
from rlsum.generation import outputs as generation
from rlsum.generation import plain
from rlsum.generation.options import Generating
from rlsum.models.decoding import Decoding
from rlsum.records import read_outputs

pytestmark = pytest.mark.usefixtures("own_module_cache")
SETTINGS = {"num_beams": 3, "early_stopping": True, "max_length": 12, "min_length": 4, "length_penalty": 2.0}


@pytest.fixture
def articles(tmp_path):
    rows = [{"id": str(i), "article": article} for i, (article, _) in enumerate(tiny.NEWS[:3])]
    return jsonl(tmp_path / "news.jsonl", *rows)


def saved(folder, name, **settings):
    """A folder of transformers whose generation config has some settings more."""
    return tiny.ruled(tiny.save(folder, name), **settings)


def generate(*arguments):
    result = invoked("generate", *arguments)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments):
    with pytest.raises(UserError) as caught:
        generate(*arguments)
    return str(caught.value)


def texts_of_transformers(folder, *given, **options):
    return tiny.plain_texts(folder, tiny.NEWS[:3], *given, **options)


def candidates(out):
    return [output.candidate for output in read_outputs(out)]


@pytest.mark.parametrize("name", tiny.ARCHITECTURES)
def test_without_options_it_writes_what_transformers_does_without_options(tmp_path, articles, name):
    folder = saved(tmp_path / "mine", name, **SETTINGS)
    alone = ["--global-attention", "none"] if name == "led" else []
    told = generate(folder, articles, "-o", tmp_path / "o.jsonl", *alone)
    assert "beam 3, 3 to 11 tokens, length penalty 2, n-grams blocked" in " ".join(told.split())
    assert "not followed" not in told
    expected = texts_of_transformers(folder)
    assert candidates(tmp_path / "o.jsonl") == expected
    assert any(expected)
    assert {output.system for output in read_outputs(tmp_path / "o.jsonl")} == {"mine"}


@pytest.mark.parametrize("name", ["bart", "t5", "pegasus"])
@pytest.mark.parametrize("stopping", [None, "true", "false", "never"])
def test_a_beam_search_is_done_when_transformers_is(tmp_path, articles, name, stopping):
    """Whatever the file says of beams; without the option as ``generate`` does by default."""
    folder, out = tmp_path / name, tmp_path / "o.jsonl"
    tiny.save(folder, name)
    (folder / "generation_config.json").write_text(
        json.dumps({k: v for k, v in json.loads((folder / "generation_config.json").read_text()).items()
                    if k not in ("num_beams", "early_stopping")})
    )  # fmt: skip
    options = [] if stopping is None else ["--early-stopping", stopping]
    told = generate(folder, articles, "-o", out, "--beam", 4, "--max-length", 20, "--length-penalty", 0.3, *options)
    rule = {None: {}, "true": {"early_stopping": True}, "false": {"early_stopping": False}}
    expected = texts_of_transformers(
        folder, num_beams=4, max_new_tokens=20, min_length=0, length_penalty=0.3,
        **rule.get(stopping, {"early_stopping": "never"}),
    )  # fmt: skip
    assert candidates(out) == expected
    assert " ".join(told.split()).count(f"early stopping {stopping or 'false'}") == 2  # before and after


def test_the_rule_of_the_file_is_that_of_the_search_and_greedy_has_none(tmp_path, articles):
    folder = saved(tmp_path / "mine", "t5", num_beams=2, max_length=9, early_stopping="never")
    assert "early stopping never" in generate(folder, articles, "-o", tmp_path / "o.jsonl")
    assert "early stopping" not in generate(folder, articles, "-o", tmp_path / "g.jsonl", "--beam", 1)
    for wrong in ({"early_stopping": "sometimes"}, {"method": "sample", "early_stopping": True}):
        with pytest.raises(ValueError, match="early_stopping"):
            api.generate(folder, articles, tmp_path / "w.jsonl", Generating(**wrong), say=lambda text: None)


@pytest.mark.parametrize("name", ["bart", "t5"])
def test_options_go_over_the_models_own(tmp_path, articles, name):
    folder, out = saved(tmp_path / "mine", name, **SETTINGS), tmp_path / "o.jsonl"
    options = ["--beam", 2, "--max-length", 9, "--min-length", 2, "--length-penalty", 0.5, "--block-ngrams", 3]
    prefix = "the mayor said "
    generate(folder, articles, "-o", out, *options, "--prefix", prefix, "--max-source", 10)
    expected = texts_of_transformers(
        folder, prefix, 10, num_beams=2, max_new_tokens=9, min_new_tokens=2, min_length=0, length_penalty=0.5,
        no_repeat_ngram_size=3,
    )  # fmt: skip
    assert candidates(out) == expected
    generate(folder, articles, "-o", tmp_path / "greedy.jsonl", "--beam", 1)
    assert candidates(tmp_path / "greedy.jsonl") == texts_of_transformers(folder, num_beams=1)
    generate(folder, articles, "-o", tmp_path / "short.jsonl", "--length-penalty", -1)
    assert candidates(tmp_path / "short.jsonl") == texts_of_transformers(folder, length_penalty=-1.0)


def test_settings_for_summarization_go_over_the_rest(tmp_path, articles):
    folder, out = saved(tmp_path / "mine", "t5", max_length=9), tmp_path / "o.jsonl"
    own = {"prefix": "the mayor said ", "num_beams": 2, "max_length": 7, "early_stopping": True}
    changed(folder / "config.json", task_specific_params={"summarization": own})
    assert "prefix 'the mayor said '" in " ".join(generate(folder, articles, "-o", out).split())
    expected = texts_of_transformers(folder, "the mayor said ", num_beams=2, max_length=7, early_stopping=True)
    assert candidates(out) == expected


def test_the_first_token_of_led_attends_to_all_by_default(tmp_path, articles):
    folder, out = saved(tmp_path / "mine", "led", **SETTINGS), tmp_path / "o.jsonl"
    assert "global attention of the first token" in " ".join(generate(folder, articles, "-o", out).split())
    assert candidates(out) == texts_of_transformers(folder, global_attention=True)


def test_settings_that_are_left_out_are_those_of_rlsum():
    assert plain.decoding_from({"early_stopping": True}) == Decoding().searching()
    assert plain.decoding_from({}) == Decoding(early_stopping=False).searching()  # that of transformers
    assert plain.decoding_from({}, most=64).max_length == 64
    stopping = {"early_stopping": "never"}
    found = plain.decoding_from({"max_length": 142, "min_length": 56, "num_beams": 4, **stopping})
    assert found == Decoding("beam", max_length=141, beam=4, min_length=55, **stopping)
    found = plain.decoding_from({"max_new_tokens": 7, "max_length": 142, "min_new_tokens": 2, **stopping})
    assert found == Decoding("beam", max_length=7, beam=5, min_length=2, **stopping)
    with pytest.raises(UserError, match=r"generation_config.json: .*'min_length': 9"):
        plain.decoding_from({"max_length": 10, "min_new_tokens": 9})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            {"num_beams": 0},
            "'beam': 0.* is invalid .beam Input should be greater than or equal to 1.: correct the file",
        ),
        ({"max_new_tokens": 0}, "`max_new_tokens` must be greater than 0, but is 0. Correct the file"),
        ({"eos_token_id": "2"}, "'2' is no id of a token; write a number"),
    ],
)
def test_settings_that_cannot_be_are_named(tmp_path, articles, setting, message):
    folder = saved(tmp_path / "mine", "bart", **setting)
    assert re.search(f"generation_config.json: .*{message}", refused(folder, articles, "-o", tmp_path / "o.jsonl"))


def test_settings_that_are_not_followed_are_told(tmp_path, articles):
    folder = saved(tmp_path / "mine", "t5", num_beams=2, max_length=8, repetition_penalty=1.5)
    told = " ".join(generate(folder, articles, "-o", tmp_path / "o.jsonl").split())
    assert "n-grams blocked 0, early stopping false; not followed" in told
    assert told.partition("not followed: ")[2].startswith("repetition_penalty=1.5 ")


def test_settings_of_older_models_stand_in_their_sizes(tmp_path, articles):
    """Before transformers had a generation config."""
    folder, out = saved(tmp_path / "mine", "t5"), tmp_path / "o.jsonl"
    (folder / "generation_config.json").unlink()
    changed(folder / "config.json", **SETTINGS)
    assert "beam 3, 3 to 11 tokens, length penalty 2" in " ".join(generate(folder, articles, "-o", out).split())
    assert candidates(out) == texts_of_transformers(folder)


def test_a_stopped_job_does_not_go_on_with_another_attention(tmp_path):
    folder = str(saved(tmp_path / "mine", "led"))
    configs = [
        plain.configuration(folder, Generating(global_attention=tokens))[0] for tokens in ("none", "first", "first")
    ]
    rows = tiny.rows(tiny.NEWS)
    tasks = [
        generation.SummaryTask(plain.load(config), rows, config.decoding, "s", Generating()).key() for config in configs
    ]
    assert tasks[0] != tasks[1] == tasks[2]


def test_pegasus_has_its_lines(tmp_path, articles):
    folder = saved(tmp_path / "mine", "pegasus", **SETTINGS)
    config, _ = plain.configuration(str(folder), Generating())
    assert (config.model.line_break, config.data.max_source) == ("<n>", 64)
    config, _ = plain.configuration(str(folder), Generating(line_break=" ", max_source=20))
    assert (config.model.line_break, config.data.max_source) == (" ", 20)


def test_what_cannot_be_is_refused_before_the_weights_are_read(tmp_path, articles, monkeypatch):
    folder, out = saved(tmp_path / "mine", "bart", **SETTINGS), ["-o", tmp_path / "o.jsonl"]
    monkeypatch.setattr(plain, "load", lambda *_: pytest.fail("loaded"))
    assert "--max-source 65: this bart has 64 positions" in refused(folder, articles, *out, "--max-source", 65)
    assert "--max-length 65: this bart has 64 positions" in refused(folder, articles, *out, "--max-length", 65)
    assert "--min-length 11" in refused(folder, articles, *out, "--min-length", 11)
    assert "--global-attention first: bart" in refused(folder, articles, *out, "--global-attention", "first")
    message = refused("no-such/model", articles, *out)
    assert "no-such/model: neither a checkpoint of a run nor a pretrained model; give a run folder" in message
    assert "cannot be loaded" in message
    assert "no such folder" in refused(tmp_path / "nowhere", articles, *out)
    (tmp_path / "empty").mkdir()
    assert "has no config.json" in refused(tmp_path / "empty", articles, *out)
    for file in folder.glob("*token*"):
        file.unlink()
    assert "has no tokenizer" in refused(folder, articles, *out)


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("asked", [None, "Shorten: {article}"])
def test_a_language_model_is_asked_and_writes_what_transformers_writes(tmp_path, articles, chat, asked):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = language_models.save(tmp_path / "mine", "llama", chat=chat)
    options = [] if asked is None else ["--prompt", asked]
    told = generate(folder, articles, "-o", tmp_path / "o.jsonl", "--max-length", 12, *options)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModelForCausalLM.from_pretrained(folder).eval()
    prompts = language_models.prompts(tokenizer, [article for article, _ in tiny.NEWS[:3]], asked)
    rows = [network.generate(torch.tensor([ids]), max_new_tokens=12)[0, len(ids) :] for ids in prompts]
    expected = ["\n".join(map(str.strip, text.strip().split("\n"))) for text in tokenizer.batch_decode(rows, True)]
    assert candidates(tmp_path / "o.jsonl") == expected
    assert any(expected)
    assert "beam 1, 0 to 12 tokens" in told


def test_options_of_another_kind_are_refused_and_the_positions_are_shared(tmp_path, articles):
    folder, out = language_models.save(tmp_path / "mine", "llama"), ["-o", tmp_path / "o.jsonl"]
    message = refused(folder, articles, *out, "--prefix", "summarize: ")
    assert "--prefix summarize: : not with a language model" in message
    message = refused(folder, articles, *out, "--max-source", 450)
    assert "450: with 85 tokens of the prompt and 100 of a summary, this llama has 512 positions" in message
    for prompt in ("Sum up", "{article} or {article}"):
        assert f"--prompt {prompt}: " in (told := refused(folder, articles, *out, "--prompt", prompt))
        assert "must hold {article} once" in told
    bart = saved(tmp_path / "bart", "bart")
    assert "--prompt {article}: not with an encoder-decoder" in refused(bart, articles, *out, "--prompt", "{article}")
    config, _ = plain.configuration(str(folder), Generating())
    assert config.data.max_source == 512 - 85 - 100


def test_outputs_go_on_with_the_settings_that_they_began_with(tmp_path, articles, monkeypatch):
    """Weights do not hold what generation_config.json forces and forbids, nor config.json."""
    folder, out, write = saved(tmp_path / "mine", "bart"), tmp_path / "o.jsonl", generation.SummaryTask.decode
    command, calls = (folder, articles, "-o", out, "--batch-size", 1, "--max-length", 6), []

    def stopped(task, batch):
        calls.append(batch)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return write(task, batch)

    monkeypatch.setattr(generation, "CHUNK_BATCHES", 1)
    monkeypatch.setattr(generation.SummaryTask, "decode", stopped)
    with pytest.raises(KeyboardInterrupt):
        api.generate(folder, articles, out, Generating(batch_size=1, max_length=6))
    monkeypatch.setattr(generation.SummaryTask, "decode", write)
    tiny.ruled(folder, suppress_tokens=[*range(5, 60)])
    assert "whose settings differed" in refused(*command)
    tiny.ruled(folder, suppress_tokens=None)
    assert "1 of them by an earlier job" in generate(*command)
