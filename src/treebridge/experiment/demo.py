"""The work of the demo, from raw text to scores, on artificial languages; `show.demo` tells it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from treebridge.bridge.settings import BridgeSettings
from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.files import write_text
from treebridge.corpus.sentence import Sentence
from treebridge.encode.pretrain.run import Metrics
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.experiment.anisotropy import measure
from treebridge.experiment.inputs import Source, Target
from treebridge.experiment.lab import Lab, LabSettings
from treebridge.experiment.refining import Refined
from treebridge.experiment.systems import SYSTEMS
from treebridge.experiment.table import Table, run_table
from treebridge.parse.settings import ParserSettings, ProjectSettings, RefineSettings
from treebridge.progress import QUIET, Progress
from treebridge.recipes.pretrain import pretrain
from treebridge.records import field as field_of
from treebridge.records import read_record

ROWS = ("unmapped", "word", "sense", "word+in", "sense+in", "treebridge", "refined")


@dataclass(frozen=True)
class DemoSize:
    """Amounts of data and training; the defaults take under four minutes on two cores."""

    trees: int = 1200  # source trees to train on
    scored: int = 200  # trees per language to score on
    pairs: int = 6000
    text: int = 30_000  # sentences of raw text per language
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
    refined: int = 3000  # projected sentences to refine on


@dataclass(frozen=True)
class Readings:
    """A target sentence with its gold tree and the trees of two systems."""

    gold: Sentence
    trees: dict[str, Sentence]

    def correct(self, system: str) -> int:
        """Number of correct heads of a system."""
        pairs = zip(self.trees[system].heads, self.gold.heads, strict=True)
        return sum(found == wanted for found, wanted in pairs)


class Demo:
    """One run; a second run in the same folder reuses everything."""

    def __init__(
        self, folder: Path, seed: int, size: DemoSize | None = None, progress: Progress = QUIET
    ):
        self.folder, self.seed, self.progress = folder, seed, progress
        self.size = size or DemoSize()
        self.world = World(seed)
        torch.set_num_threads(1)  # models this small do not gain from threads

    def write_corpora(self) -> None:
        """Write what a user would have: a source treebank and parallel text."""
        self.world.treebank("source", self.size.trees).write(self.treebank)
        self.world.write_bitext(self.bitext, "near", self.size.pairs)

    @property
    def treebank(self) -> Path:
        """The source treebank."""
        return self.folder / f"{self.world.languages['source'].code}-train.conllu"

    @property
    def bitext(self) -> Path:
        """The parallel text."""
        codes = [self.world.languages[side].code for side in ("source", "near")]
        return self.folder / f"{'-'.join(codes)}.tsv"

    def encoder(self, name: str) -> Path:
        """The encoder of a language."""
        return self.folder / f"{self.world.languages[name].code}-encoder"

    def pretrain(self, name: str) -> list[Metrics]:
        """Pre-train a tiny BERT for a language; return its metrics over time."""
        language, size, folder = self.world.languages[name], self.size, self.encoder(name)
        record = folder / "pretraining.json"
        settings = replace(size.encoder, seed=self.seed)
        text = self.folder / f"{language.code}.txt"
        if record.exists():
            made = read_record(record)
            about = field_of(made, "about", dict, record)
            if made.get("settings") == settings.config() and about.get("text") == [text.name]:
                return list(made["history"])
        _write_lines(text, self.world.text(name, size.text))
        made_now = pretrain(
            [text], folder, settings, device="cpu", force=True, progress=self.progress
        )
        assert made_now is not None
        return made_now.history

    def table(self) -> Table:
        """Scores of all rows, with tags predicted by the parsers."""
        project = ProjectSettings(sentences=self.size.refined)
        refined = Refined(refine=RefineSettings(project=project))
        rows = [SYSTEMS[name] for name in ROWS if name != "refined"]
        rows.append(replace(SYSTEMS["refined"], crossing=refined))
        lab, target = self.lab()
        table = run_table(lab, [target], rows, (self.seed,), about={"tags": "predicted"})
        for (system, _), cell in table.cells.items():
            if cell.failed is not None:
                raise TreebridgeError(f"{system} failed: {cell.failed}")
        return table

    def readings(self, table: Table, systems: tuple[str, str]) -> Readings:
        """The target sentence of 7 to 14 words on which the second system gains most."""
        gold = list(self.world.treebank("near", self.size.scored, "dev"))
        read = [self._trees_of(table, name) for name in systems]
        every = [
            Readings(one, dict(zip(systems, trees, strict=True)))
            for one, *trees in zip(gold, *read, strict=True)
        ]
        worse, better = systems
        return max(
            every, key=lambda r: (7 <= len(r.gold) <= 14, r.correct(better) - r.correct(worse))
        )

    def _trees_of(self, table: Table, system: str) -> list[Sentence]:
        (result,) = table.cell(system, table.languages[1].code).results
        (path,) = (self.folder / "lab" / "runs").glob(f"*-{result.key[:8]}.conllu")
        return list(Treebank.read(path))

    def choice(self) -> str | None:
        """The map that trees chose for the row `treebridge`, and why."""
        lab, target = self.lab()
        parser = lab.parser("own", True, self.seed)
        return lab.bridge(target, "own", parser, BridgeSettings()).quality.get("choice")

    def cones(self) -> dict[str, list[tuple[int, float]]]:
        """Anisotropy of both encoders, by iteration of normalization."""
        lab, near = self.lab()
        bitext = list(near.find_bitext())[:500]
        sides = ([pair.source for pair in bitext], [pair.target for pair in bitext])
        return {
            language.name: list(enumerate(measure(lab.encoder(language, "own"), lab, text)))
            for language, text in zip((lab.source, near), sides, strict=True)
        }

    def lab(self) -> tuple[Lab, Target]:
        """The lab that makes the systems, and the target language."""
        world, size = self.world, self.size
        source, near = world.languages["source"], world.languages["near"]
        # The same anchor words in all rows, so that vectors are collected only once.
        settings = LabSettings(
            size.parser, anchor_words="all", encoding=EncoderSettings(offline=True)
        )
        trees = world.treebank("source", size.trees)
        dev = world.treebank("source", size.scored, "dev")
        encoders = [{"own": str(self.encoder(name))} for name in ("source", "near")]
        known = Source(source.code, source.name, dev, encoders[0], trees, dev)
        unknown = Target(
            near.code,
            near.name,
            world.treebank("near", size.scored, "dev"),
            encoders[1],
            Bitext.read(self.bitext, source_language=source.code),
        )
        return Lab(known, settings, self.folder / "lab", self.progress), unknown


def _write_lines(path: Path, texts: Iterable[str]) -> None:
    with write_text(path) as stream:
        stream.writelines(f"{text}\n" for text in texts)
