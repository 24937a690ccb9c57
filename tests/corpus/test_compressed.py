"""Compressed files: whole ones are read, and every damage is one sentence that names the file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from treebridge import TreebridgeError
from treebridge.corpus import compressed
from treebridge.corpus.compressed import open_member, open_zip, unpack
from treebridge.corpus.files import open_bytes, read_lines
from treebridge.corpus.pairs import read_pairs
from treebridge.encode.vectors import read_vectors

LINES = "".join(f"line {i}\tlinha {i}\n" for i in range(3000)).encode()
TMX = (
    "<tmx><body>"
    + "".join(
        f'<tu><tuv xml:lang="en"><seg>line {i}</seg></tuv>'
        f'<tuv xml:lang="pt"><seg>linha {i}</seg></tuv></tu>'
        for i in range(1000)
    )
    + "</body></tmx>"
).encode()
VEC = b"1000 3\n" + b"".join(b"w%d 0.1 0.2 0.3\n" % i for i in range(1000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
packed = pytest.mark.parametrize("ending", PACKERS)


def read(path: Path) -> list[object]:
    if ".vec" in path.name:
        return [word for word, _ in read_vectors(path)]
    return list(read_pairs(path))


@packed
def test_several_streams_and_padding(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    pack = PACKERS[ending]
    path.write_bytes(pack(b"a\n") + pack(b"") + pack(LINES) + b"\x00" * 8)
    with open_bytes(path) as stream:
        assert stream.read() == b"a\n" + LINES
        assert stream.name == str(path)


@packed
def test_compressed_input_is_unpacked_once(ending: str) -> None:
    twice = io.BytesIO(PACKERS[ending](PACKERS[ending](b"a\n")))
    with open_bytes(twice) as once, open_bytes(once) as again:
        assert again is once and again.read() == PACKERS[ending](b"a\n")


@pytest.mark.parametrize("text", [b"BZh9 is how a file of bzip2 begins", b"", b"a"])
def test_text_is_left_alone(text: bytes) -> None:
    assert unpack(io.BytesIO(text), "<stream>").read() == text


@packed
@pytest.mark.parametrize(("name", "data"), [("a.tsv", LINES), ("a.tmx", TMX), ("a.vec", VEC)])
def test_cut_files_are_named(ending: str, name: str, data: bytes, tmp_path: Path) -> None:
    whole = PACKERS[ending](data)
    path = tmp_path / f"{name}.{ending}"
    path.write_bytes(whole)
    assert len(read(path)) >= 1000
    for size in (40, len(whole) // 2, len(whole) - 5, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(TreebridgeError, match=rf"{path.name}: .*damaged or truncated.*again"):
            read(path)


@packed
@pytest.mark.parametrize(("name", "data"), [("a.tsv", LINES), ("a.tmx", TMX), ("a.vec", VEC)])
def test_any_damage_is_a_sentence(ending: str, name: str, data: bytes, tmp_path: Path) -> None:
    whole, rng = PACKERS[ending](data), random.Random(1)
    path = tmp_path / f"{name}.{ending}"
    refused = 0
    for _ in range(60):
        broken = bytearray(whole)
        broken[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(broken)
        try:
            read(path)  # a few bits, such as those of gzip's date, mean nothing
        except TreebridgeError as error:
            refused += 1
            assert path.name in str(error) and "\n" not in str(error)
    assert refused > 40


def make_zip(path: Path, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("Corpus.en", LINES)
        archive.writestr("Corpus.pt", LINES)
    return path


def change(path: Path, old: bytes, new: bytes, offset: int = 0) -> None:
    """Write other bytes where the old ones stand, or a little after them."""
    data = bytearray(path.read_bytes())
    found = data.find(old)
    while found >= 0:
        data[found + offset : found + offset + len(new)] = new
        found = data.find(old, found + 1)
    path.write_bytes(data)


LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


def encrypt(path: Path) -> None:
    change(path, LOCAL, b"\x01", 6)
    change(path, CENTRAL, b"\x01", 8)


def unknown_method(path: Path) -> None:
    change(path, LOCAL, b"\x63\x00", 8)
    change(path, CENTRAL, b"\x63\x00", 10)


def wrong_checksum(path: Path) -> None:
    change(path, CENTRAL, b"\x00\x01\x02\x03", 16)


def other_header(path: Path) -> None:
    change(path, LOCAL, b"XX")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (encrypt, r"bad.zip/Corpus.en: encrypted; unpack"),
        (unknown_method, r"bad.zip/Corpus.en: .*damaged.*compression"),
        (wrong_checksum, r"bad.zip/Corpus.en: .*damaged.*CRC"),
        (other_header, r"bad.zip/Corpus.en: .*damaged"),
    ],
)
def test_bad_zips_name_archive_and_member(
    damage: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    path = make_zip(tmp_path / "bad.zip")
    damage(path)
    with pytest.raises(TreebridgeError, match=message):
        list(read_pairs(path))


def test_lines_inside_a_zip_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Corpus.en", b"a\nb\n")
        archive.writestr("Corpus.pt", b"a\n\xff\n")
    with pytest.raises(TreebridgeError, match=r"a.zip/Corpus.pt:2: byte 0xff is not UTF-8"):
        list(read_pairs(path))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("en-pt.tmx", b"<tmx>\n<body></tmx>")
    with pytest.raises(TreebridgeError, match=r"a.zip/en-pt.tmx:2: this is not well-formed XML"):
        list(read_pairs(path))


def test_any_damage_of_a_zip_is_a_sentence(tmp_path: Path) -> None:
    whole, rng = make_zip(tmp_path / "a.zip").read_bytes(), random.Random(1)
    path = tmp_path / "broken.zip"
    for number in range(150):
        broken = bytearray(whole)
        # Half of them near the end, where the directory is.
        place = rng.randrange(len(whole)) if number % 2 else len(whole) - rng.randrange(1, 160)
        broken[place] ^= 1 << rng.randrange(8)
        path.write_bytes(broken[:place] if number % 5 == 0 else broken)
        try:
            list(read_pairs(path))
        except TreebridgeError as error:
            assert "broken.zip" in str(error) and "\n" not in str(error)


def test_a_compressed_file_inside_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inside.gz", gzip.compress(b"text"))
    with open_zip(tmp_path / "a.zip") as archive, open_member(archive, "inside.gz") as stream:
        assert stream.read() == b"text" and stream.name.endswith("a.zip/inside.gz")


def test_archives_that_are_not_read_say_so(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.vec")
    with pytest.raises(TreebridgeError, match=r"a.vec: this zip archive .* unpack it"):
        list(read_vectors(path))
    path.write_bytes(path.read_bytes()[:200])  # no directory: no zip to `zipfile`
    with pytest.raises(TreebridgeError, match=r"a.vec: this zip archive .* download it again"):
        list(read_pairs(path))
    with pytest.raises(TreebridgeError, match="Zstandard; unpack it with: zstd -d"):
        list(read_lines(io.BytesIO(b"\x28\xb5\x2f\xfd\x24\x00")))


def test_a_dictionary_that_takes_all_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "MAX_DICTIONARY", 32 << 20)
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 64 << 20}]
    stream = io.BytesIO(lzma.compress(b"text", filters=filters))
    with pytest.raises(TreebridgeError, match="takes more than 32 MB of memory"):
        list(read_lines(stream))
