"""The prompt of a language model: what transformers makes of the same turns, cut articles, ends, system turns."""

import language_models as lm
import pretrained as tiny
import pytest

from rewards.text.languages import language_of
from rlsum.data.corpus import Tokenization
from rlsum.data.prompt import prompt
from rlsum.errors import UserError
from rlsum.readers.understood import _log

ASKED = "Shorten this: {article} Thank you."
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "{% for turn in messages %}[{{ turn['role'] }}] {{ turn['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}[model] {% endif %}"
)


def words(template=lm.TEMPLATE):
    tokenizer = lm.tokenizer()
    tokenizer.chat_template = template
    return tokenizer


def read(made, source="the old mill . three people .", summary="the mill", **limits):
    how = Tokenization(**{"max_source": 64, "max_target": 20, **limits})
    return made.read(tiny.rows([(source, summary)]), how)[0]


@pytest.mark.parametrize("system", [None, "", "Be brief."])
def test_a_chat_is_what_transformers_makes_of_the_same_turns_and_labels_are_the_answer_and_its_end(system):
    tokenizer = words()
    row = read(prompt(tokenizer, ASKED, chat=True, system=system))
    turns = [] if system is None else [{"role": "system", "content": system}]
    turns.append({"role": "user", "content": ASKED.format(article="the old mill . three people .")})
    made = tokenizer.apply_chat_template(turns, add_generation_prompt=True)["input_ids"]
    assert row["src_tokens"] == made
    turns.append({"role": "assistant", "content": "the mill"})
    whole = tokenizer.apply_chat_template(turns)["input_ids"]
    assert whole[: len(made) + len(row["tgt_tokens"])] == made + row["tgt_tokens"]
    assert row["tgt_tokens"][-1] == tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert row["tgt_whole"]


def test_the_system_turn_of_a_template_is_known_and_switched_off():
    assert prompt(words(), ASKED, chat=True).default == "You are tiny."
    other = prompt(words(), ASKED, chat=True, system="")
    assert other.default == ""
    assert "tiny" not in other.before
    assert prompt(words(GEMMA), ASKED, chat=True).default == ""
    assert prompt(words(GEMMA), ASKED, chat=True, system="").before == prompt(words(GEMMA), ASKED, chat=True).before
    with pytest.raises(UserError, match=r"model.system='Be brief.': the chat template takes no system turn"):
        prompt(words(GEMMA), ASKED, chat=True, system="Be brief.")


def test_a_plain_prompt_has_what_the_tokenizer_puts_before_a_text_and_ends_with_its_end():
    from tokenizers.processors import TemplateProcessing

    tokenizer = lm.tokenizer(chat=False)
    assert read(prompt(tokenizer, ASKED, chat=False))["src_tokens"] == tokenizer(
        "Shorten this: the old mill . three people . Thank you."
    )["input_ids"]  # fmt: skip
    ends = [("<|endoftext|>", tokenizer.eos_token_id)]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing("<|endoftext|> $A <|endoftext|>", None, ends)
    row = read(prompt(tokenizer, ASKED, chat=False))
    assert (row["src_tokens"][0], row["src_tokens"].count(tokenizer.eos_token_id)) == (tokenizer.eos_token_id, 1)
    assert row["tgt_tokens"] == [*tokenizer("the mill", add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]


def test_a_plain_prompt_begins_with_all_that_the_tokenizer_puts_before_a_text():
    """As GLM's, none of which is a beginning of a text by name."""
    from tokenizers.processors import TemplateProcessing

    tokenizer = lm.tokenizer(chat=False)
    first = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("<|im_start|>", "<|im_end|>")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing("<|im_start|> <|im_end|> $A", None, first)
    expected = tokenizer("Shorten this: the old mill . three people . Thank you.")["input_ids"]
    assert read(prompt(tokenizer, ASKED, chat=False))["src_tokens"] == expected


@pytest.mark.parametrize(
    ("written", "end"),
    [
        ("\n<|im_end|>", "<|im_end|>"),
        ("[END]<|im_start|>", "<|endoftext|>"),
    ],  # words end no turn, nor what is behind them
)
def test_a_turn_may_end_behind_a_line_end(written, end):
    tokenizer = words(lm.TEMPLATE.replace("| trim }}<|im_end|>", "| trim }}" + written))
    tokenizer.eos_token = "<|endoftext|>"
    assert tokenizer.convert_ids_to_tokens(prompt(tokenizer, ASKED, chat=True).end) == end


@pytest.mark.parametrize("limit", [1, 4, 5, 6, 7, 10])
def test_no_character_is_cut_into_its_tokens(limit):
    made = prompt(words(), ASKED, chat=True)
    lengths = [len(read(made, "a" + "\U0001f600" * n, max_source=limit)["src_tokens"]) for n in (0, 5)]
    assert lengths[0] <= lengths[1] <= lengths[0] + limit - 1


@pytest.mark.parametrize(
    ("room", "sentence", "kept"),
    [
        ("the old mill . three", False, "the old mill . three"),
        ("the old mill . three", True, "the old mill ."),
        ("the old", True, "the old"),
    ],
    ids=["token", "sentence", "no sentence fits"],
)
def test_an_article_is_cut_at_its_budget_whatever_the_prompt_and_it_is_told(room, sentence, kept, caplog):
    tokenizer, article = lm.tokenizer(), "the old mill . three people were hurt ."
    language = language_of("en") if sentence else None
    made, limit = prompt(tokenizer, ASKED, chat=True, language=language), len(tokenizer(room)["input_ids"])
    _log.cache_clear()
    with caplog.at_level("INFO", logger="rlsum.readers"):
        row = read(made, article, max_source=limit)
    assert row["src_tokens"] == read(made, kept)["src_tokens"]
    assert row["src_lost"] == len(tokenizer(article)["input_ids"]) - len(tokenizer(kept)["input_ids"])
    assert any(line.startswith(f"articles cut at data.max_source={limit} tokens: 1 of 1") for line in caplog.messages)
    assert not read(made, article)["src_lost"]


def test_a_cut_summary_has_no_end_and_an_article_that_spells_a_special_token_does_not_gain_its_meaning():
    made = prompt(words(), ASKED, chat=True)
    row = read(made, "the <|im_end|> mill", "the mill burned down .", max_target=3)
    assert len(row["tgt_tokens"]) == 3
    assert not row["tgt_whole"]
    assert made.end not in row["tgt_tokens"]
    ids = read(made, "the mill")["src_tokens"]
    assert row["src_tokens"].count(made.end) == ids.count(made.end)


def test_a_summary_ends_before_a_stop_string_in_references_and_texts():
    made = prompt(words(), ASKED, chat=True, stop=("\n", "road"))
    assert read(made, summary="the mill\nthe road")["tgt_tokens"] == read(made, summary="the mill")["tgt_tokens"]
    ids = made.tokenizer("the mill the road left")["input_ids"]
    assert made.texts([ids]) == ["the mill the"]
    assert [made.stopped(ids[:n]) for n in range(len(ids) + 1)].index(True) == len(
        made.tokenizer("the mill the road")["input_ids"]
    )


def test_an_end_of_a_turn_that_an_article_or_a_summary_spells_ends_nothing():
    from tokenizers import AddedToken

    tokenizer = words(lm.TEMPLATE.replace("<|im_end|>", "<|turn|>"))
    tokenizer.add_tokens(AddedToken("<|turn|>", special=False))  # neither special nor the end of every text
    made = prompt(tokenizer, ASKED, chat=True)
    assert made.end == tokenizer.convert_tokens_to_ids("<|turn|>")
    row = read(made, "the <|turn|> mill", summary="the <|turn|> mill")
    assert row["tgt_tokens"].count(made.end) == 1
    assert row["src_tokens"].count(made.end) == read(made, "the mill")["src_tokens"].count(made.end)


def test_the_digest_changes_with_what_is_asked_and_not_with_the_day():
    tokenizer = words("{{ strftime_now('%d %B') }}" + lm.TEMPLATE.replace("tiny", "{{ date_string }}"))
    first = prompt(tokenizer, ASKED, chat=True)
    assert first.before.startswith("26 Jul 2024")
    made = [first, *(prompt(tokenizer, ASKED, chat=True, **more) for more in ({"system": "x"}, {"stop": ("\n",)}))]
    assert len({one.digest() for one in made}) == 3
    assert prompt(tokenizer, ASKED, chat=True).digest() == first.digest()
    for form in ("strftime_now('%d (%Y)')", "strftime_now(format='%d')", "(strftime_now)('%Y')"):
        clock = f"{{{{ {form} }}}}"
        assert prompt(words(clock + lm.TEMPLATE), ASKED, chat=True).before.startswith("26 Jul 2024<|im_start|>")


def test_what_cannot_be_a_prompt_is_refused():
    for tokenizer, message in (
        (lm.tokenizer(chat=False), "the tokenizer has no chat template; set model.template=plain"),
        (words("{{ raise_exception('never') }}"), "cannot be used"),
        (words("{{ 1 // 0 }}"), "cannot be used .*division"),
        (words("{% for turn in messages %}{{ turn['role'] }}{% endfor %}"), "does not repeat the user's turn"),
        (words({"tools": lm.TEMPLATE, "documents": lm.TEMPLATE}), "multiple chat templates with no default"),
    ):
        with pytest.raises(UserError, match=message):
            prompt(tokenizer, ASKED, chat=True)
    endless = lm.tokenizer(chat=False)
    endless.eos_token = None
    with pytest.raises(UserError, match="no summary would end"):
        prompt(endless, ASKED, chat=False)
