from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewards
from rewards.adapters.trl import reward_function
from rewards.wrappers.cached import Cached
from rewards.wrappers.combine import Weighted

COMPLETIONS = ["the cat sleeps", "", "a dog"]
REFERENCES = ["the cat", "a dog", ""]


def test_scores_are_the_rewards_and_undefined_is_none() -> None:
    function = reward_function("rouge-1")
    found = function(["p"] * 3, COMPLETIONS, reference=REFERENCES, completion_ids=[[1]] * 3)
    assert found == [0.8, 0.0, None]
    assert function.__name__ == "rouge-1"
    assert pickle.loads(pickle.dumps(function))(["p"] * 3, COMPLETIONS, reference=REFERENCES) == found


def test_lists_of_references_conversations_and_sources() -> None:
    options: dict[str, Any] = {"references": "highlights", "sources": "article", "reference_lists": "alternatives"}
    function = reward_function(rewards.load("rouge-1"), **options)
    conversation = [[{"role": "assistant", "content": "the cat"}, {"role": "assistant", "content": "sleeps"}]]
    columns: dict[str, Any] = {"highlights": [["the cat", "cat sleeps the"]], "article": ["x"]}
    assert function([["p"]], conversation, **columns) == [1.0]
    assert reward_function("repetition", references=None)(["p"], ["a b c a b c"]) == [0.75]


THINKING = "<think>The cat, the dog, or the red house? I say a cat.</think>\n\nthe cat sleeps"


def test_stripped_completions_score_as_their_answer_and_by_default_a_warning_names_what_was_found() -> None:
    columns: dict[str, Any] = {"reference": ["the cat sleeps"] * 3}
    plain = ["the cat sleeps", THINKING, "<think>the cat sleeps"]
    conversation = [[{"role": "assistant", "content": text}] for text in plain]
    for completions in (plain, conversation):
        assert reward_function("rouge-1", strip=True)(["p"] * 3, completions, **columns) == [1.0, 1.0, 0.0]
        function = reward_function("rouge-1")
        with pytest.warns(UserWarning, match=r"rouge-1: completions: thinking in 2 of 3 rows.*strip=True"):
            scores = function(["p"] * 3, completions, **columns)
        assert scores[1] is not None
        assert scores[1] < 0.5
        with warnings.catch_warnings(action="error"):  # once
            assert function(["p"] * 3, completions, **columns) == scores
    assert plain[1] == THINKING


def test_clean_completions_and_one_odd_row_of_many_warn_of_nothing() -> None:
    function = reward_function("repetition", references=None)
    with warnings.catch_warnings(action="error"):
        for _ in range(20):
            function(["p"] * 5, [f"AT&T - 3 * 4 {number}" for number in range(5)])
        function(["p"], [THINKING])


def test_blocks_of_a_message_are_its_text() -> None:
    blocks = [{"type": "text", "text": "the cat"}, {"type": "image"}, {"type": "text", "text": " sleeps"}]
    completion = [{"role": "assistant", "content": blocks}, {"role": "assistant", "content": None}]
    assert reward_function("rouge-1")(["p"], [completion], reference=["the cat sleeps"]) == [1.0]


def test_what_a_tool_answers_is_no_part_of_a_completion_and_a_source_is_a_whole_conversation() -> None:
    answer = [
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]},
        {"role": "tool", "name": "f", "content": "a dog runs home"},
        {"role": "assistant", "content": "the cat sleeps"},
    ]
    assert reward_function("rouge-1")(["p"], [answer], reference=["the cat sleeps"]) == [1.0]
    asked = [{"role": "system", "content": "the cat"}, {"role": "user", "content": "sleeps"}]
    function = reward_function("length(high=3)", references=None, sources="article")
    assert function(["p"], [answer], article=[asked]) == [1.0]
    with pytest.raises(rewards.RewardError, match=r"row 0 of the column 'article' is .*which is not text"):
        function(["p"], [answer], article=[["a list", "of sentences"]])


def test_names_tell_rewards_apart_however_they_are_made() -> None:
    parts = [("rouge-1", 0.5), (rewards.load("rouge-2", direction="recall"), 0.5)]
    for reward, name in (
        *((spec, spec) for spec in ("rouge-l", "rouge-l(direction=recall)", "weighted(rouge-1=0.9, rouge-2=0.1)")),
        (rewards.load("rouge-l", stemmer=False), "rouge-l(stemmer=false)"),
        (Weighted(parts), "weighted(rouge-1=0.5, rouge-2(direction=recall)=0.5)"),
        (Cached(Weighted([(rewards.load("rouge-1"), 0.5)])), "cached(reward=weighted(rouge-1=0.5))"),
    ):
        assert reward_function(reward).__name__ == name
    assert reward_function("rouge-l", strip=True).__name__ == "cleaned(reward=rouge-l)"
    assert reward_function("rouge-l", name="mine").__name__ == "mine"


@pytest.mark.parametrize("strip", [False, True])
def test_parts_of_a_sum_are_logged_without_what_is_undefined(strip: bool) -> None:
    logged: dict[str, float] = {}
    function = reward_function("weighted(rouge-1=0.5, length(low=2)=0.5)", strip=strip, name="sum")
    columns: dict[str, Any] = {"reference": ["the cat sleeps", "", "a dog"], "log_metric": logged.__setitem__}
    scores = function(["p"] * 3, ["the cat sleeps", "cat", "dog"], **columns)
    assert scores == [1.0, None, pytest.approx(0.5 * 2 / 3 + 0.25)]
    assert logged == {"rewards/sum/rouge-1/mean": pytest.approx(5 / 6), "rewards/sum/length/mean": pytest.approx(2 / 3)}
    logged.clear()
    function(["p"], ["cat"], reference=[""], log_metric=logged.__setitem__)
    assert logged == {"rewards/sum/length/mean": 0.5}


def test_the_real_trainer_trains_on_rewards(tmp_path: Path) -> None:
    """GRPO of a tiny random model on two rewards, one undefined for some rows: logged by name, and weights move."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("trl")
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    words = ["<pad>", "<eos>", "<unk>", "the", "cat", "dog", "sleeps", "runs", "<think>", "</think>"]
    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **names)
    torch.manual_seed(0)
    sizes = {"vocab_size": 10, "n_positions": 32, "n_embd": 16, "n_layer": 1, "n_head": 2}
    model = GPT2LMHeadModel(GPT2Config(**sizes, eos_token_id=1, pad_token_id=0))
    rows = {"prompt": ["the cat", "the dog"] * 4, "reference": ["cat sleeps", ""] * 4}
    asked = []
    rouge = reward_function("rouge-1")
    sums = [reward_function(f"weighted(rouge-1={share}, length(low=2)=0.5)", strip=True) for share in (0.5, 0.4)]

    def watched(**arguments: Any) -> list[float | None]:
        found = rouge(**arguments)
        asked.append((arguments["completions"], arguments["reference"], found))
        return found

    settings = {"bf16": False, "learning_rate": 1e-2, "logging_steps": 1, "max_completion_length": 6, "max_steps": 3}
    settings |= {"per_device_train_batch_size": 4, "num_generations": 4, "use_cpu": True, "report_to": []}
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    trainer = GRPOTrainer(
        model=model,
        args=GRPOConfig(output_dir=str(tmp_path), **settings),
        train_dataset=Dataset.from_dict(rows),
        processing_class=tokenizer,
        reward_funcs=[watched, reward_function("length(low=2, high=4)", references=None), *sums],
    )
    trainer.train()
    logged = [row for row in trainer.state.log_history if "rewards/length(low=2, high=4)/mean" in row]
    assert len(logged) == 3
    cleaned = rewards.load("cleaned", reward="rouge-1")
    for row, (completions, references, _) in zip(logged, asked, strict=True):
        rouge_scores = cleaned(completions, [[text] for text in references])
        for function, share in zip(sums, (0.5, 0.4), strict=True):
            name = f"rewards/{function.__name__}"
            length_mean = row[f"{name}/length/mean"]
            if np.isnan(rouge_scores).all():
                assert row[f"{name}/mean"] is None
                assert f"{name}/rouge-1/mean" not in row
            else:
                assert row[f"{name}/rouge-1/mean"] == pytest.approx(rouge_scores.mean(), abs=1e-4)
                assert row[f"{name}/mean"] == pytest.approx(share * rouge_scores.mean() + 0.5 * length_mean, abs=1e-4)
    assert any("<think>" in text for completions, _, _ in asked for text in completions)  # as the model wrote it
    assert len(asked) == 3
    for completions, references, found in asked:
        expected = rewards.load("rouge-1")(completions, [[text] for text in references])
        assert found == [None if score != score else score for score in expected]
    assert any(None in found for _, _, found in asked)
    assert any(None not in found for _, _, found in asked)
    assert any(not torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_a_reward_reads_other_columns_by_their_names() -> None:
    function = reward_function("source_rewards:on_topic", references=None)
    assert function(["p"] * 2, ["the cat", "dog"], topic=["cat", "cat"], trainer_state=None) == [0.5, 0.0]
    with pytest.raises(rewards.RewardError, match=r"'topic'.*'year'"):
        function(["p"], ["cat"], year=[1])
