"""FEATS, LEMMA and the lexicon on a dev file: zero-shot, refined, after a few trees.

OMP_NUM_THREADS=1 python benchmarks/columns.py --language es --target-encoder ENCODER --folder WORK

For each of `--seeds`: a parser of English EWT (preset small, encoder `en-marian-tiny`), a bridge
and `refine` on the first `--pairs` of the bitext, then `refine` with trees of the dev file;
finished steps and figures in `--folder` are used again. All figures are by convention conll18 on
the sentences of the dev file that are not drawn as trees. *Shared* are the features that English
has on more than pronouns; without Gender and Case. The simulated speaker answers `suggest` with the
gold tags of one half of the dev file (all tags that a form has in a tenth of its occurrences); the
other half is scored.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from common.shared import SHARED

UD = SHARED / "data/ud-2.6"
ENGLISH = UD / "UD_English-EWT"
DEV = {"es": "UD_Spanish-GSD/es_gsd", "pt": "UD_Portuguese-GSD/pt_gsd"}
NOT_SHARED = ("Gender", "Case")
POOL = 200  # sentences that trees are drawn from
TREES, FORMS = (10, 50, 100), (25, 50, 100)
Figures = dict[str, Any]


class Notebook:
    """Figures by language, seed and row, kept in a file so that a run can continue."""

    def __init__(self, file: Path, **known: Any):
        lines = file.read_text().splitlines() if file.exists() else []
        self.file, self.known, self.found = file, known, [json.loads(line) for line in lines]

    def has(self, row: str) -> bool:
        """Whether a row is there."""
        return any({**self.known, "row": row}.items() <= one.items() for one in self.found)

    def add(self, row: str, figures: Figures) -> None:
        """Keep and print a row."""
        rounded = {name: round(value, 2) for name, value in figures.items()}
        self.found.append({**self.known, "row": row, **rounded})
        with self.file.open("a") as lines:
            lines.write(json.dumps(self.found[-1]) + "\n")
        print(self.found[-1], flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--language", choices=list(DEV), required=True)
    arguments.add_argument("--target-encoder", required=True)
    arguments.add_argument("--source-encoder", default=str(SHARED / "encoders/en-marian-tiny"))
    arguments.add_argument("--folder", type=Path, required=True)
    arguments.add_argument("--pairs", type=int, default=20_000)
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    given = arguments.parse_args()
    for seed in given.seeds:
        run(given, seed)
    book = Notebook(given.folder / "figures.jsonl")
    print(table([one for one in book.found if one["language"] == given.language]))


def run(given: argparse.Namespace, seed: int) -> None:
    """All rows of a seed that are not there yet."""
    from treebridge import Bridge, BridgeSettings, Encoder, Parser, ParserSettings, Treebank
    from treebridge.corpus.bitext import Bitext
    from treebridge.parse.refinement import refine_parser
    from treebridge.parse.settings import RefineSettings

    language, place = given.language, given.folder / str(seed)
    place.mkdir(parents=True, exist_ok=True)
    book = Notebook(given.folder / "figures.jsonl", language=language, seed=seed)
    train = Treebank.read(ENGLISH / "en_ewt-ud-train.conllu")
    english_dev = Treebank.read(ENGLISH / "en_ewt-ud-dev.conllu")
    gold = list(Treebank.read(UD / f"{DEV[language]}-ud-dev.conllu"))
    random.Random(seed).shuffle(gold)
    pool, test = gold[:POOL], gold[POOL:]
    how = RefineSettings(seed=seed)
    bitext = Bitext.read(
        SHARED / f"data/bitext/en-{language}.tsv.xz", target_language=language, limit=given.pairs
    )

    def made(name: str, make: Callable[[], Parser]) -> Parser:
        if not (place / name).exists():
            make().save(place / name)
        return Parser.load(place / name)

    def train_english() -> Parser:
        settings = ParserSettings.preset("small", seed=seed)
        return Parser.train(train, Encoder.load(given.source_encoder), english_dev, settings)

    english = made("en", train_english)
    shared = [name for name in english.columns.features if name not in NOT_SHARED]

    def row(name: str, parser: Parser, sentences: Sequence = test) -> None:
        if not book.has(name):
            book.add(name, figures_of(parser, sentences, shared))

    row("English dev", english, list(english_dev))
    folder = place / f"bridge-{language}"
    if not folder.exists():
        encoder = Encoder.load(given.target_encoder)
        Bridge.fit(bitext, into=english.space, target=encoder, settings=BridgeSettings()).save(
            folder
        )
    bridged = english.across(Bridge.load(folder))
    row("zero-shot", bridged)
    refined = made(
        f"refined-{language}",
        lambda: refine_parser(bridged, how, bitext=bitext, treebank=train).parser,
    )
    row("refined", refined)
    row("refined, tags by context alone", replace(refined, tag_prior=None))
    suggestions(refined, gold, shared, book)
    for number in TREES:
        # With source trees, as the documentation advises.
        trees = pool[:number]
        better = made(
            f"trees-{language}-{number}",
            lambda trees=trees: refine_parser(refined, how, trees=trees, treebank=train).parser,
        )
        row(f"{number} trees", better)


def figures_of(parser: Any, gold: Sequence, shared: Sequence[str]) -> Figures:
    """UPOS, LAS, shared features, all features, XPOS and lemmas."""
    from treebridge.parse.score import score

    trees = [parsed.sentence for parsed in parser.parse(gold, retag=True)]
    scores = score(gold, trees, "conll18")
    found = {name: scores[name] for name in ("UPOS", "LAS")}
    found["shared features"] = accuracy(gold, trees, shared)
    found |= {name: scores[name] for name in ("UFeats", "XPOS", "Lemmas")}
    return {**found, "lemmas that gold has": lemma_accuracy(gold, trees)}


def table(found: Sequence[Figures]) -> str:
    """Means over seeds, and their standard deviation."""
    names = [name for name in found[0] if name not in ("language", "seed", "row")]
    lines = [f"| | {' | '.join(names)} | seeds |", "|---" * (len(names) + 2) + "|"]
    for row in dict.fromkeys(one["row"] for one in found):
        rows = [one for one in found if one["row"] == row]
        cells = []
        for name in names:
            values = [one[name] for one in rows if name in one]
            spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
            cells.append(f"{mean(values):.1f}{spread}" if values else "")
        lines.append(f"| {row} | {' | '.join(cells)} | {len(rows)} |")
    return "\n".join(lines)


def accuracy(gold: Sequence, system: Sequence, names: Sequence[str]) -> float:
    """Share of words with the right values of all these features, in percent."""
    from treebridge.corpus.feats import read_feats

    right = words = 0
    for wanted, found in zip(gold, system, strict=True):
        for one, other in zip(wanted.feats, found.feats, strict=True):
            left, right_side = read_feats(one), read_feats(other)
            right += all(left.get(name) == right_side.get(name) for name in names)
            words += 1
    return 100 * right / words


def lemma_accuracy(gold: Sequence, system: Sequence) -> float:
    """Share of right lemmas among words whose gold lemma is not `_`."""
    pairs = [
        (one, other)
        for wanted, found in zip(gold, system, strict=True)
        for one, other in zip(wanted.lemmas, found.lemmas, strict=True)
        if one != "_"
    ]
    return 100 * sum(one == other for one, other in pairs) / len(pairs)


def suggestions(parser: Any, gold: Sequence, shared: Sequence[str], book: Notebook) -> None:
    """Score a lexicon of the forms that `suggest` asks for."""
    from treebridge import Sentence
    from treebridge.corpus.lexicon import Entry, Lexicon
    from treebridge.recipes.suggest import suggest_from

    if book.has(f"{FORMS[-1]} forms"):
        return
    half = len(gold) // 2
    asked, scored = gold[:half], gold[half:]
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for tree in asked:
        for form, tag in zip(tree.forms, tree.upos, strict=True):
            answers[form.lower()][tag] += 1
    bare = [Sentence.from_words(tree.forms) for tree in asked]
    forms = suggest_from(parser, parser.parse(bare), max(FORMS))
    for number in (0, *FORMS):
        entries = [
            Entry(one.form, tag)
            for one in forms[:number]
            for tag, times in answers[one.form.lower()].items()
            if times >= 0.1 * answers[one.form.lower()].total()
        ]
        known = parser.with_lexicon(Lexicon(entries)) if entries else parser
        book.add(f"{number} forms", figures_of(known, scored, shared))


if __name__ == "__main__":
    main()
