"""Bad input of every kind, through every reader: one sentence with file and line, no traceback."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from treebridge import Treebank, TreebridgeError
from treebridge.corpus.files import read_lines
from treebridge.corpus.input import read_sentences
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.pairs import read_pairs
from treebridge.corpus.statistics import kind_of, text_statistics


def row(**cells: str) -> str:
    names = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
    usual = dict.fromkeys(names, "_") | {"ID": "1", "FORM": "a", "HEAD": "0", "DEPREL": "root"}
    return "# text = a\n" + "\t".join((usual | cells)[name] for name in names) + "\n\n"


def tmx(declaration: str = "", text: str = "a") -> str:
    unit = "".join(f'<tuv xml:lang="{x}"><seg>{text}</seg></tuv>' for x in ("en", "pt"))
    return f"{declaration}<tmx><body><tu>{unit}</tu></body></tmx>"


CONLLU = [
    (row(FORM="a\x00b"), r":2: NUL byte"),
    (row() + row(DEPREL="ro\x00ot"), r":5: NUL byte"),
    (row(DEPREL=""), r":2: DEPREL is empty; write _ for no value"),
    (row(UPOS=""), r":2: UPOS is empty"),
    (row(FORM=""), r":2: FORM is empty"),
    (row(LEMMA=""), r":2: LEMMA is empty"),
    (row(FEATS=""), r":2: FEATS is empty"),
    (row(MISC=""), r":2: MISC is empty"),
    (row(HEAD=""), r":2: HEAD is empty"),
    (row(DEPREL="ro\u2028ot"), r":2: DEPREL has the character U\+2028; remove it"),
    (row(DEPREL="ro\u2029ot"), r":2: DEPREL has the character U\+2029"),
    (row(DEPREL="ro ot"), r":2: DEPREL has the character U\+0020"),
    (row(DEPREL="root\u00a0"), r":2: DEPREL has the character U\+00A0"),
    (row(DEPREL="ro\x07ot"), r":2: DEPREL has the character U\+0007"),
    (row(DEPREL="\u202eroot"), r":2: DEPREL has the character U\+202E"),
    (row(DEPREL="root\u200b"), r":2: DEPREL has the character U\+200B"),
    (row(DEPREL="root\r"), r":2: DEPREL has the character U\+000D"),
    (row(UPOS="NO\x85UN"), r":2: UPOS has the character U\+0085"),
    (row(XPOS="a b"), r":2: XPOS has the character U\+0020"),
    (row(FEATS="A=\x0cb"), r":2: FEATS has the character U\+000C"),
    (row(DEPS="0:ro ot"), r":2: DEPS has the character U\+0020"),
    ("﻿\n" + row(ID="x"), r":3: ID 'x' is not a number"),
]
PAIRS = [
    ("a.tsv", "a\tb\na\x00\tb\n", r"a.tsv:2: NUL byte"),
    ("a.tsv", "a\tb\x00", r"a.tsv:1: NUL byte"),
    ("a.tmx", tmx('<?xml version="1.0" encoding="klingon"?>'), r"a.tmx:1: .*klingon.*UTF-8"),
    ("a.tmx", tmx('<?xml version="1.0" encoding="utf-7"?>'), r"a.tmx:1: .*convert it to UTF-8"),
    ("a.tmx", tmx('<?xml version="1.0" encoding="shift_jis"?>'), r"a.tmx:1: .*convert it to UTF"),
    ("a.tmx", tmx(text="<hi>" * 5000 + "</hi>" * 5000), r"a.tmx: more than 100 nested elements"),
    ("a.tmx", tmx(text="&lol;"), r"a.tmx:1: this is not well-formed XML \(undefined entity"),
    ("a.tmx", "", r"a.tmx:1: this is not well-formed XML \(no element found"),
    ("a.tmx", tmx()[:-9], r"a.tmx:1: this is not well-formed XML"),
    ("a.tmx", "\x00\x01\x02", r"a.tmx:1: this is not well-formed XML"),
]


@pytest.mark.parametrize(("text", "message"), CONLLU)
def test_treebanks(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(TreebridgeError, match=r"a.conllu" + message) as caught:
        Treebank.read(path)
    assert "\n" not in str(caught.value)


def test_what_a_treebank_may_hold(tmp_path: Path) -> None:
    """White space in FORM, LEMMA, MISC; tabs in comments; joiners in enhanced dependencies."""
    text = "# a\t\tb\t\n" + row(FORM="10 000", LEMMA="10\u00a0000", MISC="a= b", DEPS="1:nmod:به‌")
    path = tmp_path / "a.conllu"
    path.write_text(text, encoding="utf-8")
    assert Treebank.read(path)[0].to_conllu() == text


@pytest.mark.parametrize(("name", "text", "message"), PAIRS)
def test_bitexts(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(TreebridgeError, match=message) as caught:
        list(read_pairs(path))
    assert "\n" not in str(caught.value)


def test_entities_do_not_multiply(tmp_path: Path) -> None:
    names = "abcdefghij"
    entities = "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in itertools.pairwise(names)
    )
    path = tmp_path / "a.tmx"
    path.write_text(tmx(f'<!DOCTYPE x [<!ENTITY a "{"lol" * 10}">{entities}]>', "&j;"))
    with pytest.raises(TreebridgeError, match=r"a.tmx:1: .*not well-formed"):
        list(read_pairs(path))


READERS: list[Callable[[Path], Iterable[object]]] = [
    read_lines,
    read_pairs,
    read_sentences,
    Treebank.read,
    lambda path: [Contractions.read(path)],
    lambda path: [text_statistics(path)],
    lambda path: [kind_of(path)],
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\tb\nc\x00\td\n", r":2: NUL byte"),
        (b"a\tb\n\xff\tb\n", r":2: byte 0xff is not UTF-8"),
        (b"\xff\xfea\x00", r":1: this is UTF-16"),
        (b"a\tb\n" + b"\x80" * 2_000_000, r":2: (byte 0x80 is not UTF-8|the line has more than)"),
        (b"\x1f\x8b\x08\x00cut", r": .*damaged or truncated"),
        (b"PK\x03\x04cut", r": this zip archive"),
    ],
)
def test_what_no_reader_takes(
    read: Callable[[Path], Iterable[object]], data: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "input.any"
    path.write_bytes(data)
    with pytest.raises(TreebridgeError, match=f"input.any{message}"):
        for _ in read(path):
            pass


@pytest.mark.parametrize("read", READERS)
def test_files_that_cannot_be_opened(
    read: Callable[[Path], Iterable[object]], tmp_path: Path
) -> None:
    for path, message in [
        (tmp_path, "this is a folder"),
        (tmp_path / "none", "file not found"),
        (tmp_path / ("long" * 100), "cannot be opened: File name too long"),
        (Path(__file__) / "below", "cannot be opened: Not a directory"),
    ]:
        with pytest.raises(TreebridgeError, match=message):
            list(read(path))
