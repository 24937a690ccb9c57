"""A word's occurrences, grouped by how they were translated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from conftest import Run
from treebridge.corpus.bitext import Pair
from treebridge.encode.contexts import word_contexts
from treebridge.encode.encoder import Encoded, Encoder, Words

PAIRS = [
    *[Pair(["The", "bank", f"m{i}"], ["O", "banco", "empresta", f"m{i}"]) for i in range(40)],
    *[Pair(["A" if i % 2 else "The", "bench", f"g{i}"], ["Um", "Banco", "verde", f"g{i}"]) for i in range(20)],
    *[Pair(["The", "other", f"o{i}"], ["O", "outro", f"o{i}"]) for i in range(100)],
]  # fmt: skip


class ByNeighbour(Encoder):
    """Two words are alike if the next words are."""

    name, dim, fingerprint = "neighbour", 2, ""

    def whole(self, words: Words):
        return np.ones(len(words), bool)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        for words in sentences:
            green = [float(after == "verde") for after in [*words[1:], ""]]
            vectors = np.array([[g, 1 - g] for g in green], np.float32)
            yield Encoded(vectors, self.whole(words))


def test_translations_are_found_without_a_dictionary() -> None:
    banco, absent = word_contexts(PAIRS, ByNeighbour(), ["banco", "absent"])
    assert banco.count == 60
    assert {t.source: t.total for t in banco.translations} == {"bank": 40, "bench": 20}
    assert banco.same == 1 and banco.different == 0
    assert absent.count == 0 and absent.translations == []
    assert np.isnan(absent.same) and np.isnan(absent.different)


def test_word_and_encoder_go_together(run: Run) -> None:
    assert "--word and --encoder go together" in run("inspect", "--word", "banco", "x.tsv").stderr


def test_real_word(run: Run, shared: Path) -> None:
    done = run(
        "inspect", "--encoder", shared / "encoders/pt-marian-tiny", "--word", "papel",
        "--pairs", 20_000, shared / "data/bitext/en-pt.tsv.xz",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "role" in done.stdout and "paper" in done.stdout and "same translation" in done.stdout
