"""What a language model reads: the article in a prompt, by the tokenizer's chat template or as it is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rewards.text.languages import Language
from rewards.text.sentences import sentences
from rlsum.data.counts import column_of
from rlsum.data.subwords import IGNORED, Subwords
from rlsum.errors import UserError
from rlsum.readers.understood import say

if TYPE_CHECKING:
    import datasets
    from transformers import PreTrainedTokenizerBase

    from rlsum.data.corpus import Tokenization

PLACE, TURN = "@article@", "@turn@"  # stand for the article and another turn in what a template makes
TODAY = "26 Jul 2024"  # of templates that tell it: a prompt is the same every day
CLOCK = f"{{% macro strftime_now(format) %}}{TODAY}{{% endmacro %}}\n"


@dataclass(frozen=True)
class Prompt(Subwords):
    """A tokenizer, and the text around the article.

    before, after  the prompt; the summary follows
    lead           ids before it that the tokenizer puts before every text, of a prompt that has none itself
    end            the id that ends a summary
    default        the system turn that the chat template has put into it; "" for none
    language       of articles that are cut behind a sentence; None: they are cut behind a token
    stop           texts that end a summary
    """

    before: str = ""
    after: str = ""
    lead: tuple[int, ...] = ()
    end: int = 0
    default: str = ""
    language: Language | None = None
    stop: tuple[str, ...] = ()

    @property
    def pad(self) -> int:
        """The tokenizer's, or the end: masks tell what padding is, not ids."""
        return self.end if self.tokenizer.pad_token_id is None else int(self.tokenizer.pad_token_id)

    @property
    def around(self) -> int:
        """The tokens of the prompt beside the article."""
        return len(self._prompted("")[0])

    def digest(self) -> str:
        """Sixteen hex digits that change with anything of the prompt, the end, or where articles are cut."""
        how = [self.before, self.after, self.lead, self.end, str(self.language), self.stop]
        return hashlib.sha256(json.dumps(how).encode()).hexdigest()[:16]

    def read(self, rows: datasets.Dataset, how: Tokenization) -> datasets.Dataset:
        """Rows with ids: of the prompt with at most ``how.max_source`` of the article; of the summary, and the end.

        A reference cut at ``how.max_target`` ids, the end included, loses its end. Says what the prompt is, and how
        many articles were cut.
        """
        self._say()
        tokenized = super().read(rows, how)
        lost = column_of(tokenized, "src_lost").to_numpy()
        if cut := int(np.count_nonzero(lost)):
            say(
                f"articles cut at data.max_source={how.max_source} tokens: {cut:,} of {len(tokenized):,}, which lose "
                f"{lost.sum() / cut:,.0f} tokens on average"
            )
        return tokenized

    def _say(self) -> None:
        line = f"prompt: {(self.before + PLACE + self.after).replace(PLACE, '{article}')!r}, {self.around} tokens"
        if self.default:
            line += f"; {self.default!r} is the system turn of the chat template; model.system='\"\"' empties it"
        say(line)

    def _key(self) -> tuple[Any, ...]:
        return (*super()._key(), self.digest())

    def _ids(self, rows: dict[str, list[Any]], how: Tokenization) -> dict[str, list[Any]]:
        articles = [self._spelled(text).strip() for text in rows["source"]]
        sources = [
            (text, 0) if len(ids) <= how.max_source else self._cut(text, ids, how.max_source)
            for text, ids in zip(articles, self._of(articles), strict=True)
        ]
        firsts = [self._spelled(texts[0]).strip() if texts else "" for texts in rows["references"]]
        targets = [[*ids, self.end] for ids in self._of(map(self.until_stop, firsts))]
        return {
            "src_tokens": self._prompted(*(text for text, _ in sources)),
            "src_lost": [lost for _, lost in sources],
            "tgt_tokens": [ids[: how.max_target] for ids in targets],
            "tgt_whole": [len(ids) <= how.max_target for ids in targets],
        }

    def _spelled(self, text: str) -> str:
        end = self.tokenizer.convert_ids_to_tokens(self.end)  # which need not be special
        return super()._spelled(text).replace(end, f"{end[0]} {end[1:]}")

    def _of(self, texts: Any) -> list[list[int]]:
        texts = list(texts)
        return self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"] if texts else []

    def _prompted(self, *articles: str) -> list[list[int]]:
        return [[*self.lead, *ids] for ids in self._of(self.before + text + self.after for text in articles)]

    def _cut(self, text: str, ids: Sequence[int], limit: int) -> tuple[str, int]:
        """The beginning of an article that has at most ``limit`` of its ``ids``, and how many are lost."""
        if self.tokenizer.is_fast:
            spans = self.tokenizer(text, add_special_tokens=False, verbose=False, return_offsets_mapping=True)
            (_, last), (following, _) = spans["offset_mapping"][limit - 1 : limit + 1]
            beginning = text[: min(last, following)]  # not behind a character of which a token is lost
        else:
            beginning = self.tokenizer.decode(ids[:limit])
        if self.language is not None:
            place, last = 0, 0
            for sentence in sentences(text, self.language):
                place = text.find(sentence, place) + len(sentence)
                last = place if place <= len(beginning) else last
            beginning = beginning[:last] or beginning  # a first sentence that is too long is cut at a token
        return beginning, len(ids) - len(self._of([beginning])[0])

    # ---- summaries ------------------------------------------------------------------------------------------------

    def texts(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """The text of each row of ids up to a stop string, special tokens left out."""
        tokens = [[token for token in row if token not in (IGNORED, self.end)] for row in rows]
        written = self.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        return ["\n".join(map(str.strip, self.until_stop(text).strip().split("\n"))) for text in written]

    def until_stop(self, text: str) -> str:
        """The text before the first stop string."""
        return text[: min((place for stop in self.stop if (place := text.find(stop)) >= 0), default=len(text))]

    def stopped(self, ids: Sequence[int]) -> bool:
        """Whether the text of these ids holds a stop string that its last token may have completed."""
        window = max((len(stop.encode()) for stop in self.stop), default=0) + 2  # a token has a byte or more
        text = self.tokenizer.decode([token for token in ids[-window:] if token != IGNORED]) if window > 2 else ""
        return self.until_stop(text) != text


def prompt(
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    *,
    chat: bool,
    system: str | None = None,
    stop: tuple[str, ...] = (),
    language: Language | None = None,
) -> Prompt:
    """The prompt of ``text`` with {article} in it, as the user's turn of a chat or as it is.

    ``system``: the system turn; None: that of the chat template. ``stop``, ``language``: see Prompt. Raises UserError
    if the tokenizer has no chat template, if this takes no system turn, or if nothing would end a summary.
    """
    turn, default, end = text.replace("{article}", PLACE), "", tokenizer.eos_token_id
    if chat:
        if tokenizer.chat_template is None:
            raise UserError("model.template=chat: the tokenizer has no chat template; set model.template=plain")
        plain = _rendered(tokenizer, None, turn)
        default = _default(tokenizer, plain, turn)
        if system is not None and (system or default):
            written = _rendered(tokenizer, system, turn)
            if written is None or system not in written:
                raise UserError(
                    f"model.system={system!r}: the chat template takes no system turn; write it into model.prompt"
                )
            plain, default = written, ""
        rendered, lead = plain or "", []
        end = _end(tokenizer, turn, end)
    else:
        rendered, lead = turn, _lead(tokenizer)
    if end is None:
        raise UserError("the tokenizer has neither a chat template nor an eos_token, so no summary would end; add one")
    before, place, after = rendered.partition(PLACE)
    if not place or PLACE in after:
        raise UserError("model.template=chat: the chat template does not repeat the user's turn; set it to plain")
    return Prompt(
        tokenizer, "", "\n", before=before, after=after, lead=tuple(lead), end=end, default=default,
        language=language, stop=stop,
    )  # fmt: skip


def _lead(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """The ids that a tokenizer puts before every text, not those that it puts behind."""
    ids, word = (tokenizer("a", add_special_tokens=special)["input_ids"] for special in (True, False))
    return next((ids[:n] for n in range(len(ids)) if ids[n : n + len(word)] == word), [])


def _rendered(
    tokenizer: PreTrainedTokenizerBase, system: str | None, user: str, answer: str | None = None
) -> str | None:
    """A chat as a text, up to the answer or with it; None if the template refuses these turns."""
    turns = [("system", system), ("user", user), ("assistant", answer)]
    messages = [{"role": role, "content": text} for role, text in turns if text is not None]
    try:
        written: str = tokenizer.apply_chat_template(
            messages, chat_template=CLOCK + tokenizer.get_chat_template(), tokenize=False,
            add_generation_prompt=answer is None, date_string=TODAY, enable_thinking=False,
        )  # fmt: skip
    except Exception as error:  # of a template, any
        if system is not None or answer is not None:
            return None
        raise UserError(f"model.template=chat: the chat template cannot be used ({error}); set it to plain") from error
    return written


def _default(tokenizer: PreTrainedTokenizerBase, plain: str | None, user: str) -> str:
    """The system turn that a chat template writes where none is given: what stands in the place of another one."""
    before, place, after = (_rendered(tokenizer, TURN, user) or "").partition(TURN)
    if not place or plain is None or not (plain.startswith(before) and plain.endswith(after)):
        return ""
    return plain[len(before) : len(plain) - len(after)]


def _end(tokenizer: PreTrainedTokenizerBase, user: str, otherwise: int | None) -> int | None:
    """The id that ends the assistant's turn, by default that of every text."""
    _, place, after = (_rendered(tokenizer, None, user, TURN) or "").partition(TURN)
    ids = tokenizer(after, add_special_tokens=False)["input_ids"] if place and after.strip() else []
    first = next((token for token in ids if tokenizer.decode([token]).strip()), None)  # it may follow line ends
    return first if first in tokenizer.added_tokens_decoder else otherwise
