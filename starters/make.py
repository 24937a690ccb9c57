"""Make a shipped model from raw data: encoders, parsers, bridges, refining, packing.

python starters/make.py LANG DATA WORK [-o FOLDER] [--quick]

LANG is es, pt, ro, pl, fi or el. DATA has ud-2.6/UD_English-EWT and the other treebanks beside it,
bitext/en-LANG.tsv.xz and text/LANG.txt.xz, with text/en.txt.xz. An English parser learns
from English trees and, through bridges, from those of the languages that LANG.toml names under
`also`; the bridge of LANG and `refine` take it to LANG. Everything in WORK serves the next language
too: an interrupted step resumes, a finished one is skipped. The card is made of LANG.toml,
sources.toml and the scores measured here; FOLDER is by default where the package ships its models.
Needs Python 3.11, and one core for about two hours for the first language. With --quick, every step
has a fortieth of its text, to see whether the data is complete; the model is a rough draft.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import tomllib

HERE = Path(__file__).resolve().parent
SHIPPED = HERE.parent / "src/treebridge/models"
LANGUAGES = sorted(path.stem for path in HERE.glob("??.toml"))
SCORES = ("UAS", "LAS", "CLAS", "UPOS")
ENGLISH_PIECES = 12_000_000
BITS = 5  # of a weight in the packed model
TREES = 10  # of the language, to see what they would gain
QUICK = 40  # how many times less text


class Maker:
    """The steps; each is a command whose result is kept in WORK."""

    def __init__(self, data: Path, work: Path, *, quick: bool = False):
        self.data, self.work, self.quick = data, work, quick
        ewt = data / "ud-2.6/UD_English-EWT/en_ewt-ud"
        self.english, self.english_dev = f"{ewt}-train.conllu", f"{ewt}-dev.conllu"

    def scaled(self, count: int) -> int:
        """A number of pieces, pairs or sentences; fewer for a quick trial."""
        return count // QUICK if self.quick else count

    def english_encoder(self) -> Path:
        """A small English BERT."""
        folder = self.work / "en-encoder"
        treebridge("pretrain", self.data / "text/en.txt.xz", self.data / "bitext/en-es.tsv.xz",
                   "--side", "source", "--tokens", self.scaled(ENGLISH_PIECES),
                   "-o", folder)  # fmt: skip
        return folder

    def english_parser(self) -> Path:
        """A parser of English."""
        folder = self.work / "en"
        treebridge("train", self.english, "--dev", self.english_dev,
                   "--encoder", self.english_encoder(), *self.network(), "-o", folder)  # fmt: skip
        return folder

    def network(self) -> list[object]:
        """Options for a smaller parser in a quick trial."""
        return ["--preset", "small", "--epochs", 1] if self.quick else []

    def bitext(self, code: str) -> Path:
        """The parallel text of a language and English."""
        return self.data / f"bitext/en-{code}.tsv.xz"

    def bridge(self, code: str) -> Path:
        """A bridge from an encoder, taught by the English one, into the English parser's space."""
        encoder, folder = self.work / f"{code}-encoder", self.work / f"en-{code}"
        pieces = read_toml(HERE / f"{code}.toml")["pieces"]
        treebridge("pretrain", self.data / f"text/{code}.txt.xz", self.bitext(code),
                   "--side", "target", "--tokens", self.scaled(pieces),
                   "--teacher", self.english_encoder(), "--pairs", self.scaled(60_000),
                   "-o", encoder)  # fmt: skip
        treebridge("bridge", self.bitext(code), "--into", self.english_parser(),
                   "--target-encoder", encoder, "--pairs", self.scaled(100_000),
                   "-o", folder)  # fmt: skip
        return folder

    def also(self, code: str) -> list[str]:
        """Options for the treebanks of other languages that the model learns from."""
        options = []
        for other in read_toml(HERE / f"{code}.toml")["also"]:
            assert other != code, "the file that scores a model must not train it"
            options += ["--also", f"{self.dev(other)}={self.bridge(other)}"]
        return options

    def lessons(self, code: str) -> list[str]:
        """Options for the parallel texts, with English and with other languages."""
        options = []
        for other in read_toml(HERE / f"{code}.toml")["carried_from"]:
            if other == "en":
                options += ["--bitext", str(self.bitext(code))]
                continue
            joined = self.work / f"{other}-{code}.tsv"
            treebridge("pivot", self.bitext(other), self.bitext(code), "-o", joined)
            options += ["--bitext", f"{joined}={self.bridge(other)}"]
        return options

    def dev(self, code: str) -> Path:
        """The dev file of a language."""
        return self.data / f"ud-2.6/{read_toml(HERE / f'{code}.toml')['treebank']}-ud-dev.conllu"

    def model(self, code: str) -> Path:
        """The refined parser."""
        hub, folder, bridge = self.english_parser(), self.work / code, self.bridge(code)
        if also := self.also(code):
            names = read_toml(HERE / f"{code}.toml")["also"]
            start, hub = hub, self.work / "-".join(["hub", *names])  # several targets share it
            treebridge("train", self.english, "--dev", self.english_dev,
                       "--encoder", self.english_encoder(), *also, *self.network()[:2],
                       "--start", start, "--epochs", 2, "-o", hub)  # fmt: skip
        lessons, english = self.lessons(code), ["--bitext", str(self.bitext(code))]
        way = read_toml(HERE / f"{code}.toml")
        how = ["--pairs", self.scaled(way["pairs"]), "--sentences", self.scaled(way["sentences"]),
               "--tune", way["tune"], "--treebank", self.english]  # fmt: skip
        with_english = lessons[:2] == english
        trees = folder if with_english else self.work / f"{code}-trees"
        treebridge("refine", "--model", hub, "--bridge", bridge, *lessons, *how, *also,
                   "-o", trees)  # fmt: skip
        if not with_english:  # trees come from near languages; features still need English
            treebridge("refine", "--model", trees, *english, *how, "--epochs", 0,
                       "-o", folder)  # fmt: skip
        return folder

    def gain(self, code: str, model: Path) -> str:
        """What a few trees of the language would gain, in a sentence for the card."""
        drawn, rest = split_trees(self.dev(code).read_text(encoding="utf-8"), TREES)
        trees, scored = self.work / f"{code}-trees.conllu", self.work / f"{code}-rest.conllu"
        trees.write_text(drawn, encoding="utf-8")
        scored.write_text(rest, encoding="utf-8")
        better = self.work / f"{code}-with-trees"
        treebridge("refine", "--model", model, "--trees", trees, "--no-validate",
                   "--force", "-o", better)  # fmt: skip
        before, after = (evaluate(one, scored) for one in (model, better))
        return (
            f"{TREES} trees of the language, drawn at random from the same file, took LAS from "
            f"{before['LAS']:.1f} to {after['LAS']:.1f} and UPOS from {before['UPOS']:.1f} to "
            f"{after['UPOS']:.1f} on the rest of it (`treebridge refine --trees`)."
        )

    def card(self, code: str) -> Path:
        """Score the model as it is shipped, and write its card."""
        card, sources = read_toml(HERE / f"{code}.toml"), read_toml(HERE / "sources.toml")
        packed = self.work / f"{code}-packed"
        treebridge("pack", self.work / code, "--bits", BITS, "--force", "-o", packed)
        found = evaluate(packed, self.dev(code))
        name = card["treebank"].partition("/")[0].replace("_", " ").replace("-", " ")
        scores = {"file": f"{name} 2.6 dev", "tags": "predicted", **{m: found[m] for m in SCORES}}
        config = json.loads((self.work / f"en-{code}/config.json").read_text("utf-8"))
        expected = config["quality"]["forecast"]
        limits = [
            *card["limits"],
            *sources["limits"],
            f"Before refining, and without any tree of the language, the forecast was LAS "
            f"{expected['LAS']:.0f} ± {expected['error']:.0f} on text like the parallel text.",
        ]
        used = [*card["sources"], *(f"trees-{other}" for other in card["also"])]
        tables = [("data", sources[key]) for key in used] + [("scores", scores)]
        head = {k: card[k] for k in ("language", "code", "summary", "licence", "examples")}
        head["gains"] = self.gain(code, packed)
        path = self.work / f"{code}.toml"
        path.write_text(to_toml({**head, "limits": limits}, tables), encoding="utf-8")
        return path


@cache
def treebridge(*arguments: object, output: bool = False) -> str:
    """Run a command, once, and show its progress; return what it prints, if asked."""
    command = [sys.executable, "-m", "treebridge", *map(str, arguments)]
    print("$ treebridge", *arguments, file=sys.stderr, flush=True)
    stdout = subprocess.PIPE if output else None
    done = subprocess.run(command, stdout=stdout, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout or ""


def evaluate(model: Path, gold: Path) -> dict[str, Any]:
    """Scores of a model on a file, by convention `paper`."""
    found = treebridge("evaluate", "--model", model, gold, "--json", output=True)
    return dict(json.loads(found))


def split_trees(conllu: str, count: int) -> tuple[str, str]:
    """Draw some sentences at random; the rest keeps its order."""
    sentences = [part + "\n\n" for part in conllu.strip().split("\n\n")]
    drawn = set(random.Random(1).sample(range(len(sentences)), count))
    taken, rest = ("".join(s for n, s in enumerate(sentences) if (n in drawn) is wanted)
                   for wanted in (True, False))  # fmt: skip
    return taken, rest


def to_toml(values: dict[str, Any], tables: list[tuple[str, dict[str, Any]]]) -> str:
    """Plain values, then arrays of tables; a JSON value is a TOML value."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    for name, table in tables:
        lines += ["", f"[[{name}]]"]
        lines += [
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()
        ]
    return "\n".join(lines) + "\n"


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    """Read the command line and make the model."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED)
    parser.add_argument("--quick", action="store_true", help="a fortieth of the text, to try it")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    maker = Maker(args.data, args.work, quick=args.quick)
    model = maker.model(args.language)
    treebridge("pack", model, "--bits", BITS, "--force", "--card", maker.card(args.language),
               "-o", args.output / args.language)  # fmt: skip


if __name__ == "__main__":
    main()
