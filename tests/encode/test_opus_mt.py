"""OPUS-MT checkpoints as encoders: SentencePiece models, a vocabulary, pickled weights."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf
from checkpoints import make_opus_mt

from treebridge import Encoder, TreebridgeError
from treebridge.corpus.artificial import World
from treebridge.encode.hub import copy_encoder
from treebridge.encode.tokenizer import load_tokenizer

SENTENCES = [list(s.forms) for s in World(3).treebank("source", 12, part="encode")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_opus_mt(tmp_path_factory.mktemp("opus-mt"))


def direct(folder: Path, words: list[str]) -> np.ndarray:
    """Vectors from the running text: `▁` says where each word begins."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer = hf.MarianTokenizer.from_pretrained(folder)
    network = hf.MarianMTModel.from_pretrained(folder).eval().get_encoder()
    inputs = tokenizer(" ".join(words), return_tensors="pt")
    pieces = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    assert pieces[-1] == "</s>"
    owner = np.cumsum([piece.startswith("▁") for piece in pieces[:-1]]) - 1
    assert owner[-1] == len(words) - 1 and len(pieces) > len(words) + 1
    with torch.no_grad():
        states = network(**inputs, output_hidden_states=True).hidden_states
    mean = torch.stack(states[-4:]).mean(0)[0, :-1].numpy()
    vectors = np.stack([mean[owner == word].mean(0) for word in range(len(words))])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("positions", [True, False])
def test_vectors_are_those_of_transformers(positions: bool, folder: Path, tmp_path: Path) -> None:
    folder = folder if positions else make_opus_mt(tmp_path, positions=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor does it speak of packages that nobody needs
        encoder = Encoder.load(folder)
    for words, encoded in zip(SENTENCES, encoder.encode(SENTENCES), strict=True):
        np.testing.assert_allclose(encoded.vectors, direct(folder, words), atol=1e-5)
    assert encoder.whole(["我", *SENTENCES[0]]).tolist()[0] is False
    assert np.isfinite(encoder(["", " ", "</s>", ">>qab<<", *SENTENCES[0]])).all()


def test_a_copy_is_the_same_encoder(folder: Path, tmp_path: Path) -> None:
    (folder / "README.md").write_text("not of the encoder")
    copy_encoder(folder, tmp_path / "copy")
    wanted = {"config.json", "pytorch_model.bin", "source.spm", "target.spm", "vocab.json"}
    assert {p.name for p in (tmp_path / "copy").iterdir()} == {*wanted, "tokenizer_config.json"}
    assert Encoder.load(tmp_path / "copy").fingerprint == Encoder.load(folder).fingerprint


def test_without_sentencepiece_the_message_names_it(folder: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules['sentencepiece'] = None\n"  # as if it were not installed
        "from pathlib import Path\n"
        "from treebridge import TreebridgeError\n"
        "from treebridge.encode.tokenizer import load_tokenizer\n"
        "try:\n"
        "    load_tokenizer(Path(sys.argv[1]))\n"
        "except TreebridgeError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True)
    assert "source.spm needs sentencepiece, which is not installed" in done.stdout, done.stderr
    assert "pip install sentencepiece" in done.stdout and done.stdout.count("\n") == 1


def test_files_that_are_missing_or_damaged(folder: Path, tmp_path: Path) -> None:
    for name in ("source.spm", "target.spm", "vocab.json"):
        broken = tmp_path / name
        copy_encoder(folder, broken)
        (broken / name).unlink()
        with pytest.raises(TreebridgeError, match="no tokenizer can be loaded"):
            load_tokenizer(broken)
        (broken / name).write_bytes(b"\x00nonsense")
        with pytest.raises(TreebridgeError, match="no tokenizer can be loaded"):
            load_tokenizer(broken)
    other = tmp_path / "other"
    copy_encoder(folder, other)
    longer = {**json.loads((other / "vocab.json").read_text()), "extra": 10_000}
    (other / "vocab.json").write_text(json.dumps(longer))
    (other / "pytorch_model.bin").write_bytes(b"PK\x03\x04")
    with pytest.raises(TreebridgeError, match="no encoder can be loaded"):
        Encoder.load(other)
