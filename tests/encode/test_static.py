"""Static vectors from every file kind, and what happens to unknown words."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from treebridge import TreebridgeError
from treebridge.encode.encoder import Encoder
from treebridge.encode.fasttext import MAGIC, _hash
from treebridge.encode.static import StaticEncoder

WORDS = ["the", "banco", "São", "new york"]
VECTORS = np.random.default_rng(1).normal(size=(4, 5)).astype(np.float32)
UNIT = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)


def text(header: bool) -> bytes:
    rows = [f"{w} {' '.join(map(str, v))}" for w, v in zip(WORDS, VECTORS.tolist(), strict=True)]
    return "\n".join([*(["4 5"] if header else []), *rows, ""]).encode()


def word2vec_binary() -> bytes:
    rows = [
        w.encode().replace(b" ", b"_") + b" " + v.tobytes() + b"\n"
        for w, v in zip(WORDS, VECTORS, strict=True)
    ]
    return b"4 5\n" + b"".join(rows)


def fasttext_binary(
    buckets: int = 50, shortest: int = 2, longest: int = 3
) -> tuple[bytes, np.ndarray]:
    """A model file after the description of the format."""
    matrix = np.random.default_rng(2).normal(size=(4 + buckets, 5)).astype(np.float32)
    data = struct.pack("<ii", MAGIC, 12)
    data += struct.pack("<12id", 5, 5, 5, 1, 5, 1, 1, 2, buckets, shortest, longest, 100, 1e-4)
    data += struct.pack("<iiiqq", 4, 4, 0, 100, -1)
    for word in WORDS:
        data += word.encode() + b"\x00" + struct.pack("<qb", 10, 0)
    data += struct.pack("<?qq", False, len(matrix), 5) + matrix.tobytes()
    return data, matrix


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.vec", text(header=True)),
        ("a.vec.gz", gzip.compress(text(header=True))),
        ("glove.txt", text(header=False)),
        ("a.bin", word2vec_binary()),
    ],
)
def test_every_kind_of_file(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    encoder = Encoder.load(path)
    assert encoder.dim == 5
    np.testing.assert_allclose(encoder(["banco", "the", "São"]), UNIT[[1, 0, 2]], atol=1e-5)
    np.testing.assert_allclose(encoder(["BANCO", "The"]), UNIT[[1, 0]], atol=1e-5)  # lower case
    assert encoder.whole(["banco", "The", "xyz"]).tolist() == [True, True, False]
    with pytest.warns(UserWarning, match=r"2 words have no vector in .*; they got zeros"):
        encoded = list(encoder.encode([["xyz", "the"], ["são paulo"]]))
    assert not encoded[0].vectors[0].any() and encoded[0].vectors[1].any()


def test_only_the_words_needed_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.vec"
    path.write_bytes(text(header=True))
    encoder = StaticEncoder(path, words=["The"])
    assert encoder.whole(["the", "banco"]).tolist() == [True, False]
    assert encoder._vectors.shape == (1, 5)
    with pytest.raises(TreebridgeError, match="no word vector was found"):
        StaticEncoder(path, words=["nothing"])


def test_fasttext_binary_uses_ngrams(tmp_path: Path) -> None:
    data, matrix = fasttext_binary()
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    encoder = Encoder.load(path)

    def expected(word: str) -> np.ndarray:
        marked = f"<{word}>"
        grams = [marked[i : i + n] for n in (2, 3) for i in range(len(marked) - n + 1)]
        rows = [4 + _hash(gram) % 50 for gram in grams]
        rows += [WORDS.index(word)] if word in WORDS else []
        mean = matrix[rows].mean(0)
        return mean / np.linalg.norm(mean)

    for word in ["the", "São", "unseen"]:
        np.testing.assert_allclose(encoder([word])[0], expected(word), atol=1e-5)
    np.testing.assert_allclose(encoder(["BANCO"])[0], expected("banco"), atol=1e-5)
    assert encoder.whole(["the", "unseen"]).tolist() == [True, False]
    path.write_bytes(data[:-40])
    with pytest.raises(TreebridgeError, match="cut short"):
        Encoder.load(path)
    path.write_bytes(data[:60])
    with pytest.raises(TreebridgeError, match="cut short"):
        Encoder.load(path)


def test_hash_is_fasttexts() -> None:
    # Values of FNV-1a over signed bytes; plain ASCII agrees with the published test vectors.
    assert _hash("") == 2166136261
    assert _hash("a") == 0xE40C292C
    assert _hash("foobar") == 0xBF9CF968


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear all,\nthis is no file of vectors.\n")
    with pytest.raises(TreebridgeError, match=r"letter.txt:1: expected a word and 1 numbers"):
        Encoder.load(path)
    path.write_text("2 3\na 1 2 3\nb 1 2\n")
    with pytest.raises(TreebridgeError, match=r"letter.txt:3: expected a word and 3 numbers"):
        Encoder.load(path)
