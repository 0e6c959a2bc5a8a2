"""The script that converts a GGUF file: what it writes gives the logits that transformers reads from the file."""

import sys

import convert_gguf
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig


def test_nothing_is_replaced_and_a_file_is_named(monkeypatch, tmp_path, capsys):
    (tmp_path / "a.gguf").touch()
    assert convert_gguf.file_in(tmp_path) == convert_gguf.file_in(tmp_path / "a.gguf") == tmp_path / "a.gguf"
    (tmp_path / "b.gguf").touch()
    new, none = tmp_path / "new", tmp_path / "none.gguf"
    told = {(tmp_path,): "exists; give another folder", (new, tmp_path): "2 GGUF files", (new, none): "0 GGUF files"}
    for arguments, message in told.items():
        monkeypatch.setattr(sys, "argv", ["convert_gguf", *map(str, arguments)])
        with pytest.raises(SystemExit):
            convert_gguf.main()
        assert message in capsys.readouterr().err
    assert not new.exists()


@pytest.mark.slow
def test_the_packaged_model_has_the_logits_of_its_file(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["convert_gguf", str(tmp_path / "smollm2")])
    convert_gguf.main()
    tokenizer, model = (kind.from_pretrained(tmp_path / "smollm2") for kind in (AutoTokenizer, AutoModelForCausalLM))
    file = convert_gguf.file_in(convert_gguf.packaged())
    original = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name)
    ids = tokenizer(["Ann: Are you at home?\nBob: No, on the bus at 7:45.", "A"], padding=True, return_tensors="pt")
    with torch.no_grad():
        assert torch.equal(model(**ids).logits, original(**ids).logits)
    ends = GenerationConfig.from_pretrained(tmp_path / "smollm2").eos_token_id
    assert tokenizer.convert_ids_to_tokens(ends) == ["<|im_end|>"]
    assert ids["attention_mask"][1].tolist()[:2] == [0, 0]  # padded on the left
