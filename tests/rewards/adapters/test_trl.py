from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import rewards
from rewards.adapters.trl import reward_function

COMPLETIONS = ["the cat sleeps", "", "a dog"]
REFERENCES = ["the cat", "a dog", ""]


def test_scores_are_the_rewards_and_undefined_is_none() -> None:
    function = reward_function("rouge-1")
    found = function(["p"] * 3, COMPLETIONS, reference=REFERENCES, completion_ids=[[1]] * 3)
    assert found == [0.8, 0.0, None]
    assert function.__name__ == "rouge-1"
    assert pickle.loads(pickle.dumps(function))(["p"] * 3, COMPLETIONS, reference=REFERENCES) == found


def test_lists_of_references_conversations_and_sources() -> None:
    function = reward_function(rewards.load("rouge-1"), references="highlights", sources="article")
    conversation = [[{"role": "assistant", "content": "the cat"}, {"role": "assistant", "content": "sleeps"}]]
    columns: dict[str, Any] = {"highlights": [["the cat", "cat sleeps the"]], "article": ["x"]}
    assert function([["p"]], conversation, **columns) == [1.0]
    assert reward_function("repetition", references=None)(["p"], ["a b c a b c"]) == [0.75]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(rewards.RewardError, match="no column 'reference' among summary"):
        reward_function("rouge-1")(["p"], ["c"], summary=["s"])


def test_the_real_trainer_trains_on_rewards(tmp_path: Path) -> None:
    """GRPO of a tiny random model on two rewards, one undefined for some rows: logged by name, and weights move."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("trl")
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    words = ["<pad>", "<eos>", "<unk>", "the", "cat", "dog", "sleeps", "runs", "red", "house"]
    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **names)
    torch.manual_seed(0)
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=10, n_positions=32, n_embd=16, n_layer=1, n_head=2, eos_token_id=1, pad_token_id=0)
    )
    rows = {"prompt": ["the cat", "the dog"] * 4, "reference": ["cat sleeps", ""] * 4}
    asked = []
    rouge = reward_function("rouge-1")

    def watched(**arguments: Any) -> list[float | None]:
        found = rouge(**arguments)
        asked.append((arguments["completions"], arguments["reference"], found))
        return found

    settings = {
        "bf16": False,
        "learning_rate": 1e-2,
        "logging_steps": 1,
        "per_device_train_batch_size": 4,
        "num_generations": 4,
        "max_completion_length": 6,
        "max_steps": 3,
    }
    arguments = GRPOConfig(
        output_dir=str(tmp_path),
        use_cpu=True,
        report_to=[],
        **settings,
    )
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    trainer = GRPOTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_dict(rows),
        processing_class=tokenizer,
        reward_funcs=[watched, reward_function("length(low=2, high=4)", references=None)],
    )
    trainer.train()
    logged = [row for row in trainer.state.log_history if "rewards/length/mean" in row]
    assert len(logged) == 3
    assert all("rewards/watched/mean" in row for row in logged)
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
