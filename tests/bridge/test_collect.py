"""Two-pass collection: correct rows, uniform sampling, interruptions without a trace."""

from __future__ import annotations

import locale
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from latent import LatentEncoder, links_of

from treebridge.bridge import shards as module
from treebridge.bridge.collect import Occurrences, collect
from treebridge.bridge.layout import Chooser, lay_out, places
from treebridge.bridge.make import gathered_key
from treebridge.bridge.settings import BridgeSettings, CollectSettings
from treebridge.corpus import tokens
from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Bitext, Pair
from treebridge.errors import TreebridgeError

WORLD = World(11)
SENTENCES = 400


def encoders() -> tuple[LatentEncoder, LatentEncoder]:
    return LatentEncoder(WORLD.languages["source"]), LatentEncoder(WORLD.languages["near"])


def run(folder: Path) -> Occurrences:
    return collect(links_of(WORLD, "near", SENTENCES), *encoders(), CollectSettings(), folder)


def test_every_row_is_its_occurrence(tmp_path: Path) -> None:
    found = run(tmp_path / "a")
    source, target = encoders()
    chooser = Chooser(source, target, CollectSettings())
    pairs = list(links_of(WORLD, "near", SENTENCES)())
    layout = found.layout
    assert len(found) > 1000 and (np.diff(layout.offsets) >= 5).all()
    for t, word in enumerate(layout.types):
        for row in range(layout.offsets[t], layout.offsets[t + 1]):
            number, i, j = found.where[row]
            pair, links = pairs[number]
            assert pair.target[j].lower() == word and [i, j] in links.tolist()
            assert not chooser.is_held_out(int(number))
    for row in range(0, len(found), 97):
        number, i, j = found.where[row]
        pair = pairs[number][0]
        np.testing.assert_array_equal(found.target[row], target(pair.target)[j].astype(np.float16))
        np.testing.assert_array_equal(found.source[row], source(pair.source)[i].astype(np.float16))
    assert len({tuple(row) for row in found.where}) == len(found)  # no duplicates


def test_types_seen_often_enough_are_kept() -> None:
    pair, links = Pair(["x", "y"], ["five", "four"]), np.array([[0, 0], [1, 1]])
    walk = [(pair, links)] * 4 + [(pair, links[:1])]
    chooser = Chooser(*encoders(), CollectSettings(min_per_type=5, held_out=0))
    layout = lay_out(walk, chooser)
    assert layout.types == ["five"] and layout.counts.tolist() == [5] and len(layout) == 5


def test_disk_space_is_four_bytes_per_dimension_and_occurrence(tmp_path: Path) -> None:
    found = run(tmp_path / "a")
    size = sum((tmp_path / "a" / name).stat().st_size for name in ("target.f16", "source.f16"))
    assert size == 4 * 48 * len(found)


def test_what_makes_an_anchor() -> None:
    source, target = encoders()
    pair = Pair(["x", "y", "z", "v", "longlonglonglong"], ["Abc", "3", "a.b", ".", "d"])
    links = np.array([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]])
    whole = Chooser(source, target, CollectSettings(anchor_words="whole")).links(pair, links)
    assert whole == [(0, 0, "abc"), (3, 3, ".")]
    every = Chooser(source, target, CollectSettings(anchor_words="all")).links(pair, links)
    assert every == [(0, 0, "abc"), (3, 3, "."), (4, 4, "d")]
    assert Chooser(source, target, CollectSettings()).links(pair, links[:0]) == []


def test_frequent_types_are_sampled_uniformly() -> None:
    source, target = encoders()
    pairs = [(Pair(["x"], ["w"]), np.array([[0, 0]])) for _ in range(60)]
    times = Counter[int]()
    for seed in range(300):
        chooser = Chooser(source, target, CollectSettings(max_per_type=15, held_out=0, seed=seed))
        layout = lay_out(pairs, chooser)
        kept = [(n, p) for n, _, found in places(pairs, chooser, layout) for p in found]
        assert sorted(p.row for _, p in kept) == list(range(15))
        times.update(n for n, _ in kept)
    expected = 300 * 15 / 60
    deviation = (expected * 0.75) ** 0.5
    assert all(abs(times[n] - expected) < 5 * deviation for n in range(60))


def test_only_sentences_with_something_kept_are_encoded(tmp_path: Path) -> None:
    source, target = encoders()
    settings = CollectSettings(max_per_type=5)
    found = collect(links_of(WORLD, "near", SENTENCES), source, target, settings, tmp_path / "a")
    used = len(set(found.where[:, 0].tolist()))
    assert source.encoded == target.encoded == used < SENTENCES


def same_bytes(a: Path, b: Path) -> None:
    names = sorted(path.name for path in a.iterdir())
    assert names == sorted(path.name for path in b.iterdir())
    for name in names:
        assert (a / name).read_bytes() == (b / name).read_bytes(), name


def test_interrupted_and_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEP", 32)
    run(tmp_path / "whole")
    encode = LatentEncoder.encode
    allowed = [100]

    def tired(self, sentences):
        for item in encode(self, sentences):
            allowed[0] -= 1
            if allowed[0] < 0:
                raise KeyboardInterrupt
            yield item

    monkeypatch.setattr(LatentEncoder, "encode", tired)
    interruptions = 0
    while True:
        try:
            run(tmp_path / "pieces")
            break
        except KeyboardInterrupt:
            interruptions += 1
            allowed[0] = 150
    assert interruptions >= 3
    same_bytes(tmp_path / "whole", tmp_path / "pieces")


def test_types_are_kept_whatever_the_locale(tmp_path: Path) -> None:
    pairs = [(Pair(["x"], ["maçã"]), np.array([[0, 0]]))] * 5
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "C")  # files are ASCII unless they say otherwise
        found = collect(lambda: pairs, *encoders(), CollectSettings(held_out=0), tmp_path / "a")
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    assert found.layout.types == ["maçã"]


def test_killed_at_any_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After kill -9 between any two sentences, the next run resumes and writes the same bytes."""
    monkeypatch.setattr(module, "STEP", 32)
    run(tmp_path / "whole")
    script = f"""
import os, sys
sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}
import test_collect as t
t.module.STEP = 32
encode, left = t.LatentEncoder.encode, [int(sys.argv[1])]
def dying(self, sentences):
    for item in encode(self, sentences):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), 9)
        yield item
t.LatentEncoder.encode = dying
t.run(t.Path({str(tmp_path / "killed")!r}))
"""
    for after in (0, 70, 333):
        command = [sys.executable, "-c", script, str(after)]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == -9, done.stderr.decode()
    run(tmp_path / "killed")
    same_bytes(tmp_path / "whole", tmp_path / "killed")


def test_a_full_disk_is_found_before_anything_is_encoded(tmp_path: Path) -> None:
    """A file size limit simulates a full disk; space is reserved before encoding."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    source, target = encoders()
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
        with pytest.raises(TreebridgeError, match=r"cannot be written: .*set TREEBRIDGE_CACHE"):
            collect(
                links_of(WORLD, "near", SENTENCES),
                source,
                target,
                CollectSettings(),
                tmp_path / "full",
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert source.encoded == target.encoded == 0 and not (tmp_path / "full").exists()
    collect(
        links_of(WORLD, "near", SENTENCES), source, target, CollectSettings(), tmp_path / "full"
    )
    collect(
        links_of(WORLD, "near", SENTENCES), source, target, CollectSettings(), tmp_path / "never"
    )
    same_bytes(tmp_path / "full", tmp_path / "never")


def test_links_are_found_anew_once_words_are_cut_differently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "en-pt.tsv"
    path.write_text("I like the sea.\tGosto do mar.\n", encoding="utf-8")

    def key(**settings: bool) -> str:
        return gathered_key(Bitext.read(path, **settings), *encoders(), BridgeSettings())

    first = key()
    assert key() == first != key(contractions=False)
    monkeypatch.setitem(tokens._BY_LANGUAGE, "pt", ["xyz"])
    assert key() != first
