"""A bitext with swapped sides is an error; a correct or inconclusive one never is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from latent import LatentEncoder, links_of

from treebridge import Bitext, Bridge, Encoder, Treebank, TreebridgeError
from treebridge.bridge.make import gather
from treebridge.bridge.settings import BridgeSettings
from treebridge.bridge.sides import Evidence, check_sides, common_words, weigh_sides
from treebridge.bridge.space import Space
from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Filters, Pair
from treebridge.encode.encoder import Encoded, Words
from treebridge.encode.static import StaticEncoder

WORLD = World(7)
PAIRS = {name: [pair for pair, _ in links_of(WORLD, name, 60)()] for name in ("near", "far")}
COMMON = common_words(s.forms for s in WORLD.treebank("source", 100))


class Knows(Encoder):
    """An encoder with one piece for each known word, and one per letter for any other."""

    name, dim, fingerprint = "knows", 1, "knows"

    def __init__(self, *sentences: Iterable[Words]):
        self.words = {word for side in sentences for words in side for word in words}

    def whole(self, words: Words) -> np.ndarray:
        return np.array([word in self.words for word in words], bool)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        raise AssertionError("the check must not run an encoder")


def swapped(pairs: Iterable[Pair]) -> list[Pair]:
    return [Pair(pair.target, pair.source) for pair in pairs]


def test_common_words() -> None:
    assert common_words([["The", "b", ",", "the", "2020"], ["B", "the", "a", "."]]) == (
        "the",
        "b",
        "a",
    )
    assert len(common_words([[chr(code)] for code in range(0x4E00, 0x5000)])) == 100


@pytest.mark.parametrize("name", ["near", "far"])
def test_by_words_of_the_treebank(name: str) -> None:
    pairs = PAIRS[name]
    nothing = Knows()  # cannot tell the sides apart
    check_sides(pairs, nothing, nothing, COMMON)
    with pytest.raises(TreebridgeError, match=r"^b.tsv: source and target look swapped: common"):
        check_sides(swapped(pairs), nothing, nothing, COMMON, file="b.tsv")
    # Clear evidence from words overrides the encoders.
    check_sides(pairs, *_encoders(swapped(pairs)), COMMON)


def _encoders(pairs: Iterable[Pair]) -> tuple[Encoder, Encoder]:
    return Knows(pair.source for pair in pairs), Knows(pair.target for pair in pairs)


@pytest.mark.parametrize("name", ["near", "far"])
def test_by_pieces_of_both_encoders(name: str, tmp_path: Path) -> None:
    pairs = PAIRS[name]
    source, target = _encoders(pairs)
    check_sides(pairs, source, target)
    for known in ((), ("words", "of", "another", "language")):
        with pytest.raises(TreebridgeError, match="times as many pieces for the source side"):
            check_sides(swapped(pairs), source, target, known)
    both = Knows(*zip(*pairs, strict=True))
    check_sides(pairs, source, both)
    check_sides(pairs, both, target)
    for one in (both, source, target):  # one encoder for both languages proves nothing
        check_sides(pairs, one, one)
        check_sides(swapped(pairs), one, one)
    vectors = []
    for side, encoder in enumerate((source, target)):
        vectors.append(tmp_path / f"{side}.vec")
        vectors[-1].write_text("".join(f"{word} 1 2 3\n" for word in sorted(encoder.words)))
    check_sides(pairs, *map(StaticEncoder, vectors))
    with pytest.raises(TreebridgeError, match="swapped"):
        check_sides(swapped(pairs), *map(StaticEncoder, vectors))


def test_few_words_prove_nothing() -> None:
    few = swapped(PAIRS["near"][:3])
    assert sum(len(pair.source) for pair in few) < 50
    check_sides(few, *_encoders(PAIRS["near"]), COMMON)
    check_sides([], *_encoders(PAIRS["near"]), COMMON)


def test_words_on_both_sides_are_ignored() -> None:
    pairs = [Pair(["NAME", "a", "bb"], ["x", "name", "yyy"])] * 30
    found = weigh_sides(pairs, Knows([["NAME", "name"]]), Knows([["x"]]), ("name", "a"))
    assert found == (0.5, 0.0, 3 / 4, 4 / 3)  # source pieces: 1 + 2 and 1 + 3; target the same


@pytest.mark.parametrize(
    ("words", "pieces", "swapped"),
    [
        ((0.05, 0.50), (0.5, 0.5), True),
        ((0.50, 0.05), (9.0, 9.0), False),  # words take precedence
        ((0.20, 0.35), (1.0, 1.0), False),  # closely related languages
        ((0.04, 0.12), (1.0, 1.0), False),  # hardly any on either side
        ((0.00, 0.00), (1.3, 1.3), True),
        ((0.00, 0.00), (1.2, 1.2), False),
        ((0.00, 0.00), (5.0, 1.05), False),  # the second encoder is neutral
        ((0.00, 0.00), (1.05, 5.0), False),
    ],
)
def test_evidence(words: tuple[float, float], pieces: tuple[float, float], swapped: bool) -> None:
    assert (Evidence(*words, *pieces).swapped is not None) == swapped


words = st.sampled_from([f"{letter}{size * 'x'}" for letter in "abcdef" for size in range(4)])
sentences = st.lists(words, min_size=1, max_size=20)


@given(
    st.lists(st.builds(Pair, sentences, sentences), min_size=1, max_size=30),
    st.sets(words),
    st.sets(words),
    st.sets(words),
)
def test_at_most_one_direction_looks_swapped(
    pairs: list[Pair], known: set[str], source: set[str], target: set[str]
) -> None:
    assume(any(pair.source != pair.target for pair in pairs))
    encoders = Knows([list(source)]), Knows([list(target)])

    def refused(given_pairs: list[Pair]) -> bool:
        try:
            check_sides(given_pairs, *encoders, known)
        except TreebridgeError as error:
            return "look swapped" in str(error)
        return False

    assert not (refused(pairs) and refused(swapped(pairs)))


def test_the_same_text_twice(tmp_path: Path) -> None:
    path = tmp_path / "b.tsv"
    lines = [" ".join(pair.source) for pair in PAIRS["near"]]
    path.write_text("".join(f"{line}\t{line}\n" for line in lines))
    encoders = [LatentEncoder(WORLD.languages[name]) for name in ("source", "near")]
    with pytest.raises(TreebridgeError, match="the same text in 60 of 60 pairs"):
        gather(Bitext.read(path, source_language="qaa"), *encoders)
    kept = Bitext.read(path, source_language="qaa", filters=Filters(drop_identical=False))
    with pytest.raises(TreebridgeError, match="the same text in 60 of 60 pairs"):
        gather(kept, *encoders)
    path.write_text("".join(f"{line}\t{line.upper()}\n" for line in lines))
    with pytest.raises(TreebridgeError, match=r"b.tsv: source and target are the same text in 60"):
        gather(Bitext.read(path, source_language="qaa"), *encoders)
    untranslated = [Pair(pair.source, pair.source) for pair in PAIRS["near"][:45]]
    check_sides([*untranslated, *PAIRS["near"][45:]], *encoders)  # every bitext has some


def test_a_bridge_is_refused_before_words_are_aligned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "swapped.tsv"
    lines = (f"{' '.join(t)}\t{' '.join(s)}\n" for s, t in PAIRS["near"])
    path.write_text("".join(lines))
    bitext = Bitext.read(path, engine="spaces")
    source, target = (LatentEncoder(WORLD.languages[name]) for name in ("source", "near"))
    into = Space.of(source, words=COMMON)
    with pytest.raises(TreebridgeError, match=r"swapped.tsv: source and target look swapped"):
        Bridge.fit(bitext, into, target, source)
    assert not list((tmp_path / "cache").glob("links/*"))
    unchecked = BridgeSettings(aligner="fast-align", check_sides=False)
    assert gather(bitext, source, target, unchecked, known=COMMON).links.total


@pytest.mark.parametrize("code", ["es", "pt", "ro", "pl", "fi", "el"])
def test_real_bitexts(code: str, shared: Path) -> None:
    bitext = Bitext.read(shared / "data" / "bitext" / f"en-{code}.tsv.xz")
    pairs = list(islice(bitext, 100))
    trees = Treebank.read(shared / "data/ud-2.6/UD_English-EWT/en_ewt-ud-dev.conllu")
    known = common_words(tree.forms for tree in trees)
    one = Knows()
    check_sides(pairs, one, one, known)
    with pytest.raises(TreebridgeError, match="common words of the treebank"):
        check_sides(swapped(pairs), one, one, known)
