"""A second round: mapped vectors link words that the aligner left unlinked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from latent import LatentEncoder, links_of

from treebridge.alignment.links import Links
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.make import Gathered, gather, make_bridge
from treebridge.bridge.rounds import bridge_in_rounds, join, mutual_neighbours, next_round, relink
from treebridge.bridge.settings import BridgeSettings, CollectSettings, FitSettings
from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Bitext, Filters
from treebridge.encode.cache import cache_folder
from treebridge.progress import Progress

WORLD = World(5)
WORD_LEVEL = FitSettings(level="word")


@pytest.fixture
def third(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gathered:
    """A bitext with two of every three gold links missing."""
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    with (tmp_path / "pairs.tsv").open("w") as pairs, (tmp_path / "third.txt").open("w") as links:
        for pair, gold in links_of(WORLD, "near", 600)():
            pairs.write("\t".join(" ".join(words) for words in pair) + "\n")
            links.write(" ".join(f"{i}-{j}" for i, j in gold[::3]) + "\n")
    bitext = Bitext.read(
        tmp_path / "pairs.tsv", engine="spaces", filters=Filters(9999, 9999, False, False)
    )
    encoders = (LatentEncoder(WORLD.languages[name], context=1.5) for name in ("source", "near"))
    settings = BridgeSettings(
        collect=CollectSettings(anchor_words="all", min_per_type=2, held_out=0.2),
        links=str(tmp_path / "third.txt"),
    )
    return gather(bitext, *encoders, settings)


def test_missing_links_are_found(third: Gathered) -> None:
    bridge = third.bridge(None, WORD_LEVEL, sense_report=False)
    again = next_round(third, bridge)
    gold = [set(map(tuple, links.tolist())) for _, links in links_of(WORLD, "near", 600)()]
    right = sum(len(truth & set(map(tuple, found.tolist())))
                for truth, found in zip(gold, again.links, strict=True))  # fmt: skip
    total = sum(map(len, gold))
    assert third.links.total < 0.4 * total
    assert right > 0.9 * total and right > 0.9 * again.links.total
    assert len(again.occurrences) > 1.5 * len(third.occurrences)
    assert again.links.one_to_one().total == again.links.total
    encoded = third.target.encoded
    assert next_round(third, bridge).key == again.key and third.target.encoded == encoded  # cached


def test_an_interrupted_round_resumes(third: Gathered, monkeypatch) -> None:
    bridge = third.bridge(None, WORD_LEVEL, sense_report=False)
    monkeypatch.setattr("treebridge.bridge.rounds.STEP", 100)
    seen: list[int] = []

    def stop_in_the_middle(pairs: Iterable[Any]) -> Iterator[Any]:
        for number, item in enumerate(pairs):
            if number == 350 and not seen:
                seen.append(third.target.encoded)
                raise KeyboardInterrupt
            yield item

    class Stop(Progress):
        def count(self, items: Iterable[Any], what: str) -> Iterable[Any]:
            return stop_in_the_middle(items)

    third.progress = Stop()
    before = third.target.encoded
    with pytest.raises(KeyboardInterrupt):
        next_round(third, bridge)
    links = cache_folder("links")
    assert seen[0] - before == 300 and len(list(links.glob("*-?.safetensors"))) == 3
    again = next_round(third, bridge)
    assert not list(links.glob("*-?.safetensors"))
    in_one_go = relink(third, bridge, "in one go")
    assert [part.tolist() for part in again.links] == [part.tolist() for part in in_one_go]


@pytest.mark.parametrize("third_score", [55.0, 60.0])
def test_rounds_end_when_nothing_is_gained(
    third: Gathered, third_score: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    third.progress = Progress()
    third.progress.step = said.append
    scores = iter([50.0, 60.0, third_score, 99.0])
    monkeypatch.setattr("treebridge.bridge.rounds._held_out_p1", lambda bridge: scores_of(bridge))
    known: dict[int, float] = {}

    def scores_of(bridge: Bridge) -> float:
        return known.setdefault(id(bridge), next(scores) if id(bridge) not in known else 0.0)

    bridge = bridge_in_rounds(third, None, WORD_LEVEL, 5)
    assert bridge.made["rounds"] == 2
    assert sum("→" in text for text in said) == 2  # the third gained nothing; no fourth was tried


def test_a_second_round_improves_on_a_poor_aligner(tmp_path: Path, third: Gathered) -> None:
    lines = (tmp_path / "third.txt").read_text().splitlines()
    few = [line if n % 4 == 0 else "" for n, line in enumerate(lines)]
    (tmp_path / "poor.txt").write_text("\n".join(few) + "\n")

    def make(rounds: int) -> Bridge:
        settings = replace(
            third.settings, fit=WORD_LEVEL, rounds=rounds, links=str(tmp_path / "poor.txt")
        )
        return make_bridge(third.bitext, third.source, third.target, None, settings)

    one, two = make(1), make(2)
    p1 = [bridge.quality["target_to_source"]["csls_p1"] for bridge in (one, two)]
    assert p1[1] > p1[0] and two.made["rounds"] == 2 and "rounds" not in one.made
    assert two.quality["held_out"] == one.quality["held_out"]  # evaluated on the same pairs


@given(st.integers(1, 6), st.integers(1, 6), st.randoms(use_true_random=False))
def test_neighbours_are_mutual_and_joined_links_are_one_to_one(n: int, m: int, random) -> None:
    cosines = np.array([[random.uniform(-1, 1) for _ in range(m)] for _ in range(n)])
    found = mutual_neighbours(cosines, distortion=0.0, least=-1.0)
    for i, j in found:
        assert cosines[i, j] == cosines[i].max() == cosines[:, j].max()
    assert [int(np.argmax(cosines)) // m, int(np.argmax(cosines)) % m] in found.tolist()
    assert (cosines[tuple(mutual_neighbours(cosines, 0.0, 0.5).T)] >= 0.5).all()
    first = np.array([[0, m - 1]])
    both = join(first, found)
    assert first[0].tolist() in both.tolist()
    assert len(set(both[:, 0])) == len(both) == len(set(both[:, 1]))
    assert Links.stack([both])[0].tolist() == sorted(both.tolist())


def test_a_distant_word_is_linked_only_if_much_more_similar() -> None:
    cosines = np.full((5, 5), -1.0)
    cosines[0, 0], cosines[0, 4], cosines[4, 4] = 0.5, 0.7, 0.2
    assert mutual_neighbours(cosines, 0.5, 0.3).tolist() == [[0, 0]]
    assert mutual_neighbours(cosines, 0.0, 0.3).tolist() == [[0, 4]]
