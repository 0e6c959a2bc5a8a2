"""CPU seconds and memory of one update of a decoder-only model: TRL's GRPOTrainer, plain rows, an article read once.

    python scripts/convert_gguf.py runs/smollm2
    python scripts/speed/benchmark_article_once.py runs/smollm2 --rows 16 --samples 4 8 16

An update samples `--rows` summaries of 60 tokens for articles of 400 tokens, `--samples` for an article, scores them,
goes backward through low-rank updates (rank 16 on queries and values) and takes a step; in float32, on one thread, a
process an update. No text ends early, and the reward costs nothing. TRL and plain rows read the article again for
every sample, so that their cost depends on the number of rows alone. TRL's trainer checkpoints activations unless
told otherwise; it is timed both ways.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

SOURCE, TARGET = 400, 60
RANK, LAYERS = 16, ["q_proj", "v_proj"]
PEERS = ["article once, checkpoints", "plain rows", "trl, no checkpoints"]
ONCE = "article once"
CHECKPOINTS = ", checkpoints"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of a decoder-only model")
    parser.add_argument("--rows", type=int, default=16, help="summaries an update")
    parser.add_argument("--samples", type=int, nargs="+", default=[4, 8, 16], help="summaries of an article")
    parser.add_argument("--together", type=int, default=1, help="processes at once; on a busy machine, these are alike")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--update", help=argparse.SUPPRESS)  # of this process, which prints its numbers as JSON
    options = parser.parse_args()
    if options.update:
        print(json.dumps(measured(options.update, options.model, options.rows, options.samples[0], options.seed)))
        return
    first = options.samples[0]
    cases = [("trl", first), *((ONCE, samples) for samples in options.samples), *((name, first) for name in PEERS)]
    print(f"{'':24}{'samples':>8}{'sampling':>10}{'rest':>8}{'all':>8}{'x':>6}{'GiB':>6}{'loss':>11}{'gradient':>10}")
    base = None
    with ThreadPoolExecutor(options.together) as pool:
        results = pool.map(lambda case: in_process(case, options), cases)
        for (name, samples), numbers in zip(cases, results, strict=True):
            base = base or numbers["all"]
            seconds = "".join(
                f"{numbers[key]:{width}.1f}" for key, width in (("sampling", 10), ("rest", 8), ("all", 8))
            )
            same = f"{numbers['loss']:11.6f}{numbers['gradient']:10.6f}" if "loss" in numbers else ""
            print(f"{name:24}{samples:8}{seconds}{base / numbers['all']:6.2f}{numbers['GiB']:6.2f}{same}", flush=True)


def in_process(case: tuple[str, int], options: argparse.Namespace) -> dict[str, float]:
    """The numbers of one update in a process of its own."""
    name, samples = case
    call = [sys.executable, __file__, str(options.model), "--update", name, "--rows", str(options.rows)]
    call += ["--samples", str(samples), "--seed", str(options.seed)]
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, **threads}, check=False)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    numbers: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return numbers


def measured(name: str, folder: Path, rows: int, samples: int, seed: int) -> dict[str, float]:
    """CPU seconds of sampling, of the rest and of all; GiB of memory at most; loss and norm of its gradient."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    articles = articles_of(tokenizer, rows // samples, seed)
    if name.startswith("trl"):
        numbers = trl_update(network, tokenizer, articles, samples, checkpoints=name == "trl")
    else:
        numbers = update(network, tokenizer(articles, return_tensors="pt").input_ids, samples, name, seed)
    numbers["all"] = numbers["sampling"] + numbers["rest"]
    return {**numbers, "GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def articles_of(tokenizer: PreTrainedTokenizerBase, count: int, seed: int) -> list[str]:
    """Texts of 400 tokens: words that are one token wherever they stand."""
    words = [" man", " said", " house", " water", " year", " city", " people", " day", " school", " work", " time"]
    draw = torch.Generator().manual_seed(seed)
    texts = ["".join(words[i] for i in torch.randint(len(words), (SOURCE,), generator=draw)) for _ in range(count)]
    lengths = {len(ids) for ids in tokenizer(texts).input_ids}
    if lengths != {SOURCE}:
        raise ValueError(f"articles of {lengths} tokens: choose words that are one token each in this model")
    return texts


def adapter() -> Any:
    import peft

    return peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=LAYERS, task_type="CAUSAL_LM")


def update(network: PreTrainedModel, articles: torch.Tensor, samples: int, name: str, seed: int) -> dict[str, float]:
    """An update with the same random numbers, articles read once or for every sample."""
    import peft

    from rlsum.models.pretrained import prefix

    peft.inject_adapter_in_model(adapter(), network)
    network.train()
    if name.endswith(CHECKPOINTS):
        network.gradient_checkpointing_enable({"use_reentrant": False})
        network.enable_input_require_grads()
    once = name.startswith(ONCE)
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5)
    places = torch.rand(TARGET, len(articles) * samples, 1, generator=torch.Generator().manual_seed(seed))

    def choose(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        shares = scores.softmax(-1).cumsum(-1)
        return torch.searchsorted(shares, places[ids.shape[1]] * shares[:, -1:]).squeeze(1)

    lengths = torch.full((len(articles),), SOURCE)
    start = time.process_time()
    if once:
        rows = torch.arange(len(articles)).repeat_interleave(samples)
        target = prefix.decode(network, articles, lengths, rows, choose, TARGET, ends=[], pad=0)
    else:
        target = generated(network, articles.repeat_interleave(samples, 0), choose)
    sampled = time.process_time()
    if once:
        scores = prefix.logits(network, articles, lengths, target)
    else:
        ids = torch.cat([articles.repeat_interleave(samples, 0), target], 1)
        scores = network(input_ids=ids, use_cache=False, logits_to_keep=TARGET + 1).logits[:, :-1]
    log_prob = -torch.nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction="none")
    del scores
    distinct = torch.tensor([len(set(ids)) for ids in target.tolist()], dtype=torch.float).view(len(articles), -1)
    advantages = (distinct - distinct.mean(1, keepdim=True)) / (distinct.std(1, keepdim=True) + 1e-4)
    loss = -(advantages.view(-1, 1) * log_prob.view_as(target)).mean()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(trained, 1.0)
    optimizer.step()
    rest = time.process_time() - sampled
    return {"sampling": sampled - start, "rest": rest, "loss": loss.item(), "gradient": norm.item()}


def generated(network: PreTrainedModel, ids: torch.Tensor, choose: Any) -> torch.Tensor:
    """Samples by transformers' own generation."""

    def chosen(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        best = choose(ids[:, SOURCE:], scores).unsqueeze(1)
        return torch.full_like(scores, -torch.inf).scatter_(1, best, 0.0)

    out: torch.Tensor = network.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=TARGET, eos_token_id=[],
        pad_token_id=0, logits_processor=[chosen],
    )  # fmt: skip
    return out[:, SOURCE:]


def trl_update(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, articles: list[str], samples: int, checkpoints: bool
) -> dict[str, float]:
    """A step of TRL's trainer, as its defaults have it but for float32 and the CPU."""
    import datasets
    import trl

    clock: dict[str, float] = {}

    class Timed(trl.GRPOTrainer):
        def training_step(self, *inputs: Any, **named: Any) -> Any:
            clock["start"] = time.process_time()
            return super().training_step(*inputs, **named)

        def _generate_single_turn(self, *inputs: Any, **named: Any) -> Any:
            start = time.process_time()
            out = super()._generate_single_turn(*inputs, **named)
            clock["sampling"] = time.process_time() - start
            return out

    def reward(completion_ids: list[list[int]], **_: Any) -> list[float]:
        return [float(len(set(ids))) for ids in completion_ids]

    with tempfile.TemporaryDirectory() as folder:
        config = trl.GRPOConfig(
            folder, per_device_train_batch_size=len(articles) * samples, num_generations=samples, max_steps=1,
            max_completion_length=TARGET, generation_kwargs={"min_new_tokens": TARGET}, bf16=False, use_cpu=True,
            report_to="none", save_strategy="no", disable_tqdm=True, gradient_checkpointing=checkpoints,
        )  # fmt: skip
        rows = datasets.Dataset.from_dict({"prompt": articles})
        trainer = Timed(network, reward, config, rows, processing_class=tokenizer, peft_config=adapter())
        trainer.train()
    return {"sampling": clock["sampling"], "rest": time.process_time() - clock["start"] - clock["sampling"]}


if __name__ == "__main__":
    main()
