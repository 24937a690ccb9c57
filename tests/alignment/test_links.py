"""Symmetrisation laws, one-to-one links, Pharaoh files, scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebridge import Bitext, TreebridgeError
from treebridge.alignment.aligner import Choices
from treebridge.alignment.indexed import IndexedPairs, index_bitext, index_pairs
from treebridge.alignment.links import Links
from treebridge.alignment.pharaoh import read_pharaoh, write_pharaoh
from treebridge.alignment.score import read_gold, score
from treebridge.alignment.symmetrize import METHODS, symmetrize
from treebridge.alignment.threads import Threads

ONE = Threads(1)
LinkSet = set[tuple[int, int]]


@st.composite
def two_directions(draw: st.DrawFn) -> tuple[IndexedPairs, Choices]:
    """Pairs of any length, empty ones too, and any choice of every word."""
    sizes = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=5))
    corpus = index_pairs((["a"] * n, ["b"] * m) for n, m in sizes)
    forward = [draw(st.integers(-1, n - 1)) for n, m in sizes for _ in range(m)]
    reverse = [draw(st.integers(-1, m - 1)) for n, m in sizes for _ in range(n)]
    return corpus, Choices(np.array(forward, np.int16), np.array(reverse, np.int16))


def sets(links: Links) -> list[LinkSet]:
    return [{(i, j) for i, j in pair.tolist()} for pair in links]


def by_hand(links: LinkSet, forward: LinkSet, reverse: LinkSet, final: str) -> LinkSet:
    """Grow-diag and its final steps as the papers describe them, on sets."""
    links, union = set(links), forward | reverse

    def free(link: tuple[int, int]) -> tuple[bool, bool]:
        return all(i != link[0] for i, _ in links), all(j != link[1] for _, j in links)

    while True:
        added = [
            link
            for link in sorted(union - links)
            if any(free(link))
            and any(max(abs(link[0] - i), abs(link[1] - j)) == 1 for i, j in links)
        ]
        if not added:
            break
        links.add(added[0])
    for direction in (forward, reverse) if final else ():
        for link in sorted(direction - links):
            if (all if final == "and" else any)(free(link)):
                links.add(link)
    return links


@given(two_directions())
def test_symmetrisation_laws(case) -> None:
    corpus, choices = case
    links = {method: symmetrize(corpus, choices, method, ONE) for method in METHODS}
    found = {method: sets(each) for method, each in links.items()}
    for n in range(len(corpus)):
        f, r = found["forward"][n], found["reverse"][n]
        here = {method: found[method][n] for method in METHODS}
        assert here["intersection"] == f & r and here["union"] == f | r
        for end in ("grow-diag-final", "grow-diag-final-and"):
            assert f & r <= here["grow-diag"] <= here[end] <= f | r
        closed = by_hand(here["grow-diag"], f, r, "")
        assert closed == here["grow-diag"]  # nothing is left to grow
        assert here["grow-diag-final"] == by_hand(closed, f, r, "or")
        assert here["grow-diag-final-and"] == by_hand(closed, f, r, "and")
        words = [i for i, _ in here["grow-diag-final"]], [j for _, j in here["grow-diag-final"]]
        assert {i for i, _ in f | r} == set(words[0]) and {j for _, j in f | r} == set(words[1])
    for method in METHODS:
        for all_links, alone in zip(found[method], sets(links[method].one_to_one()), strict=True):
            assert alone == {
                (i, j)
                for i, j in all_links
                if sum(a == i for a, _ in all_links) == sum(b == j for _, b in all_links) == 1
            }


def test_grow_diag_by_example() -> None:
    corpus = index_pairs([("a b c d".split(), "A B C D".split())])
    # both agree on 0-0; forward adds 1-1 beside it and 3-3 far away, reverse 1-2 and 2-3
    choices = Choices(np.array([0, 1, -1, 3], np.int16), np.array([0, 2, 3, -1], np.int16))
    expected = {
        "intersection": {(0, 0)},
        "grow-diag": {(0, 0), (1, 1), (1, 2), (2, 3), (3, 3)},
        "union": {(0, 0), (1, 1), (3, 3), (1, 2), (2, 3)},
    }
    for method, links in expected.items():
        assert sets(symmetrize(corpus, choices, method, ONE)) == [links]
    with pytest.raises(TreebridgeError, match="unknown symmetrization 'grow'"):
        symmetrize(corpus, choices, "grow", ONE)


def test_links_container() -> None:
    links = Links.of([{(2, 1), (0, 0)}, set(), {(5, 300)}])
    assert len(links) == 3 and links.total == 3
    assert links[0].tolist() == [[0, 0], [2, 1]] and links[1].shape == (0, 2)
    assert [pair.tolist() for pair in links.first(2)] == [[[0, 0], [2, 1]], []]
    with pytest.raises(IndexError):
        links[3]


BITEXT = "one two\tum dois\n\tvazio\na\ta\nthree four five\ttrês quatro cinco\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_links_are_read_beside_another_walk(tmp_path: Path) -> None:
    bitext = Bitext.read(write(tmp_path / "b.tsv", "a b\tc d\n\n\ne f\tg h\n"))
    links = write(tmp_path / "links", "0-0\n\n\n1-1\n")
    walk = iter(bitext)
    for line in (1, 4):
        next(walk)
        assert sets(read_pharaoh(links, bitext)) == [{(0, 0)}, {(1, 1)}]
        assert walk.counts.read == line  # a walk under way is not disturbed


def test_pharaoh_files_are_parallel_to_the_bitext(tmp_path: Path) -> None:
    bitext = Bitext.read(write(tmp_path / "b.tsv", BITEXT))
    corpus = index_bitext(iter(bitext))
    assert len(corpus) == 2 and corpus.read == 4
    bare = Links.of([{(0, 0), (1, 1)}, {(2, 0)}])
    links = replace(bare, lines=corpus.lines, read=corpus.read)
    write_pharaoh(tmp_path / "links", links)
    assert (tmp_path / "links").read_text() == "0-0 1-1\n\n\n2-0\n"
    assert sets(read_pharaoh(tmp_path / "links", bitext)) == sets(links)
    # Duplicates count once; links of a pair that is left out are not looked at.
    write(tmp_path / "links", "0-0 1-1 1-1\n9-9\n9-9\n2-0\n")
    assert sets(read_pharaoh(tmp_path / "links", bitext)) == sets(links)
    first = Bitext.read(tmp_path / "b.tsv", limit=1)
    assert sets(read_pharaoh(tmp_path / "links", first)) == sets(links)[:1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-0\n\n\n3-0\n", r"links:4: link 3-0 is out of range: the source sentence has 3 words"),
        ("0-2\n\n\n", r"links:1: link 0-2 is out of range: the target sentence has 2 words"),
        ("0-0\n\n\n1–1\n", r"links:4: expected a link .* found '1–1'"),
        ("0-0 1\n\n\n\n", r"links:1: expected a link .* found '1'"),
        ("-1-0\n\n\n\n", r"links:1: expected a link .* found '-1-0'"),
        ("0-0\n", r"links: expected one line per pair of the bitext, found only 1 lines"),
        ("0-0\n\n\n0-0\n0-0\n", r"links: expected one line per pair .* \(4\), found 5 lines"),
    ],
)
def test_broken_links_are_named(text: str, message: str, tmp_path: Path) -> None:
    bitext = Bitext.read(write(tmp_path / "b.tsv", BITEXT))
    with pytest.raises(TreebridgeError, match=message):
        read_pharaoh(write(tmp_path / "links", text), bitext)


def test_scores() -> None:
    result = score([[(0, 0), (1, 1), (2, 3)], []], [{(0, 0), (3, 3)}, {(0, 0)}], [{(1, 1)}, set()])
    assert (result.precision, result.recall) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert result.aer == pytest.approx(1 - (1 + 2) / (3 + 3))
    assert score([[]], [set()]).aer == 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\tc\t0-0\na b\tc\n", r"gold.tsv:2: expected 3 columns .*, found 2"),
        ("a b\tc\t2-0\n", r"gold.tsv:1: link 2-0 is out of range: the source sentence has 2 words"),
        ("", r"gold.tsv: the file is empty"),
    ],
)
def test_broken_gold_files_are_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(TreebridgeError, match=message):
        read_gold(write(tmp_path / "gold.tsv", text))
