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
    assert encoder.pieces(["banco", "The", "xyz"]) == 1 + 1 + 3
    with pytest.warns(UserWarning, match=r"2 words have no vector in .*; they got zeros"):
        encoded = list(encoder.encode([["xyz", "the"], ["são paulo"]]))
    assert not encoded[0].vectors[0].any() and encoded[0].vectors[1].any()


def test_only_the_words_needed_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.vec"
    path.write_bytes(text(header=True))
    encoder = StaticEncoder(path, words=["The"])
    assert encoder.whole(["the", "banco"]).tolist() == [True, False]
    assert encoder._vectors.shape == (1, 5)
    with pytest.raises(TreebridgeError, match="found no word vectors"):
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
    with pytest.raises(TreebridgeError, match="truncated"):
        Encoder.load(path)
    path.write_bytes(data[:60])
    with pytest.raises(TreebridgeError, match="truncated"):
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


ROWS = "the 1 2 3\nbanco 4 5 6\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("2 4\n" + ROWS, r"bad.vec:2: expected a word and 4 numbers"),
        ("2 2\n" + ROWS, r"bad.vec:2: the header announces 2 numbers, found 3"),
        ("3 3\n" + ROWS, r"bad.vec: the header announces 3 words of 3 .*, the file has 2"),
        ("1 3\n" + ROWS, r"bad.vec: the header announces 1 words of 3 .*, the file has more"),
        ("2 3\n" + ROWS[:-2], r"bad.vec:3: expected a word and 3 numbers"),
        ("2 3\n" + ROWS.replace(" ", " 0,"), r"bad.vec:2: .* use a decimal point, not a comma"),
        ("2 3\n" + ROWS.replace("5", "five"), r"bad.vec:3: expected a word and 3 numbers"),
        (
            "2 3\n" + ROWS.replace("5", "nan"),
            r"bad.vec: the vector of 'banco' has values that are not finite",
        ),
        (
            "2 3\n" + ROWS.replace("5", "1e99"),
            r"bad.vec: the vector of 'banco' has values that are not finite",
        ),
        ("2 0\n" + ROWS, r"bad.vec:1: the header announces 0 dimensions"),
        ("2 999999999999\n" + ROWS, r"bad.vec:1: the header announces 999999999999 dimensions"),
        ("9" * 5000 + " 3\n" + ROWS, r"bad.vec:1: expected a word and 1 numbers"),
        ("2 3\nDear all,\nthis is a letter.\n", r"bad.vec:2: expected a word and 3 numbers"),
        ("2 3\n", r"bad.vec: the header announces 2 words of 3 .*, the file has 0"),
        ("", r"bad.vec: found no word vectors"),
        ("the 1 2 3\nbanco 4 5\n", r"bad.vec:2: expected a word and 3 numbers"),
    ],
)
def test_header_and_rows_have_to_agree(data: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.vec"
    for content in (data.encode(), data.replace("\n", "\r\n").encode()):
        path.write_bytes(content)
        with pytest.raises(TreebridgeError, match=message):
            Encoder.load(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"4 5\n", b"5 5\n", "announces 5 words of 5 dimensions, the file has 4"),
        (b"4 5\n", b"3 5\n", "announces 3 words of 5 dimensions, the file has more"),
        (b"4 5\n", b"4 4\n", "announces 4 words of 4 dimensions, the file has more"),
        (b"4 5\n", b"4 9\n", "announces 4 words of 9 dimensions, the file has ."),
        (VECTORS[3].tobytes(), VECTORS[3].tobytes()[:9], "announces 4 .*, the file has 3"),
        (
            VECTORS[1].tobytes(),
            b"\x00\x00\xc0\x7f" * 5,
            "vector of 'banco' has values that are not finite",
        ),
        (b"banco ", b"b" * 5000, "a word of more than 4,096 bytes"),
    ],
)
def test_binaries_have_to_agree_with_their_header(
    old: bytes, new: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.bin"
    path.write_bytes(word2vec_binary().replace(old, new))
    with pytest.raises(TreebridgeError, match=rf"bad.bin: .*{message}"):
        Encoder.load(path)


def test_binary_vectors_of_any_bytes_are_told_from_text(tmp_path: Path) -> None:
    """Among them those that begin with a line's end, and those that are letters."""
    path, rng = tmp_path / "a.bin", np.random.default_rng(1)
    for number in range(300):
        rows = rng.normal(size=(2, 20)).astype("<f4")
        data = bytearray(rows.tobytes())
        data[0] = number % 256
        path.write_bytes(b"2 20\n1 " + data[:80] + b"\n2 " + data[80:] + b"\n")
        encoder = Encoder.load(path)
        assert encoder.whole(["1", "2"]).all() and encoder.dim == 20


def test_a_flipped_bit_in_a_fasttext_header_neither_hangs_nor_crashes(tmp_path: Path) -> None:
    data, _matrix = fasttext_binary()
    # The header could promise two thousand million words: a hang, if somebody looked for them all.
    data += bytes(1 << 20)
    path, refused = tmp_path / "model.bin", 0
    header = 8 + 12 * 4 + 8 + 28 + sum(len(word.encode()) + 10 for word in WORDS) + 17
    for place in range(8, header):
        for bit in (0, 6, 7):
            broken = bytearray(data)
            broken[place] ^= 1 << bit
            path.write_bytes(broken)
            try:
                vector = Encoder.load(path)(["the"])[0]
                assert vector.shape == (5,)
            except TreebridgeError as error:
                refused += 1
                assert "model.bin: " in str(error) and "\n" not in str(error)
    assert refused > 150


def test_a_fasttext_header_of_too_many_words_is_found_out_at_once(tmp_path: Path) -> None:
    data = bytearray(fasttext_binary()[0])
    data[64:76] = struct.pack("<iii", 4 + (1 << 30), 4, 1 << 30)
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    with path.open("r+b") as stream:
        stream.truncate(8 << 30)  # sparse; reading all of it would take an hour
    with pytest.raises(TreebridgeError, match="entry 5 is not a word"):
        Encoder.load(path)


def test_a_compressed_fasttext_binary_says_so(tmp_path: Path) -> None:
    path = tmp_path / "model.bin.gz"
    path.write_bytes(gzip.compress(fasttext_binary()[0]))
    with pytest.raises(TreebridgeError, match="compressed fastText binary; unpack it first"):
        Encoder.load(path)


def test_very_long_words_take_little_time_and_memory(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(fasttext_binary()[0])
    encoder = Encoder.load(path)
    long = encoder(["x" * 1_000_000])
    np.testing.assert_array_equal(long, encoder(["x" * 1000]))
