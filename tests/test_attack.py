"""Bad input of every kind, through the command line: exit code 2, one sentence, nothing half-written.

Each case is a command line and the files it names. Whatever is wrong with them, standard output
stays empty, standard error ends in one line, and the folder holds what it held before.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import shutil
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import Run
from treebridge.corpus.artificial import World

WORLD = World(3)
GOOD = "".join(tree.to_conllu() for tree in WORLD.treebank("source", 40)).encode()
PAIRS = b"the dog sleeps\tu kan dorme\n" * 2 + b"a cat eats\tun gat man\n"


class Case(NamedTuple):
    """A command line, and the files that it needs beside the good ones."""

    name: str
    command: str
    files: dict[str, bytes]


def row(*changes: tuple[int, str]) -> bytes:
    """A sentence of one word with some of its columns changed."""
    columns = ["1", "Go", "go", "VERB", "_", "_", "0", "root", "_", "_"]
    for column, value in changes:
        columns[column] = value
    return ("\t".join(columns) + "\n\n").encode()


def two(first: str, second: str) -> bytes:
    """A sentence of two words with these heads."""
    return (
        f"1\tA\t_\tX\t_\t_\t{first}\tdep\t_\t_\n2\tB\t_\tX\t_\t_\t{second}\tdep\t_\t_\n\n"
    ).encode()


def zipped(damage: str = "") -> bytes:
    """A zip of parallel text, damaged."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x.en-pt.en", "a b c\n" * 20)
        if damage != "one side":
            archive.writestr("x.en-pt.pt", "d e f\n" * 20)
    data = bytearray(stream.getvalue())
    start = data.index(b"a b c")
    if damage == "crc":
        data[start] ^= 1
    entry = data.index(b"PK\x01\x02")
    if damage == "encrypted":
        for place in (6, entry + 8):
            data[place] |= 1
    if damage == "method":
        for place in (8, entry + 10):
            data[place : place + 2] = struct.pack("<H", 99)
    if damage == "cut":
        del data[len(data) // 2 :]
    return bytes(data)


TMX = (
    b'<?xml version="1.0" encoding="%s"?><tmx version="1.4"><header srclang="en"/><body>'
    b'<tu><tuv xml:lang="en"><seg>a b</seg></tuv><tuv xml:lang="pt"><seg>c d</seg></tuv></tu>'
    b"</body></tmx>"
)

TREEBANKS = {
    "empty": b"",
    "blank": b"\n\n\n",
    "not-utf8": row((1, "X")).replace(b"X", b"\xe1"),
    "utf16": GOOD.decode().encode("utf-16"),
    "nul": row((1, "A\x00B")),
    "nine-columns": b"1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\n\n",
    "eleven-columns": row()[:-2] + b"\tmore\n\n",
    "spaces": row().replace(b"\t", b" "),
    "id-word": row((0, "one")),
    "id-gap": row((0, "2")),
    "id-zero": row((0, "0")),
    "empty-form": row((1, "")),
    "empty-deprel": row((7, "")),
    "line-separator-in-deprel": row((7, "ro\u2028ot")),
    "space-in-upos": row((3, "VE RB")),
    "head-word": row((6, "x")),
    "head-negative": row((6, "-1")),
    "head-beyond": row((6, "7")),
    "head-fraction": row((6, "0.5")),
    "no-root": two("2", "1"),
    "two-roots": two("0", "0"),
    "self-head": two("0", "2"),
    "no-head": two("0", "_"),
    "range-backwards": b"2-1\tdo\t_\t_\t_\t_\t_\t_\t_\t_\n" + row(),
    "range-beyond": b"1-4\tdo\t_\t_\t_\t_\t_\t_\t_\t_\n" + row(),
    "cut-gz": gzip.compress(GOOD * 40)[:-300],
    "cut-xz": lzma.compress(GOOD * 40)[:-30],
    "cut-bz2": bz2.compress(GOOD * 40)[:-30],
    "flipped-gz": bytes([*gzip.compress(GOOD)[:60], 0xFF, 0xFF, *gzip.compress(GOOD)[62:]]),
    "endless-line": b"x" * 3_000_000,
}  # fmt: skip
NO_TREES = {"no-root", "two-roots", "self-head", "no-head"}  # can be drawn all the same

BITEXTS = {
    "empty.tsv": b"",
    "no-tab.tsv": b"a b c\nd e f\n",
    "gap.tsv": PAIRS + b"only one side\n",
    "not-utf8.tsv": b"a\tol\xe1\n",
    "nul.tsv": b"a\x00b\tc\n",
    "one-empty-side.tsv": b"\tb\n" * 5,
    "identical.tsv": b"same\tsame\n" * 30,
    "no-xml.tmx": b"not xml at all",
    "encoding.tmx": TMX % b"klingon-8",
    "deep.tmx": b"<tmx>" + b"<a>" * 100_000,
    "cut.tmx": (TMX % b"utf-8")[:-40],
    "other-language.tmx": (TMX % b"utf-8").replace(b'"en"', b'"xx"'),
    "cut.tmx.gz": gzip.compress((TMX % b"utf-8") * 3)[:-20],
    "cut.tmx.xz": lzma.compress((TMX % b"utf-8") * 3)[:-20],
    "cut.tmx.bz2": bz2.compress((TMX % b"utf-8") * 3)[:-20],
    "cut.tsv.gz": gzip.compress(PAIRS * 400)[:-40],
    "crc.zip": zipped("crc"),
    "encrypted.zip": zipped("encrypted"),
    "method.zip": zipped("method"),
    "one-side.zip": zipped("one side"),
    "cut.zip": zipped("cut"),
    "nothing.zip": b"PK\x03\x04",
    "endless-line.tsv": b"x " * 1_500_000 + b"\ty\n",
}

VECTORS = {
    "empty.vec": b"",
    "header-only.vec": b"3 4\n",
    "rows-missing.vec": b"3 2\na 1 2\nb 3 4\n",
    "rows-too-many.vec": b"1 2\na 1 2\nb 3 4\n",
    "dimensions.vec": b"2 3\na 1 2 3\nb 4 5\n",
    "decimal-commas.vec": b"2 2\na 1,5 2,5\nb 3,1 4,2\n",
    "letters.vec": b"2 2\na 1 x\nb 3 4\n",
    "not-a-number.vec": b"2 2\na 1 nan\nb 3 4\n",
    "garbage.vec": bytes(range(256)) * 8,
    "binary-cut.bin": b"5 4\nword " + struct.pack("4f", 1, 2, 3, 4)[:-3],
    "fasttext-flipped.bin": struct.pack("<ii", 793712314, 12) + b"\xff" * 60,
    "fasttext-cut.bin": struct.pack("<ii", 793712314, 12) + b"\x00" * 8,
    "cut.vec.gz": gzip.compress(b"2 2\na 1 2\nb 3 4\n" * 90)[:-12],
    "cut.vec.xz": lzma.compress(b"2 2\na 1 2\nb 3 4\n" * 90)[:-12],
}

LINKS = {
    "word": b"0-0\nx-1\n0-0\n",
    "beyond": b"0-0\n0-99\n0-0\n",
    "too-few": b"0-0\n",
    "too-many": b"0-0\n" * 9,
    "not-utf8": b"0-0\n\xff\n0-0\n",
}

GOLD = {
    "two-columns": b"a\tb\n",
    "empty": b"",
    "bad-link": b"a\tb\t0_0\n",
    "beyond": b"a\tb\t0-7\n",
}

CONFIGS = {
    "list": b"[]",
    "not-json": b"{",
    "empty": b"",
    "binary": b"\xff\xfe\x00",
    "number": b"7",
    "no-format": b'{"treebridge": "parser"}',
    "format-word": b'{"treebridge": "parser", "format": "one"}',
    "newer": b'{"treebridge": "parser", "format": 99}',
    "other-kind": b'{"treebridge": "bridge", "format": 1}',
    "an-encoder": b'{"model_type": "bert"}',
    "deep": b"[" * 100_000,
}

TRAIN = "train good.conllu --encoder home/vectors.vec -o out"
COMMANDS = {
    "seed-negative": f"{TRAIN} --seed -1",
    "seed-huge": f"{TRAIN} --seed 1073741824",
    "seed-of-bridge": "bridge pairs.tsv --into home/model --target-encoder home/turned.vec "
    "--seed -1 -o out",
    "seed-of-refine": "refine --model home/bridged --trees good.conllu --seed 1073741824 -o out",
    "seed-of-pretrain": "pretrain text.txt --seed -3 -o out",
    "device-absent": "parse --model home/model text.txt --device mps",
    "device-unknown": f"{TRAIN} --device abacus",
    "minutes-nan": "pretrain text.txt --minutes nan -o out",
    "minutes-inf": "pretrain text.txt --minutes inf -o out",
    "minutes-zero": "pretrain text.txt --minutes 0 -o out",
    "minutes-negative": "pretrain text.txt --minutes -5 -o out",
    "two-budgets": "pretrain text.txt --minutes 1 --tokens 5 -o out",
    "masked-all": "pretrain text.txt --masked 1.5 -o out",
    "learning-rate-nan": "pretrain text.txt --learning-rate nan -o out",
    "heads-odd": "pretrain text.txt --heads 7 -o out",
    "hardly-any-text": "pretrain text.txt --tokens 1k -o out",
    "text-missing": "pretrain nowhere.txt --tokens 1k -o out",
    "treebank-missing": "train nowhere.conllu --encoder home/vectors.vec -o out",
    "treebank-is-a-folder": "train home --encoder home/vectors.vec -o out",
    "encoder-missing": "train good.conllu --encoder ./nowhere -o out --offline",
    "encoder-is-a-treebank": "train good.conllu --encoder good.conllu -o out",
    "output-under-a-file": "train good.conllu --encoder home/vectors.vec -o good.conllu/out",
    "output-is-a-file": "train good.conllu --encoder home/vectors.vec -o text.txt",
    "output-of-another-kind": "train good.conllu --encoder home/vectors.vec -o home",
    "output-name-too-long": f"{TRAIN}{'x' * 300}",
    "parse-onto-a-folder": "parse --model home/model text.txt -o home --force",
    "parse-onto-a-file": "parse --model home/model text.txt -o good.conllu",
    "draw-onto-a-file": "draw good.conllu -o text.txt",
    "draw-svg-of-many": "draw good.conllu --format svg",
    "draw-sentence-zero": "draw good.conllu --sentences 0",
    "draw-sentences-backwards": "draw good.conllu --sentences 5-3",
    "draw-sentences-beyond": "draw good.conllu --sentences 99",
    "draw-sentences-word": "draw good.conllu --sentences first",
    "model-unknown": "parse --model klingon text.txt",
    "model-none": "parse text.txt",
    "model-a-file": "parse --model good.conllu text.txt",
    "model-a-bridge": "parse --model home/bridged/bridge text.txt",
    "model-an-empty-folder": "parse --model empty text.txt",
    "text-not-there": "parse --model home/model nowhere.txt",
    "text-empty": "parse --model home/model blank.txt",
    "text-not-utf8": "parse --model home/model latin.txt",
    "contractions-bad": "parse --model home/model text.txt --mwt good.conllu",
    "contractions-missing": "parse --model home/model text.txt --mwt nowhere.tsv",
    "evaluate-one-file": "evaluate good.conllu",
    "evaluate-three-files": "evaluate good.conllu good.conllu good.conllu",
    "evaluate-two-inputs": "evaluate - -",
    "evaluate-other-words": "evaluate other.conllu good.conllu",
    "evaluate-model-missing": "evaluate --model klingon good.conllu",
    "inspect-nothing-named": "inspect -",
    "inspect-word-alone": "inspect pairs.tsv --word bank",
    "align-missing": "align nowhere.tsv",
    "align-unequal-files": "align long.txt text.txt -o out",
    "align-model-missing": "align pairs.tsv --model nowhere -o out",
    "align-model-and-aligner": "align pairs.tsv --model nowhere --aligner hmm -o out",
    "bridge-into-nothing": "bridge pairs.tsv --target-encoder home/turned.vec -o out",
    "bridge-without-target": "bridge pairs.tsv --into home/model -o out",
    "bridge-links-missing": "bridge pairs.tsv --into home/model "
    "--target-encoder home/turned.vec --links nowhere -o out",
    "bridge-hardly-any-text": "bridge pairs.tsv --into home/model "
    "--target-encoder home/turned.vec --no-check-sides -o out",
    "bridge-from-stdin": "bridge - --into home/model --target-encoder home/turned.vec -o out",
    "refine-nothing-given": "refine --model home/bridged -o out",
    "refine-no-bridge": "refine --model home/model --trees good.conllu -o out",
    "refine-no-trees": "refine --model home/bridged --trees blank.txt -o out",
    "build-treebank-missing": "build --treebank nowhere.conllu --bitext pairs.tsv "
    "--source-encoder home/vectors.vec --target-encoder home/turned.vec -o out",
    "build-bitext-missing": "build --treebank good.conllu --bitext nowhere.tsv "
    "--source-encoder home/vectors.vec --target-encoder home/turned.vec -o out",
    "build-three-bitexts": "build --treebank good.conllu --bitext a --bitext b --bitext c "
    "--source-encoder home/vectors.vec --target-encoder home/turned.vec -o out",
    "pack-no-such-bits": "pack home/bridged --bits 3 -o out",
    "pack-card-missing": "pack home/bridged --card nowhere.toml -o out",
    "pack-card-bad": "pack home/bridged --card good.conllu -o out",
    "reproduce-language": "reproduce table1 --languages klingon --offline -o out",
    "reproduce-system": "reproduce table1 --languages pt --systems magic --offline -o out",
    "reproduce-group": "reproduce ablation --groups magic --offline -o out",
    "reproduce-encoder": "reproduce table1 --encoder nonsense --offline -o out",
    "serve-model-missing": "serve --model klingon --port 0",
}


def cases() -> Iterator[Case]:
    for name, content in TREEBANKS.items():
        file = {f"{name}.conllu": content}
        train = f"train {name}.conllu --encoder home/vectors.vec -o out"
        yield Case(f"train {name}", train, file)
        if name not in NO_TREES:
            yield Case(f"draw {name}", f"draw {name}.conllu -o out.html", file)
    for name, content in BITEXTS.items():
        yield Case(f"align {name}", f"align {name} -o out", {name: content})
    for name, content in VECTORS.items():
        train = f"train good.conllu --encoder {name} -o out"
        yield Case(f"vectors {name}", train, {name: content})
    for name, content in LINKS.items():
        bridge = "bridge pairs.tsv --into home/model --target-encoder home/turned.vec --links links"
        yield Case(f"links {name}", f"{bridge} --no-check-sides -o out", {"links": content})
    for name, content in GOLD.items():
        yield Case(f"gold {name}", "align pairs.tsv --score gold -o out", {"gold": content})
    for name, content in CONFIGS.items():
        parse = "parse --model damaged text.txt -o out"
        yield Case(f"config {name}", parse, {"damaged/config.json": content})
    for name, command in COMMANDS.items():
        yield Case(name, command, {})


CASES = list(cases())


def test_there_are_many_kinds_of_bad_input() -> None:
    assert len(CASES) >= 120 and len({case.name for case in CASES}) == len(CASES)


@pytest.fixture
def place(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with good files of every kind."""
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path.parent / f"{tmp_path.name}-cache"))
    (tmp_path / "home").symlink_to(home)
    (tmp_path / "empty").mkdir()
    for name, content in {
        "good.conllu": GOOD,
        "other.conllu": row(),
        "pairs.tsv": PAIRS,
        "text.txt": b"One line of text.\n",
        "long.txt": b"One line.\nAnother.\n",
        "blank.txt": b"\n\n",
        "latin.txt": b"Ol\xe1 mundo\n",
    }.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_bad_input_is_one_sentence(case: Case, place: Path, home: Path, here: Run) -> None:
    if "damaged/config.json" in case.files:
        shutil.copytree(home / "model", place / "damaged")
    for name, content in case.files.items():
        (place / name).write_bytes(content)
    before = contents(place)
    done = here(*case.command.split())
    assert done.returncode == 2, done.stderr or done.stdout
    *notes, sentence = done.stderr.strip().split("\n")
    assert sentence.startswith("error: ") and len(sentence) < 500, done.stderr
    assert "Traceback" not in done.stderr and len(notes) < 8
    assert done.stdout == ""
    assert contents(place) == before


def test_the_cases_are_bad_because_of_what_they_say(place: Path, here: Run) -> None:
    """The same commands with good files end well, so that it is the damage which is refused."""
    good = "train good.conllu --encoder home/vectors.vec -o out --preset small --epochs 1"
    for command in (good, "draw good.conllu -o out.html", "align pairs.tsv -o links"):
        done = here(*command.split())
        assert done.returncode == 0, done.stderr
    assert json.loads((place / "out" / "config.json").read_text())["treebridge"] == "parser"
