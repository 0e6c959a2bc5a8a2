"""The ``model`` sections of pretrained models, free of torch."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from rlsum.models.options import STRICT, ModelConfig


@dataclass(frozen=True, config=STRICT)
class LoraConfig:
    """Low-rank updates of frozen weights (Hu et al. 2021, arXiv 2106.09685)."""

    rank: int = Field(default=16, ge=1)
    """rank of the updates"""
    alpha: float = Field(default=32, gt=0, allow_inf_nan=False)
    """updates are scaled by alpha / rank"""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """dropout on the inputs of the updates"""
    targets: tuple[str, ...] | None = None
    """names of the updated layers; none: those that peft knows for BART, T5 and mT5. For PEGASUS and LED:
    ``[q_proj, v_proj]``"""


@dataclass(frozen=True, config=STRICT)
class PretrainedConfig(ModelConfig):
    """What the kinds of pretrained models have in common."""

    own_tokenizer: ClassVar[bool] = True
    texts: ClassVar[tuple[str, ...]] = ()
    """how it reads and writes texts, as its weights have learnt it"""

    pretrained: str = Field(min_length=1)
    """a name on the hub, or a folder that ``save_pretrained`` wrote, tokenizer included"""
    dropout: bool | None = None
    """the network's own dropout in training; none: on with mle, off with the others, which refuse it as long as gamma
    is not 0"""
    gradient_checkpointing: bool = False
    """computes layers again in the backward pass: less memory, more time"""
    lora: LoraConfig | None = None
    """train only low-rank updates; none: all weights"""

    def continued(self) -> PretrainedConfig:
        """With the dropout that its objective has by default, low-rank updates merged."""
        return replace(self, dropout=None, lora=None)

    def resolved(self) -> PretrainedConfig:
        """With the defaults of its texts filled in."""
        return self


@dataclass(frozen=True, config=STRICT)
class Seq2SeqConfig(PretrainedConfig):
    """A pretrained encoder-decoder of transformers: BART, T5, PEGASUS, mT5, LED, ..."""

    texts: ClassVar[tuple[str, ...]] = ("prefix", "line_break")

    kind: Literal["seq2seq"] = "seq2seq"
    """this kind"""
    prefix: str = ""
    """put before every article: ``"summarize: "`` for T5"""
    line_break: str = Field(default=" ", min_length=1)
    """what ends a line of a summary for the tokenizer, and is read back as a line end: ``"<n>"`` for PEGASUS; by
    default lines are joined"""
    global_attention: Literal["none", "first"] = "none"
    """first: the first token of an article attends to all others and they to it (LED)"""


ARTICLE = "{article}"  # its place in a prompt
PROMPTS = {
    "chat": f"Summarize the following text in a few short sentences.\n\n{ARTICLE}",
    "plain": f"{ARTICLE}\n\nSummary:\n",
}


@dataclass(frozen=True, config=STRICT)
class CausalConfig(PretrainedConfig):
    """A pretrained language model of transformers, without an encoder: SmolLM2, Qwen, Llama, Gemma, ...

    ``data.max_source`` counts the tokens of the article, without those of the prompt around it.
    """

    texts: ClassVar[tuple[str, ...]] = ("template", "prompt", "system", "stop")

    kind: Literal["causal"] = "causal"
    """this kind"""
    template: Literal["chat", "plain"] = "chat"
    """chat: the prompt is the user's turn in the chat template of the tokenizer; plain: the prompt alone, for models
    that have not learnt to chat"""
    prompt: str | None = None
    """the text with ``{article}`` in its place; none: for chat "Summarize the following text in a few short
    sentences.", for plain "Summary:" behind the article"""
    system: str | None = None
    """the system turn of a chat; none: that of the chat template, if it has one; "": an empty one in its place"""
    article_end: Literal["token", "sentence"] = "token"
    """where an article that is longer than data.max_source is cut: behind the last token, or sentence, that fits"""
    stop: tuple[str, ...] = ()
    """texts that end a summary, and are no part of it"""
    clean: bool = True
    """rewards and metrics are of answers without thinking blocks, Markdown and "Here is a summary:", see ``cleaned``;
    outputs keep what was written"""

    def __post_init__(self) -> None:
        """Reject a prompt without the article, and what only a chat has."""
        if self.prompt is not None and self.prompt.count(ARTICLE) != 1:
            raise ValueError(f"prompt={self.prompt!r}: must hold {ARTICLE} once, where the article stands")
        if self.system is not None and self.template == "plain":
            raise ValueError(f"system={self.system!r}: a plain template has no system turn; write it into prompt")
        if "" in self.stop:
            raise ValueError("stop: an empty text ends every summary; leave it out")

    def resolved(self) -> CausalConfig:
        """With the prompt of its template."""
        return self if self.prompt is not None else replace(self, prompt=PROMPTS[self.template])
