"""No input, however long its lines, takes more than a bounded amount of memory."""

from __future__ import annotations

import gzip
import io
import lzma
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from treebridge import Splitter, TreebridgeError
from treebridge.corpus.chunks import take
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.files import MAX_LINE, read_lines, read_text
from treebridge.corpus.input import read_sentences
from treebridge.corpus.pairs import read_pairs
from treebridge.corpus.sentence import MAX_WORDS
from treebridge.corpus.tmx import read_tmx
from treebridge.encode.pretrain.text import read_side
from treebridge.encode.static import StaticEncoder

FAR = 24 << 20  # bytes; a reader that comes so far would go on until memory is full


class Endless(io.RawIOBase):
    """A beginning, and then the same bytes for ever."""

    name = "endless"

    def __init__(self, beginning: bytes, again: bytes):
        self._data = beginning
        self._again = again * (1 + (1 << 16) // len(again))
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._data = self._data or self._again
        size = min(len(buffer), len(self._data))
        buffer[:size], self._data = self._data[:size], self._data[size:]
        self._read += size
        assert self._read < FAR, "read on and on"
        return size


ROW = b"1\tA\ta\tX\t_\t_\t0\troot\t_\t_\n"
TU = b"<tmx><body><tu><tuv><seg>a</seg></tuv></tu>"


def tmx(stream: Any) -> Iterator[object]:
    return read_tmx(stream, "en", None)


@pytest.mark.parametrize(
    ("read", "beginning", "again", "message"),
    [
        (read_lines, b"a\n", b"a", r"endless:2: the line has more than 1,048,576 bytes"),
        (read_lines, b"a\n", b"a b ", r"endless:2: the line has more than 1,048,576 bytes"),
        (read_lines, b"\xef\xbb\xbf", b"\xe6", r"endless:1: the line has more than"),
        (read_conllu, ROW + b"\n", b"a", r"endless:3: the line has more than"),
        (read_conllu, ROW + b"\n", b"#\n", r"endless:3: no blank line in 4194304 characters"),
        (read_conllu, b"", b"\t", r"endless:1: the line has more than"),
        (tmx, TU, b"a", r"endless: no translation unit within 100,000 bytes"),
        (tmx, TU, b"<a>", r"endless: more than 100 nested elements"),
        (tmx, TU, b"<a/>", r"endless: no translation unit within"),
        (tmx, TU + b"<tu><tuv><seg>", b"a <ph/>", r"endless: no translation unit within"),
        (tmx, TU + b"<!--", b"a", r"endless: no translation unit within"),
        (tmx, TU + b'<tu x="', b"a", r"endless: no translation unit within"),
    ],
)
def test_endless_input_is_refused(
    read: Callable[[Any], Iterator[object]],
    beginning: bytes,
    again: bytes,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("treebridge.corpus.tmx.MAX_UNIT", 100_000)  # a million take seconds
    with pytest.raises(TreebridgeError, match=message):
        for _ in read(Endless(beginning, again)):
            pass


def test_translation_units_are_forgotten() -> None:
    unit = '<tu><tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="pt"><seg>b</seg></tuv></tu>'

    def peak(units: int) -> int:
        stream = io.BytesIO(f"<tmx>{f'<body>{unit}</body>' * units}</tmx>".encode())
        tracemalloc.start()
        assert sum(1 for _ in tmx(stream)) == units
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(12_000) < 1.2 * peak(2000)


def test_many_kinds_of_elements_are_refused() -> None:
    names = b"".join(b"<tu><x%d/></tu>" % i for i in range(2000))
    with pytest.raises(TreebridgeError, match="more than 1000 element names"):
        list(tmx(io.BytesIO(b"<tmx><body>" + names + b"</body></tmx>")))


@pytest.mark.filterwarnings("ignore::treebridge.errors.Notice")
@pytest.mark.parametrize("again", [b"a ", b"a", b")", b"a b. ", b"\xe6\x88\x91", b"a\t"])
def test_endless_raw_text_is_parsed_as_it_comes(again: bytes) -> None:
    for sentence in islice(read_sentences(Endless(b"First. ", again)), 40):
        assert 0 < len(sentence) <= MAX_WORDS
        assert sum(map(len, sentence.forms)) <= 2 * MAX_LINE


def test_an_endless_line_comes_in_pieces() -> None:
    for again in (b"ab ", b"\xe6\x88\x91"):
        first, second, third = islice(read_text(Endless(b"", again), cut_long=True), 3)
        assert {number for number, _ in (first, second, third)} == {1}
        assert all(MAX_LINE // 4 < len(text) <= MAX_LINE for _, text in (first, second, third))


@pytest.mark.parametrize("chunk", [1, 1000, 1 << 20])
def test_long_lines_do_not_depend_on_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treebridge.corpus.files.MAX_LINE", 1000)
    monkeypatch.setattr("treebridge.corpus.files.CHUNK", min(chunk, 1000))
    text = "a\n" + "ab é " * 900 + "\n" + "我" * 700 + "\n" + "x" * 999 + "\nend"

    def read(**settings: bool) -> list[tuple[int, str]]:
        return list(read_lines(io.BytesIO(text.encode()), **settings))

    pieces = read(cut_long=True)
    assert "".join(piece for _, piece in pieces) == text.replace("\n", "")
    assert [number for number, _ in pieces] == [1, *[2] * 6, *[3] * 3, 4, 5]
    assert max(len(piece.encode()) for _, piece in pieces) <= 1000
    assert pieces == [(1, "a"), *pieces[1:]] and pieces[1][1].endswith(" ")
    with pytest.raises(TreebridgeError, match=":2: the line has more than 1,000 bytes"):
        read()


@pytest.mark.parametrize("name", ["a.tsv.xz", "a.tmx.xz", "a.vec.xz", "a.conllu.xz"])
def test_bombs_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    begin = {".tsv": b"a\tb\n", ".tmx": TU, ".vec": b"9 2\n"}.get(Path(name).suffixes[0], b"")
    path.write_bytes(lzma.compress(begin + b"a" * FAR, preset=0))
    assert path.stat().st_size < FAR / 1000
    with pytest.raises(TreebridgeError, match=name):
        if ".vec" in name:
            StaticEncoder(path)
        elif ".conllu" in name:
            list(read_conllu(path))
        else:
            list(read_pairs(path))


def test_vectors_beyond_the_memory_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treebridge.encode.static.MAX_TABLE", 1 << 20)
    path = tmp_path / "a.vec.gz"
    path.write_bytes(gzip.compress(b"".join(b"w%d" % i + b" 1" * 100 + b"\n" for i in range(3000))))
    with pytest.raises(TreebridgeError, match="the vectors take more than"):
        StaticEncoder(path)
    assert StaticEncoder(path, words=["w7"]).dim == 100


def test_text_for_pre_training_comes_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "text8.gz"
    path.write_bytes(gzip.compress(b"some words " * 400_000))
    lines = list(read_side([path]))
    assert len(lines) == 5 and max(map(len, lines)) <= MAX_LINE
    assert set(" ".join(lines).split()) == {"some", "words"}


def test_chunks_are_of_bounded_size() -> None:
    lines = iter(["a" * 10] * 10 + ["b" * 1000, "c"])
    assert [len(take(lines, 4, 35)) for _ in range(4)] == [4, 4, 3, 1]
    assert take(lines, 4, 35) == []


def test_a_text_of_one_long_line_is_split_in_bounded_memory() -> None:
    def peak(words: int) -> int:
        text = ["word " * words]
        tracemalloc.start()
        for sentence in Splitter().sentences(text):
            assert len(sentence) <= MAX_WORDS
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    with pytest.warns(UserWarning, match="was split"):
        assert peak(24_000) < 1.2 * peak(8_000)
