"""A small artificial treebank, random vectors for its words, and quick settings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from treebridge import Sentence, Treebank
from treebridge.cli.commands import app
from treebridge.corpus.artificial import World
from treebridge.encode.static import StaticEncoder
from treebridge.parse.settings import ParserSettings

DIM = 48
QUICK = ParserSettings(
    layers=1, hidden=48, arc=48, label=32, tag=16, tagger=32, dropout=0.1, batch_words=80,
    epochs=3, learning_rate=1e-2,
)  # fmt: skip
WORLD = World(5)
TRAIN, DEV = WORLD.treebank("source", 300), WORLD.treebank("source", 60, "dev")


def make_vectors(path: Path, *treebanks: Treebank, seed: int = 1) -> StaticEncoder:
    """An encoder from a file of word vectors, random but close to the vector of the word's tag."""
    tags = {
        form: tag for t in treebanks for s in t for form, tag in zip(s.forms, s.upos, strict=True)
    }
    words, rng = sorted(tags), np.random.default_rng(seed)
    centres = {tag: rng.normal(size=DIM) for tag in sorted(set(tags.values()))}
    vectors = np.array([centres[tags[word]] for word in words])
    vectors += rng.normal(size=vectors.shape) + 0.5
    rows = (" ".join([w, *(f"{x:.4f}" for x in v)]) for w, v in zip(words, vectors, strict=True))
    path.write_text(f"{len(words)} {DIM}\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return StaticEncoder(path)


def bare(treebank: Treebank) -> list[Sentence]:
    """The same words without any annotation."""
    return [Sentence.from_words(s.forms) for s in treebank]


def command(*arguments: object) -> str:
    """What a command prints on standard output."""
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout
