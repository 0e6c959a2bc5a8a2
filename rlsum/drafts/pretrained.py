"""What a configuration says of a pretrained model: its limits, its habits, and how it is usually trained."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlsum.errors import ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

    from rlsum.models.pretrained.loading import Family

LARGE = 250e6  # weights; of a larger model, and of any language model, only low-rank updates are trained
LONGEST = 1024, 256  # tokens of an article and of a summary, where the model has no limit below
WITH_ADAFACTOR = ("t5", "mt5", "umt5", "longt5", "pegasus", "pegasus_x")  # as they were pretrained
PROMPTED = 128  # tokens that are left for the prompt around an article
LINE_BREAK = "<n>"  # the token of PEGASUS


@dataclass(frozen=True)
class Pretrained:
    """A pretrained model.

    kind        of model
    name        of its folder or on the hub
    longest     tokens of an article and of a summary at most
    prefix      before every article; "" for none
    line_break  between the sentences of a summary; "" for none of its own
    template    chat or plain, of a language model's prompt; None for an encoder-decoder
    weights     their number
    lora        the section of low-rank updates as YAML; None: all weights are trained
    optimizer   its name
    rates       of likelihood, and of a reward
    """

    kind: str
    name: str
    tokenizer: PreTrainedTokenizerBase = field(repr=False)
    longest: tuple[int, int]
    prefix: str
    line_break: str
    template: str | None
    weights: int
    lora: str | None
    optimizer: str
    rates: tuple[str, str]

    @property
    def large(self) -> bool:
        """Whether all weights are many to train."""
        return self.weights > LARGE

    def count(self, text: str) -> int:
        """The tokens of a text, special ones included."""
        return len(self.tokenizer(text, verbose=False)["input_ids"])


def pretrained(name: str) -> Pretrained:
    """Look at a model; reads no weights. Raises ConfigError or PretrainedError for one that cannot be trained."""
    from rlsum.models.pretrained import loading

    if faults := loading.folder_faults(name):
        raise ConfigError("\n".join(faults))
    sizes = loading.load_config(name, None)
    family = loading.family_of(sizes) or loading.SEQ2SEQ
    tokenizer = loading.load_tokenizer(name)
    prompted = family is loading.CAUSAL
    source = loading.room(sizes, PROMPTED, LONGEST[1]) if prompted else loading.positions(sizes, "source")
    target = None if prompted else loading.positions(sizes, "target")
    weights = int(family.empty(sizes).num_parameters())
    lora = _lora(sizes, family) if prompted or weights > LARGE else None
    adafactor = lora is None and sizes.model_type in WITH_ADAFACTOR
    rates = ("1e-3", "1e-4") if adafactor else ("3e-5", "3e-6")
    if lora is not None:
        rates = ("2e-4", "1e-4") if prompted else ("3e-4", "3e-5")
    return Pretrained(
        family.kind,
        name,
        tokenizer,
        (min(source or LONGEST[0], LONGEST[0]), min(target or LONGEST[1], LONGEST[1])),
        _prefix(sizes),
        LINE_BREAK if LINE_BREAK in tokenizer.get_vocab() and not prompted else "",
        ("plain" if tokenizer.chat_template is None else "chat") if prompted else None,
        weights,
        lora,
        "adafactor" if adafactor else "adamw",
        rates,
    )


def _prefix(sizes: PreTrainedConfig) -> str:
    """What its configuration says to put before an article; T5 was trained with a word for every task."""
    tasks = getattr(sizes, "task_specific_params", None) or {}
    usual = "summarize: " if sizes.model_type == "t5" else ""
    return str(tasks.get("summarization", {}).get("prefix", usual))


def _lora(sizes: PreTrainedConfig, family: Family) -> str | None:
    """Low-rank updates that this architecture can have, if peft is installed."""
    from rlsum.models.pretrained import lora
    from rlsum.models.pretrained.options import LoraConfig

    attention_only = LoraConfig(targets=("q_proj", "v_proj"))
    if not lora.faults(LoraConfig(), sizes, family):
        return "{rank: 16}"
    return None if lora.faults(attention_only, sizes, family) else "{targets: [q_proj, v_proj]}"
