"""`treebridge demo`: the whole story, from raw text to a table, on languages nobody speaks."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch
from rich.console import Console

from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.files import write_text
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.statistics import bitext_statistics, treebank_statistics
from treebridge.encode.encoder import EncoderSettings
from treebridge.encode.pretrain.corpus import make_corpus
from treebridge.encode.pretrain.folder import save_encoder
from treebridge.encode.pretrain.run import Metrics, Pretraining
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.experiment.anisotropy import measure
from treebridge.experiment.lab import Lab, LabSettings
from treebridge.experiment.material import Source, Target
from treebridge.experiment.systems import SYSTEMS
from treebridge.experiment.table import Table, run_table
from treebridge.folders import work_folder
from treebridge.keys import key_of
from treebridge.locks import hold
from treebridge.models import shipped_models
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings
from treebridge.records import field as field_of
from treebridge.records import read_record
from treebridge.seeds import check_seed
from treebridge.show.figures import bars, lines
from treebridge.show.pretrain import Lines
from treebridge.show.report import Report
from treebridge.show.reproduce import talk
from treebridge.show.results import cell_text, show_table
from treebridge.show.tables import show
from treebridge.workers import Workers

ROWS = ("delexicalized", "unmapped", "word", "sense", "word+in", "sense+in", "treebridge")
TAGS = {"gold": "gold tags", "none": "no tags"}


@dataclass(frozen=True)
class DemoSize:
    """How much of everything; this is five minutes on two cores."""

    trees: int = 1200
    scored: int = 300  # trees of either language, to score by
    pairs: int = 8000
    far_pairs: int = 5000  # of a third language, to look at
    text: int = 30_000  # sentences of raw text in each language
    encoder: PretrainSettings = field(
        default_factory=lambda: PretrainSettings(
            vocabulary=5000, layers=3, hidden=128, feed_forward=256, length=64,
            tokens=400_000, learning_rate=2e-3, masked=0.15,
        )
    )  # fmt: skip
    parser: ParserSettings = field(
        default_factory=lambda: ParserSettings(
            layers=1, hidden=100, arc=100, label=50, tag=32, dropout=0.2, batch_words=300,
            epochs=5, learning_rate=4e-3,
        )
    )  # fmt: skip


class Demo:
    """One run: everything it makes stays in its folder, and is found there by the next."""

    def __init__(self, folder: Path, seed: int, size: DemoSize):
        self.folder, self.seed, self.size = folder, seed, size
        self.world = World(seed)
        self.console = Console()
        self.report = Report("treebridge: the whole story on languages that nobody speaks")
        self._number = 0

    def run(self) -> Path:
        """Tell it; the path of the report."""
        began = time.perf_counter()
        torch.set_num_threads(1)  # so small that threads would mostly wait for each other
        self.corpora()
        curves = {name: self.pretrain(name) for name in ("source", "near")}
        tables = self.tables()
        self.trees(tables["gold"])
        self.shipped()
        path = self.folder / "report.html"
        self._figures(curves, tables)
        self.report.write(path)
        self.console.print(
            f"Report with figures: {path.absolute()}\n"
            f"Everything else is beside it; {time.perf_counter() - began:.0f} s."
        )
        return path

    def corpora(self) -> None:
        """What a user would have: a treebank here, parallel text, raw text."""
        world, size = self.world, self.size
        source, near, far = (world.languages[name] for name in ("source", "near", "far"))
        self._section("A language with a treebank, and one without")
        self._say(
            f"{source.name} has {size.trees:,} annotated sentences. {near.name}, with other words, "
            f"has none: only {size.pairs:,} sentences translated from {source.name}, and raw text."
        )
        treebank = self.folder / f"{source.code}-train.conllu"
        world.treebank("source", size.trees).write(treebank)
        show(treebank_statistics(treebank), self.console)
        for language, name in ((near, "near"), (far, "far")):
            path = self._bitext(name)
            world.write_bitext(path, name, size.pairs if name == "near" else size.far_pairs)
            if name == "near":
                bitext = Bitext.read(path, source_language=source.code)
                show(bitext_statistics(bitext), self.console)
                form, senses = next(iter(language.ambiguous.items()))
                words = " or ".join(source.forms[sense] for sense in senses)
                self._say(
                    f"{len(language.ambiguous)} words of {language.name} have two senses: "
                    f"“{form}” is {source.name} “{words}”."
                )

    def pretrain(self, name: str) -> list[Metrics]:
        """A tiny BERT for a language that has none."""
        if name == "source":
            self._section("Two small encoders, from raw text alone")
        language, size = self.world.languages[name], self.size
        folder = self.folder / f"{language.code}-encoder"
        record = folder / "pretraining.json"
        settings = replace(size.encoder, seed=self.seed)
        if record.exists():
            made = read_record(record)
            about = field_of(made, "about", dict, record)
            if made.get("settings") == settings.config() and about.get("lines") == size.text:
                self._say(f"{language.name}: found in {folder}.")
                return list(made["history"])
        text = self.folder / f"{language.code}.txt"
        _write_lines(text, self.world.text(name, size.text))
        watcher = Lines()
        corpus = make_corpus([str(text)], None, settings, self.folder / f".{language.code}.work",
                             watcher.reading, lambda text: None)  # fmt: skip
        training = Pretraining(corpus, settings, Workers("cpu"), watcher=watcher)
        try:
            history = training.run()
        finally:
            watcher.stop()
        pieces = int(corpus.starts[-1])
        about = {"text": [text.name], "pieces": pieces, "lines": size.text}
        save_encoder(folder, training.network, corpus.tokenizer, settings, history, about)
        self._say(
            f"{language.name}: of the words masked in held-out text it guesses "
            f"{history[-1]['accuracy']:.0%}; by frequency alone {history[0]['accuracy']:.0%}."
        )
        return history

    def tables(self) -> dict[str, Table]:
        """All rows with gold tags, and those that can do without, without."""
        self._section("Align, bridge, train: every row of the paper's table, and ours")
        tables = {}
        for tags, shown in TAGS.items():
            rows = [SYSTEMS[name] for name in ROWS if tags == "gold" or name != "delexicalized"]
            lab, target = self._lab(tags)
            about = {"tags": tags, "part": "artificial"}
            tables[tags] = table = run_table(lab, [target], rows, (self.seed,), about=about)
            self.console.print()
            show_table(table, self.console)
            self.report.say(f"UAS / LAS, {shown}:")
            self.report.table(
                ["system", *(language.name for language in table.languages)],
                [
                    [row.name, *(cell_text(table, row.name, language.code, "**{}**".format)
                                 for language in table.languages)]
                    for row in rows
                ],
            )  # fmt: skip
            for one in table.comparisons():
                self.report.say(str(one))
        return tables

    def trees(self, table: Table) -> None:
        """A sentence of the target, read by the unmapped parser and across the bridge."""
        self._section("One sentence, two trees")
        target = table.languages[1]
        gold = self.world.treebank("near", self.size.scored, "dev")
        read = {name: self._trees_of(table, name) for name in ("unmapped", "treebridge")}
        number = _telling(gold, read["unmapped"], read["treebridge"])
        for name, trees in read.items():
            right = sum(
                a == b for a, b in zip(trees[number].heads, gold[number].heads, strict=True)
            )
            caption = f"{target.name}, {name}: {right} of {len(gold[number])} heads are right"
            self.console.print(f"[bold]{caption}[/]")
            drawn = trees[number].draw()
            self.console.print(drawn, highlight=False, markup=False)
            self.console.print()
            self.report.tree(drawn, caption)

    def shipped(self) -> None:
        """Real sentences, by the models that come with the package."""
        for model in shipped_models().values():
            self._section(f"A real language: {model.card['language']}, by what is shipped")
            self._say(" ".join(model.card["summary"].split()))
            for tree in Parser.load(model.folder)(model.card["examples"]):
                drawn = tree.draw()
                self.console.print(drawn, "\n", highlight=False, markup=False)
                self.report.tree(drawn, " ".join(tree.forms))

    def _figures(self, curves: dict[str, list[Metrics]], tables: dict[str, Table]) -> None:
        self.report.heading("Figures")
        target = tables["gold"].languages[1]
        las: dict[str, dict[str, float | None]] = {
            name: {
                shown: tables[tags].cell(name, target.code).mean("LAS")
                if tables[tags].cell(name, target.code).results
                else None
                for tags, shown in TAGS.items()
            }
            for name in ROWS
        }
        self.report.figure(bars(las, "LAS"), f"{target.name}, zero-shot, by system.")
        names = {name: self.world.languages[name].name for name in curves}
        self.report.figure(
            lines({names[name]: [(m["tokens"], 100 * m["accuracy"]) for m in history]
                   for name, history in curves.items()}, "pieces of text", "masked accuracy, %"),
            "What the encoders learn from raw text.",
        )  # fmt: skip
        lab, near = self._lab("gold")
        bitext = list(near.find_bitext())[:500]
        sides = {lab.source.name: [pair.source for pair in bitext],
                 near.name: [pair.target for pair in bitext]}  # fmt: skip
        cones = {}
        for language in (lab.source, near):
            degrees = measure(lab.encoder(language, "own"), lab, sides[language.name])
            cones[language.name] = list(enumerate(map(float, degrees)))
        self.report.figure(
            lines(cones, "iterations of isotropy", "mean cosine of two random words"),
            "How narrow the cone of the vectors is, by iteration.",
        )

    def _lab(self, tags: str) -> tuple[Lab, Target]:
        world, size = self.world, self.size
        source, near = world.languages["source"], world.languages["near"]
        settings = LabSettings(
            replace(size.parser, tags=tags), encoding=EncoderSettings(offline=True)
        )
        trees = world.treebank("source", size.trees)
        dev = world.treebank("source", size.scored, "dev")
        encoders = {
            code: {"own": str(self.folder / f"{code}-encoder")} for code in (source.code, near.code)
        }
        known = Source(source.code, source.name, dev, encoders[source.code], trees, dev)
        unknown = Target(
            near.code,
            near.name,
            world.treebank("near", size.scored, "dev"),
            encoders[near.code],
            Bitext.read(self._bitext("near"), source_language=source.code),
        )
        return Lab(known, settings, self.folder / "lab", talk()), unknown

    def _trees_of(self, table: Table, system: str) -> list[Sentence]:
        cell = table.cell(system, table.languages[1].code)
        (result,) = cell.results
        (path,) = (self.folder / "lab" / "runs").glob(f"*-{result.key[:8]}.conllu")
        return list(Treebank.read(path))

    def _bitext(self, name: str) -> Path:
        codes = [self.world.languages[side].code for side in ("source", name)]
        return self.folder / f"{'-'.join(codes)}.tsv"

    def _section(self, title: str) -> None:
        self._number += 1
        self.console.rule(f"[bold]{self._number}. {title}")
        self.report.heading(f"{self._number}. {title}")

    def _say(self, text: str) -> None:
        self.console.print(f"{text}\n", highlight=False)
        self.report.say(text)


def run_demo(folder: Path, seed: int, size: DemoSize | None = None, *, force: bool = False) -> Path:
    """Tell the whole story in a folder; a second run finds what the first made."""
    check_seed(seed)
    size = size or DemoSize()
    work_folder(folder, "demo", ("lab",), key=key_of(seed, asdict(size)), force=force)
    with hold(folder / "report.html"):
        return Demo(folder, seed, size).run()


def _telling(gold: Iterable[Sentence], worse: list[Sentence], better: list[Sentence]) -> int:
    """The sentence of readable length that gained most."""

    def gain(number: int, tree: Sentence) -> tuple[bool, int]:
        wanted = tree.heads
        right = [
            sum(a == b for a, b in zip(trees[number].heads, wanted, strict=True))
            for trees in (worse, better)
        ]
        return 7 <= len(tree) <= 14, right[1] - right[0]

    return max(enumerate(gold), key=lambda item: gain(*item))[0]


def _write_lines(path: Path, texts: Iterable[str]) -> None:
    with write_text(path) as stream:
        stream.writelines(f"{text}\n" for text in texts)
