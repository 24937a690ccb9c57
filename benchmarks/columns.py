"""FEATS, LEMMA and the lexicon on a dev file: zero-shot, refined, after a few trees.

OMP_NUM_THREADS=1 python benchmarks/columns.py --language es --target-encoder ENCODER --folder WORK

A parser of English EWT (preset small, encoder `en-marian-tiny`), a bridge and `refine` on the first
`--pairs` of the bitext, then `refine` with trees of the dev file; finished steps in `--folder` are
used again. All figures are by convention conll18 on the sentences of the dev file that are not
drawn as trees. *Shared* are the features that English has on more than pronouns; without Gender and
Case. The simulated speaker answers `suggest` with the gold tags of one half of the dev file (all
tags that a form has in a tenth of its occurrences); the other half is scored.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from common.shared import SHARED

UD = SHARED / "data/ud-2.6"
ENGLISH = UD / "UD_English-EWT"
DEV = {"es": "UD_Spanish-GSD/es_gsd", "pt": "UD_Portuguese-GSD/pt_gsd"}
NOT_SHARED = ("Gender", "Case")
POOL = 200  # sentences that trees are drawn from
TREES, FORMS = (10, 50, 100), (25, 50, 100)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--language", choices=list(DEV), required=True)
    arguments.add_argument("--target-encoder", required=True)
    arguments.add_argument("--source-encoder", default=str(SHARED / "encoders/en-marian-tiny"))
    arguments.add_argument("--folder", type=Path, required=True)
    arguments.add_argument("--pairs", type=int, default=20_000)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    run(given)


def run(given: argparse.Namespace) -> None:
    from treebridge import Bridge, BridgeSettings, Encoder, Parser, ParserSettings, Treebank
    from treebridge.corpus.bitext import Bitext
    from treebridge.parse.refinement import refine_parser
    from treebridge.parse.settings import RefineSettings

    train = Treebank.read(ENGLISH / "en_ewt-ud-train.conllu")
    place: Path = given.folder
    place.mkdir(parents=True, exist_ok=True)
    source = place / "en"
    if not source.exists():
        settings = ParserSettings.preset("small", seed=given.seed)
        dev = Treebank.read(ENGLISH / "en_ewt-ud-dev.conllu")
        Parser.train(train, Encoder.load(given.source_encoder), dev, settings).save(source)
    english = Parser.load(source)
    english_dev = list(Treebank.read(ENGLISH / "en_ewt-ud-dev.conllu"))
    head("English dev", english, english_dev)
    bitext = Bitext.read(
        SHARED / f"data/bitext/en-{given.language}.tsv.xz",
        target_language=given.language, limit=given.pairs,
    )  # fmt: skip
    folder = place / f"bridge-{given.language}"
    if not folder.exists():
        encoder = Encoder.load(given.target_encoder)
        Bridge.fit(bitext, into=english.space, target=encoder, settings=BridgeSettings()).save(
            folder
        )
    bridged = english.across(Bridge.load(folder))
    shared = [name for name in english.columns.features if name not in NOT_SHARED]
    print("shared features:", ", ".join(shared), flush=True)
    gold = list(Treebank.read(UD / f"{DEV[given.language]}-ud-dev.conllu"))
    random.Random(given.seed).shuffle(gold)
    pool, test = gold[:POOL], gold[POOL:]
    row("zero-shot", bridged, test, shared)
    refined_at = place / f"refined-{given.language}"
    how = RefineSettings(seed=given.seed)
    if not refined_at.exists():
        refine_parser(bridged, how, bitext=bitext, treebank=train).parser.save(refined_at)
    refined = Parser.load(refined_at)
    row("refined", refined, test, shared)
    suggestions(refined, gold, shared)
    for number in TREES:
        at = place / f"trees-{given.language}-{number}"
        if not at.exists():
            # With source trees, as the documentation advises.
            better = refine_parser(refined, how, trees=pool[:number], treebank=train)
            better.parser.save(at)
        row(f"{number} trees", Parser.load(at), test, shared)


def row(name: str, parser, gold: Sequence, shared: Sequence[str]) -> None:
    """Print one row: UPOS, LAS, shared features, all features, XPOS and lemmas."""
    from treebridge.parse.score import score

    trees = [parsed.sentence for parsed in parser.parse(gold, retag=True)]
    scores = score(gold, trees, "conll18")
    figures = [scores["UPOS"], scores["LAS"], accuracy(gold, trees, shared)]
    figures += [scores["UFeats"], scores["XPOS"], scores["Lemmas"], lemma_accuracy(gold, trees)]
    print(f"| {name} | " + " | ".join(f"{figure:.1f}" for figure in figures) + " |", flush=True)


def head(name: str, parser, gold: Sequence) -> None:
    """Print the header and the row of the source language."""
    print("| | UPOS | LAS | shared features | UFeats | XPOS | Lemmas | lemmas that gold has |")
    print("|---|---|---|---|---|---|---|---|")
    shared = [x for x in parser.columns.features if x not in NOT_SHARED] if parser.columns else []
    row(name, parser, gold, shared)


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


def suggestions(parser, gold: Sequence, shared: Sequence[str]) -> None:
    """Print UPOS, LAS and features with a lexicon of the forms that `suggest` asks for."""
    from treebridge import Sentence
    from treebridge.corpus.lexicon import Entry, Lexicon
    from treebridge.parse.score import score
    from treebridge.recipes.suggest import suggest_from

    half = len(gold) // 2
    asked, scored = gold[:half], gold[half:]
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for tree in asked:
        for form, tag in zip(tree.forms, tree.upos, strict=True):
            answers[form.lower()][tag] += 1
    bare = [Sentence.from_words(tree.forms) for tree in asked]
    forms = suggest_from(parser, parser.parse(bare), max(FORMS))
    print("\n| forms | lines | UPOS | LAS | shared features |\n|---|---|---|---|---|")
    for number in (0, *FORMS):
        entries = [
            Entry(one.form, tag)
            for one in forms[:number]
            for tag, times in answers[one.form.lower()].items()
            if times >= 0.1 * answers[one.form.lower()].total()
        ]
        known = parser.with_lexicon(Lexicon(entries)) if entries else parser
        trees = [parsed.sentence for parsed in known.parse(scored, retag=True)]
        scores = score(scored, trees, "conll18")
        figures = [scores["UPOS"], scores["LAS"], accuracy(scored, trees, shared)]
        row = " | ".join(f"{figure:.1f}" for figure in figures)
        print(f"| {number} | {len(entries)} | {row} |", flush=True)
    print(flush=True)


if __name__ == "__main__":
    main()
