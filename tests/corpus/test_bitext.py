"""Bitext: every file kind gives the same pairs; filters count; broken files are named."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from treebridge import Bitext, TreebridgeError
from treebridge.corpus import bitext as bitext_module
from treebridge.corpus.bitext import Filters
from treebridge.corpus.pairs import read_pairs

PAIRS = [("The cat sleeps.", "O gato dorme."), ("I don't know.", "Não sei."), ("Yes!", "Sim!")]

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header/><body>
<tu><tuv xml:lang="pt-BR"><seg>O gato dorme.</seg></tuv>
    <tuv xml:lang="EN-US"><seg>The <bpt i="1">&lt;b&gt;</bpt>cat<ept i="1">x</ept>
       <hi>sleeps</hi>.</seg></tuv></tu>
<tu><tuv xml:lang="pt"><seg>Só português</seg></tuv></tu>
<tu><tuv lang="en"><seg>I don't know.</seg></tuv><tuv lang="pt"><seg>Não sei.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Yes!</seg></tuv><tuv xml:lang="pt"><seg>Sim!</seg></tuv></tu>
</body></tmx>
"""


def write(path: Path, text: str) -> Path:
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_every_kind_of_file_gives_the_same_pairs(tmp_path: Path) -> None:
    sides = ["\n".join(side) + "\n" for side in zip(*PAIRS, strict=True)]
    lines = {separator: "".join(f"{a}{separator}{b}\n" for a, b in PAIRS) for separator in "\t|"}
    files: list[tuple[Path, ...]] = [
        (write(tmp_path / "a.tsv", lines["\t"]),),
        (write(tmp_path / "a.tsv.gz", lines["\t"]),),
        (write(tmp_path / "scored.tsv", lines["\t"].replace("\n", "\t0.5\n")),),
        (write(tmp_path / "crlf.tsv", "\ufeff" + lines["\t"].replace("\n", "\r\n")),),
        (write(tmp_path / "a.txt", lines["|"].replace("|", " ||| ")),),
        (write(tmp_path / "c.en", sides[0]), write(tmp_path / "c.pt.gz", sides[1])),
        (write(tmp_path / "a.tmx", TMX),),
        (write(tmp_path / "a.tmx.gz", TMX),),
    ]
    opus = tmp_path / "opus.zip"
    with zipfile.ZipFile(opus, "w") as archive:
        archive.writestr("LICENSE", "free")
        archive.writestr("README", "read me")
        # The foreign side comes first, as in OPUS's el-en.
        archive.writestr("Corpus.ca-en.ca", sides[1])
        archive.writestr("Corpus.ca-en.en", sides[0])
        archive.writestr("Corpus.ca-en.ids", "1\n2\n3\n")
    files.append((opus,))
    tmx_zip = tmp_path / "tmx.zip"
    with zipfile.ZipFile(tmx_zip, "w") as archive:
        archive.writestr("en-pt.tmx", TMX)
    files.append((tmx_zip,))
    for paths in files:
        assert list(read_pairs(*paths)) == PAIRS, paths


def test_words_and_languages(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "I don't know well-known things.\tNão sei bem-vindo.\n")
    (pair,) = Bitext.read(path)
    assert pair.source == ["I", "do", "n't", "know", "well", "-", "known", "things", "."]
    assert pair.target == ["Não", "sei", "bem-vindo", "."]
    (pair,) = Bitext.read(path, engine="spaces")
    assert pair.source == ["I", "don't", "know", "well-known", "things."]


def test_filters_count_every_reason(tmp_path: Path) -> None:
    lines = [
        *[f"{a}\t{b}" for a, b in PAIRS],
        "\tvazio",
        "  \t ",
        "",
        "OK\tOK",
        "Yes!\tSim!",
        f"{'a ' * 151}\t{'b ' * 150}",
        f"{'a ' * 150}\t{'b ' * 150}",
        "one\tum dois três quatro",
        "one\tum dois três",
    ]
    path = write(tmp_path / "a.tsv", "\n".join(lines) + "\n")
    bitext = Bitext.read(path)
    walk = iter(bitext)
    assert len(list(walk)) == 5
    assert walk.counts.read == len(lines)
    assert walk.counts.left_out() == {
        "empty": 3,
        "identical": 1,
        "duplicate": 1,
        "too_long": 1,
        "unequal": 1,
    }
    assert str(walk.counts).startswith("5 of 12 pairs (left out: 3 empty, 1 identical")
    assert len(list(bitext)) == 5  # a second walk starts afresh
    loose = Filters(max_words=1000, max_ratio=99, drop_identical=False, drop_duplicates=False)
    assert len(list(Bitext.read(path, filters=loose))) == 9
    assert len(list(Bitext.read(path, limit=2))) == 2


def test_walks_inside_one_another_count_for_themselves(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "".join(f"a {i}\tb {i}\n" for i in range(5)) + "x\tx\n")
    bitext = Bitext.read(path)
    outer = iter(bitext)
    for number, _ in enumerate(outer, 1):
        inner = iter(bitext)
        next(inner)
        assert (outer.counts.read, inner.counts.read) == (number, 1)
    assert (outer.counts.read, outer.counts.kept, outer.counts.identical) == (6, 5, 1)


def test_duplicates_are_remembered_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bitext_module, "REMEMBERED", 10)
    lines = [f"a {i % 15}\tb {i % 15}\n" for i in range(30)]
    path = write(tmp_path / "a.tsv", "".join(lines))
    assert len(list(Bitext.read(path))) == 15
    seen = bitext_module._Seen()
    for i in range(1000):
        seen.before((str(i), ""))
    assert len(seen._new) + len(seen._old) <= 20


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "a\tb\nno separator\n", r"a.tsv:2: no tab between source and target"),
        ("a.txt", "a ||| b\na | b\n", r"a.txt:2: no \|\|\| between source and target"),
        ("a.txt", "a ||| b\na ||| b ||| c\n", r"a.txt:2: expected one \|\|\| per line, found 2"),
        ("a.tmx", "<tmx>\n<body></tmx>", r"a.tmx:2: this is not well-formed XML"),
    ],
)
def test_broken_files_are_named(name: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TreebridgeError, match=message):
        list(Bitext.read(write(tmp_path / name, text)))


def test_parallel_files_of_different_length(tmp_path: Path) -> None:
    long = write(tmp_path / "c.en", "a\nb\nc\n")
    short = write(tmp_path / "c.pt", "a\nb")
    for files in [(long, short), (short, long)]:
        with pytest.raises(TreebridgeError, match=r"c.en:3: .*c.pt has 2 lines"):
            list(read_pairs(*files))


def test_zip_without_the_language(tmp_path: Path) -> None:
    path = tmp_path / "opus.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Corpus.de-fr.de", "a\n")
        archive.writestr("Corpus.de-fr.fr", "b\n")
    with pytest.raises(TreebridgeError, match=r"opus.zip: no two files ending in \.en"):
        list(read_pairs(path))
    assert list(read_pairs(path, source_language="fr")) == [("b", "a")]


def test_wrong_number_of_files() -> None:
    with pytest.raises(TreebridgeError, match="expected one file or two parallel files, found 3"):
        Bitext.read("a", "b", "c")
    with pytest.raises(TreebridgeError, match=r"nowhere.tsv: file not found"):
        list(Bitext.read("nowhere.tsv"))
