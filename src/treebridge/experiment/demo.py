"""The whole way, from raw text to a table, on languages nobody speaks; `show.demo` tells it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.files import write_text
from treebridge.corpus.sentence import Sentence
from treebridge.encode.pretrain.run import Metrics
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.settings import EncoderSettings
from treebridge.experiment.anisotropy import measure
from treebridge.experiment.inputs import Source, Target
from treebridge.experiment.lab import Lab, LabSettings
from treebridge.experiment.systems import SYSTEMS
from treebridge.experiment.table import Table, run_table
from treebridge.parse.settings import ParserSettings, TagsFrom
from treebridge.progress import QUIET, Progress
from treebridge.recipes.pretrain import pretrain
from treebridge.records import field as field_of
from treebridge.records import read_record

ROWS = ("delexicalized", "unmapped", "word", "sense", "word+in", "sense+in", "treebridge")


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


@dataclass(frozen=True)
class Readings:
    """One sentence of the target with its gold tree and the trees of two systems."""

    gold: Sentence
    trees: dict[str, Sentence]

    def right(self, system: str) -> int:
        """How many heads a system got right."""
        pairs = zip(self.trees[system].heads, self.gold.heads, strict=True)
        return sum(found == wanted for found, wanted in pairs)


class Demo:
    """One run: everything it makes stays in its folder, and is found there by the next."""

    def __init__(
        self, folder: Path, seed: int, size: DemoSize | None = None, progress: Progress = QUIET
    ):
        self.folder, self.seed, self.progress = folder, seed, progress
        self.size = size or DemoSize()
        self.world = World(seed)
        torch.set_num_threads(1)  # so small that threads would mostly wait for each other

    def write_corpora(self) -> None:
        """What a user would have: a treebank of one language, parallel text of two others."""
        size = self.size
        self.world.treebank("source", size.trees).write(self.treebank)
        for name, pairs in (("near", size.pairs), ("far", size.far_pairs)):
            self.world.write_bitext(self.bitext(name), name, pairs)

    @property
    def treebank(self) -> Path:
        """The source treebank."""
        return self.folder / f"{self.world.languages['source'].code}-train.conllu"

    def bitext(self, name: str) -> Path:
        """The parallel text of the source and another language."""
        codes = [self.world.languages[side].code for side in ("source", name)]
        return self.folder / f"{'-'.join(codes)}.tsv"

    def pretrain(self, name: str) -> list[Metrics]:
        """A tiny BERT for a language that has none; the history of its training."""
        language, size = self.world.languages[name], self.size
        folder = self.folder / f"{language.code}-encoder"
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

    def table(self, tags: TagsFrom) -> Table:
        """All rows with these tags; without gold ones, those that can do without."""
        rows = [SYSTEMS[name] for name in ROWS if tags == "gold" or name != "delexicalized"]
        lab, target = self.lab(tags)
        about = {"tags": tags, "part": "artificial"}
        return run_table(lab, [target], rows, (self.seed,), about=about)

    def readings(self, table: Table, systems: tuple[str, str]) -> Readings:
        """The target sentence of readable length on which the second system gains most."""
        gold = list(self.world.treebank("near", self.size.scored, "dev"))
        read = [self._trees_of(table, name) for name in systems]
        every = [
            Readings(one, dict(zip(systems, trees, strict=True)))
            for one, *trees in zip(gold, *read, strict=True)
        ]
        worse, better = systems
        return max(every, key=lambda r: (7 <= len(r.gold) <= 14, r.right(better) - r.right(worse)))

    def _trees_of(self, table: Table, system: str) -> list[Sentence]:
        (result,) = table.cell(system, table.languages[1].code).results
        (path,) = (self.folder / "lab" / "runs").glob(f"*-{result.key[:8]}.conllu")
        return list(Treebank.read(path))

    def cones(self) -> dict[str, list[tuple[int, float]]]:
        """How narrow the cone of the vectors is by iteration of isotropy, for both languages."""
        lab, near = self.lab("gold")
        bitext = list(near.find_bitext())[:500]
        sides = ([pair.source for pair in bitext], [pair.target for pair in bitext])
        return {
            language.name: list(enumerate(measure(lab.encoder(language, "own"), lab, text)))
            for language, text in zip((lab.source, near), sides, strict=True)
        }

    def lab(self, tags: TagsFrom) -> tuple[Lab, Target]:
        """Where the systems are made, and the target language."""
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
            Bitext.read(self.bitext("near"), source_language=source.code),
        )
        return Lab(known, settings, self.folder / "lab", self.progress), unknown


def _write_lines(path: Path, texts: Iterable[str]) -> None:
    with write_text(path) as stream:
        stream.writelines(f"{text}\n" for text in texts)
