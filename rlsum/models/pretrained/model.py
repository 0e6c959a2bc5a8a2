"""What the kinds of pretrained models share: scoring, drawing, low-rank updates, files.

Notation: B articles, R rows (several an article), S source tokens, T target tokens, L decoded tokens, V ids.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from rewards.encoding.loading import leave_cudnn_attention
from rlsum.data.batch import Batch
from rlsum.data.subwords import Subwords, largest_id
from rlsum.errors import UserError
from rlsum.models.constraints import Constraints
from rlsum.models.decoding import Decoding, Limits, Sampling
from rlsum.models.pretrained import lora
from rlsum.models.pretrained.loading import Family
from rlsum.models.pretrained.options import PretrainedConfig
from rlsum.models.pretrained.token_choice import TokenChoice
from rlsum.models.pretrained.token_rules import TokenRules
from rlsum.models.sampling import Drawn, allowed
from rlsum.models.summarizer import WEIGHTS, Model, Scorer, TargetScores, Tokens, own_tensors, repeat_rows

if TYPE_CHECKING:
    import datasets
    from transformers import PreTrainedConfig, PreTrainedModel

    from rlsum.data.corpus import Tokenization

OF_A_COPY = ("_name_or_path", "transformers_version")  # in config.json, without a bearing on texts


class TransformersModel(Model):
    """A network of transformers, its tokenizer, and the rules for its special tokens.

    Checkpoints contain the ``described`` sizes, with dropout rates that the network may have been loaded without.
    """

    family: ClassVar[Family]
    config: PretrainedConfig

    def __init__(
        self,
        config: PretrainedConfig,
        network: PreTrainedModel,
        described: PreTrainedConfig,
        vocabulary: Subwords,
        rules: TokenRules,
    ) -> None:
        super().__init__()
        leave_cudnn_attention()
        self.config, self.network, self.described, self.vocabulary = config, network, described, vocabulary
        self.rules = rules
        if wrong := rules.beyond(size := len(network.get_output_embeddings().weight)):
            raise UserError(
                f"model.pretrained={config.pretrained}: {wrong} is no token of the network, which has {size}; correct "
                "generation_config.json, or, if the tokenizer has more tokens, resize the network with "
                "model.resize_token_embeddings(len(tokenizer)), and save it"
            )
        network.generation_config = self.rules.generation_config(Decoding())
        if config.gradient_checkpointing:
            enable: Any = getattr(network, "activation_checkpointing_enable", network.gradient_checkpointing_enable)
            enable({"use_reentrant": False})  # its name before transformers 5.24
        if config.lora is not None:
            lora.add(network, config.lora, config.pretrained, self.family)
            if config.gradient_checkpointing:
                network.enable_input_require_grads()  # with frozen embeddings, no input would need a gradient

    # ---- what a kind does -----------------------------------------------------------------------------------------

    @abstractmethod
    def logits(self, batch: Batch, target: Tensor) -> Tensor:
        """Logits (R, T, V) of each token of the targets (R, T), given the target before it; differentiable."""

    @abstractmethod
    def chosen(self, batch: Batch, rows: Tensor, choose: TokenChoice, max_length: int) -> Tensor:
        """Ids (R, L) that ``choose`` takes for the articles ``rows`` (R,)."""

    @abstractmethod
    def searched(self, batch: Batch, decoding: Decoding) -> Tensor:
        """Ids (B, L) of the best text of each article by beam search."""

    # ---- the summarizer protocol ----------------------------------------------------------------------------------

    def read(self, rows: datasets.Dataset, how: Tokenization) -> datasets.Dataset:
        """Rows with the tokenizer's ids; see Subwords.read. Raises UserError for ids unknown to the network."""
        read = self.vocabulary.read(rows, how)
        tables = {"src_tokens": self.network.get_input_embeddings(), "tgt_tokens": self.network.get_output_embeddings()}
        for column, table in tables.items():
            size = len(table.weight)
            # published tokenizers may have unused ids, such as the mask of bart-large-cnn
            if self.vocabulary.reach() > size <= (largest := largest_id(read, column)):
                token = self.vocabulary.tokenizer.convert_ids_to_tokens(largest)
                raise UserError(
                    f"model.pretrained={self.config.pretrained}: the tokenizer has a token {token!r}, id {largest}, "
                    f"but the network has {size} tokens; resize it with "
                    "model.resize_token_embeddings(len(tokenizer)), and save it"
                )
        return read

    def collate(self, rows: dict[str, list[Any]]) -> Batch:
        """A batch; see Model.collate."""
        return self.vocabulary.collate(rows, self.rules.ends)

    def forward(self, batch: Batch, target: Tensor, drawn: Drawn | None = None) -> TargetScores:
        """Log-probabilities (R, T) of targets in one pass, each token given the target before it; see Scorer."""
        logits = self.logits(batch, target)
        log_prob = self.rules.log_prob(logits, target)
        if drawn is not None and not drawn.sampling.plain:
            rows = drawn.rows.nonzero().squeeze(1)
            article = repeat_rows(len(batch), len(target) // len(batch)).to(rows.device)[rows]
            constraints = self.constraints(drawn.sampling, batch, article)
            sampled = self.rules.sampled_log_prob(logits[rows], target[rows], drawn.sampling, constraints)
            log_prob = log_prob.index_put((rows,), sampled)
        mean = self.rules.mean_log_prob(logits, target) if self.smoothed and self.training else None
        return TargetScores(log_prob, torch.zeros_like(log_prob), mean)

    def frozen(self) -> Scorer | None:
        """See Model.frozen: with low-rank updates, the network without them."""
        return None if self.config.lora is None else self.without_updates

    @torch.no_grad()
    def without_updates(self, batch: Batch, target: Tensor, drawn: Drawn | None = None) -> TargetScores:
        """Scores of the frozen network, without its low-rank updates."""
        with self.no_dropout(), lora.switched_off(self.network):
            return self(batch, target, drawn)

    def depends_on(self) -> dict[str, str]:
        """See Model.depends_on: the rules of tokens, and config.json, which weights do not hold."""
        sizes = {key: value for key, value in self.described.to_dict().items() if key not in OF_A_COPY}
        settings = json.dumps([asdict(self.rules), sizes], sort_keys=True, default=str)
        return {"settings": hashlib.sha256(settings.encode()).hexdigest()[:16]}

    @torch.no_grad()
    def generate(self, batch: Batch, decoding: Decoding, scored: bool = True) -> Tokens:
        """Decode a batch; see Model.generate."""
        if decoding.method == "sample":
            return self.sample(batch, decoding.samples, decoding.sampling)
        with self.no_dropout():
            if decoding.method == "greedy":
                rows = torch.arange(len(batch), device=batch.src.device)
                choose = TokenChoice(0, decoding.limits, self.constraints(decoding, batch, rows))
                texts = self.chosen(batch, rows, choose, decoding.max_length)
            else:
                texts = self.searched(batch, decoding)
            ids = self.rules.ends_of(texts, decoding.max_length)
            return Tokens(ids, self(batch, ids).log_prob if scored else torch.full(ids.shape, torch.nan))

    def drawn(self, batch: Batch, rows: Tensor, cut: int, sampling: Sampling, noise: Tensor | None) -> Tokens:
        """See Model.drawn."""
        choose = TokenChoice(cut, sampling, self.constraints(sampling, batch, rows), noise)
        with self.no_dropout():
            chosen = self.chosen(batch, rows, choose, sampling.limit)
        ids = self.rules.ends_of(chosen, sampling.limit)
        log_prob = choose.log_prob(chosen).masked_fill(ids == batch.pad, 0.0)
        if log_prob.isnan().any():
            raise RuntimeError(f"model.pretrained={self.config.pretrained}: its scores of tokens are not numbers (NaN)")
        return Tokens(ids, log_prob)

    def constraints(self, limits: Limits, batch: Batch, rows: Tensor) -> Constraints:
        """What texts of the articles ``rows`` (R,) may not have."""
        return Constraints(limits, batch, rows)

    def searching(self, batch: Batch, decoding: Decoding, behind: int) -> dict[str, Any]:
        """Keywords of transformers' ``generate``; texts begin ``behind`` so many ids: the start token, or a prompt.

        Ours forbid what ``Limits`` say, as in samples: transformers would count the ids of a prompt, too.
        """
        constraints = self.constraints(decoding, batch, repeat_rows(len(batch), decoding.beam).to(batch.src.device))

        def within(ids: Tensor, scores: Tensor) -> Tensor:
            ids = ids[:, behind:]
            return allowed(scores, constraints.after(ids)) if constraints.may_forbid(ids.shape[1]) else scores

        return {"generation_config": self.rules.unlimited(decoding), "logits_processor": [within]}

    @torch.no_grad()
    def disagreement(self, batch: Batch, sampling: Sampling) -> float:
        """The largest difference, in nats, between log-probabilities of tokens when sampled and when scored."""
        with self.no_dropout():
            samples = self.sample(batch, 2, sampling)
            scored = self(batch, samples.ids, Drawn.all(samples.ids, sampling))
            return (scored.log_prob - samples.log_prob).abs().max().item()

    def to_text(self, batch: Batch, tokens: Tokens) -> list[str]:
        """One text a row, special tokens left out."""
        return self.vocabulary.texts(tokens.ids.tolist())

    @contextmanager
    def no_dropout(self) -> Iterator[None]:
        """Within it the network is as in evaluation."""
        training = self.network.training
        self.network.eval()
        try:
            yield
        finally:
            self.network.train(training)

    # ---- checkpoint files -----------------------------------------------------------------------------------------

    def save_to(self, folder: Path, reading: Mapping[str, Any], decoding: Decoding) -> None:
        """Write tokenizer, sizes and decoding in the formats of transformers. The tokenizer says how texts are read."""
        self.vocabulary.save_to(folder)
        self.described.dtype = "float32"
        self.described.save_pretrained(folder)
        self.rules.generation_config(decoding.searching()).save_pretrained(folder)
        if self.config.lora is not None:
            lora.save_to(folder, self.network)

    def weight_files(self) -> dict[str, dict[str, Tensor]]:
        """All tensors by their names in transformers, low-rank updates merged; with updates, also an adapter file."""
        if self.config.lora is None:
            return {WEIGHTS: own_tensors(self.network)}
        return {lora.WEIGHTS: lora.adapter(self.network), WEIGHTS: lora.merged(self.network)}
