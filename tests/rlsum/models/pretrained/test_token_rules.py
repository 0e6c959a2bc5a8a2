"""What of a generation config becomes a rule, and what is refused."""

from dataclasses import fields

import pytest
from transformers import GenerationConfig

from rlsum.errors import UserError
from rlsum.models.decoding import IN_TRANSFORMERS, Search
from rlsum.models.pretrained.token_rules import TokenRules, unfollowed


def test_forbidden_words_of_one_token_are_suppressed_and_longer_ones_refused():
    config = GenerationConfig(decoder_start_token_id=2, eos_token_id=1, suppress_tokens=[9], bad_words_ids=[[5], [7]])
    assert TokenRules.of(config, 0).suppressed == (9, 5, 7)
    config.bad_words_ids = [[5], [7, 8]]
    with pytest.raises(UserError, match=r"bad_words_ids=\[\[5\], \[7, 8\]\].*remove them"):
        TokenRules.of(config, 0)


@pytest.mark.parametrize("key", ["decoder_start_token_id", "eos_token_id"])
def test_a_text_must_be_able_to_begin_and_to_end(key):
    config = GenerationConfig(**{"decoder_start_token_id": 2, "eos_token_id": 1, key: None})
    with pytest.raises(UserError, match=f"no {key}, which texts need to start and end; add it"):
        TokenRules.of(config, pad=0)


def test_the_start_is_that_of_the_decoder_and_else_the_beginning_of_a_text():
    assert TokenRules.of(GenerationConfig(decoder_start_token_id=2, bos_token_id=4, eos_token_id=[1, 3]), 0).start == 2
    rules = TokenRules.of(GenerationConfig(bos_token_id=4, eos_token_id=[1, 3]), 0)
    assert (rules.start, rules.ends) == (4, (1, 3))


def test_transformers_follows_every_option_of_beam_search():
    """One that it lacks would be ignored without a word: `_in_transformers` must refuse it."""
    assert {option.name for option in fields(Search)} <= set(IN_TRANSFORMERS)


def test_settings_that_change_texts_and_are_not_followed():
    assert unfollowed({"num_beams": 4, "early_stopping": True, "repetition_penalty": 1.0, "guidance_scale": None}) == []
    assert unfollowed(GenerationConfig(repetition_penalty=1.1).to_dict()) == ["repetition_penalty=1.1"]
