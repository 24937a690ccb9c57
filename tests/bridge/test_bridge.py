"""Bridges from artificial links: the rotation is found, senses help, errors are clear."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from latent import LatentEncoder, links_of

from treebridge import TreebridgeError
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.collect import Occurrences, collect
from treebridge.bridge.fit import fit_bridge, judge
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.layout import Chooser
from treebridge.bridge.quality import HeldOut, collect_held_out, retrieval, verdict
from treebridge.bridge.sense_report import describe_senses
from treebridge.bridge.settings import CollectSettings, FitSettings
from treebridge.bridge.space import Space
from treebridge.corpus.artificial import World

WORLD = World(5)
PAIRS = links_of(WORLD, "near", 5000)
SOURCE, TARGET = (LatentEncoder(WORLD.languages[name], context=1.5) for name in ("source", "near"))
SETTINGS = CollectSettings()


@pytest.fixture(scope="module")
def occurrences(tmp_path_factory: pytest.TempPathFactory) -> Occurrences:
    return collect(PAIRS, SOURCE, TARGET, SETTINGS, tmp_path_factory.mktemp("collect") / "a")


@pytest.fixture(scope="module")
def held() -> HeldOut:
    return collect_held_out(PAIRS(), Chooser(SOURCE, TARGET, SETTINGS))


def fit(occurrences: Occurrences, held: HeldOut, into: Space | None = None, **settings) -> Bridge:
    bridge, _, _ = fit_bridge(occurrences, SOURCE, TARGET, into, FitSettings(**settings))
    judge(bridge, occurrences, held)
    return bridge


def test_the_rotation_between_the_spaces_is_found(occurrences, held) -> None:
    true = SOURCE.rotation @ TARGET.rotation.T
    for settings in ({}, {"paper": True}, {"level": "occurrence"}, {"weighting": "sqrt"}):
        bridge = fit(occurrences, held, **settings)
        assert np.abs(bridge.w.T @ bridge.w - np.eye(48)).max() < 1e-6
        assert np.trace(bridge.w @ true.T) / 48 > 0.9, settings
        assert bridge.quality["cosine"] > 0.8 > bridge.quality["cosine_unmapped"]
        assert bridge.quality["verdict"].startswith("good")


def test_occurrences_are_weighed_and_mapped_like_anchors(occurrences, held) -> None:
    maps = {
        weighting: fit(occurrences, held, level="occurrence", weighting=weighting, map="blend")
        for weighting in ("none", "sqrt", "count")
    }
    assert all(bridge.quality["verdict"].startswith("good") for bridge in maps.values())
    assert not np.allclose(maps["none"].w, maps["count"].w, atol=1e-3)
    w = maps["count"].w
    assert np.abs(w.T @ w - np.eye(48)).max() > 1e-3  # not a rotation
    with pytest.raises(TreebridgeError, match="choose level word or sense"):
        fit(occurrences, held, level="occurrence", map="rcsls")


def test_quality_block(occurrences, held) -> None:
    quality = fit(occurrences, held).quality
    shape = quality["anisotropy"]
    assert shape["target"] > 0.2 and abs(shape["target_isotropic"]) < 0.02
    for way in ("target_to_source", "source_to_target"):
        scores = quality[way]
        assert set(scores) == {"nn_p1", "nn_p5", "csls_p1", "csls_p5"}
        assert scores["nn_p5"] >= scores["nn_p1"] > quality["unmapped"]["nn_p1"] + 30
    assert quality["held_out"] > 500 and quality["chance"] < 10
    without = fit(occurrences, held, isotropy=False).quality["anisotropy"]
    assert without["target_isotropic"] == pytest.approx(without["target"], abs=0.03)


def test_ambiguous_words_get_their_senses(occurrences, held) -> None:
    """Purity above .9 for frequent words, and better retrieval than at word level."""
    _, found, labels = fit_bridge(occurrences, SOURCE, TARGET, None, FitSettings())
    senses = describe_senses(occurrences, labels, found, PAIRS())
    ambiguous, forms = WORLD.languages["near"].ambiguous, WORLD.languages["source"].forms
    sizes = Counter[str]()
    for sense in senses:
        sizes[sense["word"]] += sense["size"]
    frequent = [word for word in ambiguous if sizes[word] > 100]
    pure = total = several = 0
    for word in frequent:
        stems = [forms[concept] for concept in ambiguous[word]]
        mine = [sense for sense in senses if sense["word"] == word]
        several += len(mine) > 1
        for sense in mine:
            counts = Counter[int]()
            for source, count in sense["source"].items():
                counts[source.startswith(stems[0])] += count
            pure, total = pure + max(counts.values()), total + counts.total()
    assert len(frequent) >= 3 and several >= 0.7 * len(frequent)
    assert pure / total > 0.9
    sense, word = (fit(occurrences, held, level=level).quality for level in ("sense", "word"))
    assert sense["target_to_source"]["csls_p1"] >= word["target_to_source"]["csls_p1"]
    assert sense["types_with_several_senses"] > 0 == word["types_with_several_senses"]


def test_into_a_parsers_space(occurrences, held) -> None:
    """Source vectors are normalised with the parser's means and match the mapped ones."""
    sentences = [tree.forms for tree in WORLD.treebank("source", 500, part="other")]
    vectors = np.concatenate([e.vectors for e in SOURCE.encode(sentences)])
    space = Space.of(SOURCE, Isotropy.fit(vectors))
    bridge = fit(occurrences, held, into=space)
    assert bridge.into is space
    mapped, there = bridge.transform(held.target), space.transform(held.source)
    assert (mapped * there).sum(1).mean() > 0.8
    with pytest.raises(TreebridgeError, match="trained with isotropy"):
        fit(occurrences, held, into=space, isotropy=False)
    with pytest.raises(TreebridgeError, match="a different encoder or uses other layers"):
        fit_bridge(occurrences, TARGET, TARGET, space, FitSettings())


def test_save_load_transform(occurrences, held, tmp_path: Path) -> None:
    bridge, found, labels = fit_bridge(occurrences, SOURCE, TARGET, None, FitSettings())
    bridge.senses = describe_senses(occurrences, labels, found, PAIRS())
    bridge.save(tmp_path / "b")
    loaded = Bridge.load(tmp_path / "b")
    np.testing.assert_array_equal(loaded.transform(held.target), bridge.transform(held.target))
    np.testing.assert_allclose(  # a row alone and in a batch
        bridge.transform(held.target[:1]), bridge.transform(held.target)[:1], atol=1e-6
    )
    assert loaded.senses == bridge.senses and loaded.made["level"] == "sense"
    assert "quality on held-out" in (tmp_path / "b" / "README.md").read_text()
    loaded.check(TARGET)
    with pytest.raises(TreebridgeError, match="expected the encoder 'qab'"):
        loaded.check(SOURCE)
    senses = tmp_path / "b" / "senses.jsonl"
    senses.write_bytes(senses.read_bytes().replace(b"0", b"1"))  # as long as before, and JSON
    with pytest.raises(TreebridgeError, match=r"senses\.jsonl"):
        Bridge.load(tmp_path / "b")


def test_folders_of_another_kind_or_format(occurrences, tmp_path: Path) -> None:
    bridge, _, _ = fit_bridge(occurrences, SOURCE, TARGET, None, FitSettings(level="word"))
    folder = tmp_path / "b"
    bridge.save(folder)
    bridge.save(folder)  # replacing a bridge is allowed
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "format": 99}))
    with pytest.raises(TreebridgeError, match=r"has format 99, .* update treebridge"):
        Bridge.load(folder)
    (folder / "config.json").write_text(json.dumps({**config, "treebridge": "parser"}))
    with pytest.raises(TreebridgeError, match="expected a bridge, found a parser"):
        Bridge.load(folder)
    with pytest.raises(TreebridgeError, match="folder not found"):
        Bridge.load(tmp_path / "c")
    with pytest.raises(TreebridgeError, match="is not a bridge; choose another path"):
        bridge.save(folder)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "bridge.safetensors").write_bytes(b"broken")
    with pytest.raises(TreebridgeError, match=r"bridge.safetensors has 6 bytes instead of"):
        Bridge.load(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]  # nothing left behind


def test_too_few_links(tmp_path: Path) -> None:
    few = collect(links_of(WORLD, "near", 40), SOURCE, TARGET, SETTINGS, tmp_path / "few")
    with pytest.raises(TreebridgeError, match="anchors are too few for a map of 48 dimensions"):
        fit_bridge(few, SOURCE, TARGET, None, FitSettings())


def test_a_useless_bridge_is_called_useless(occurrences, held) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=held.target.shape).astype(np.float32)
    noise = HeldOut(vectors, held.source, held.target_words, held.source_words)
    bridge = fit(occurrences, noise, level="word")
    assert "swapped" in bridge.quality["verdict"]
    assert verdict(70, 1).startswith("good") and verdict(50, 1).startswith("fair")


def test_retrieval_against_the_definition() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(60, 5)), rng.normal(size=(60, 5))
    words = [f"w{i % 9}" for i in range(60)]
    found = retrieval(x, words, y, words)
    unit_x, unit_y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, y))
    order = np.argsort(-(unit_x @ unit_y.T), axis=1)
    p1 = np.mean([words[order[q, 0]] == words[q] for q in range(60)])
    p5 = np.mean([words[q] in [words[c] for c in order[q, :5]] for q in range(60)])
    assert found["nn_p1"] == pytest.approx(100 * p1) and found["nn_p5"] == pytest.approx(100 * p5)


def test_wrong_settings(occurrences) -> None:
    for settings in ({"level": "letter"}, {"weighting": "x"}, {"map": "x"}):
        with pytest.raises(TreebridgeError, match="choose from "):
            fit_bridge(occurrences, SOURCE, TARGET, None, FitSettings(**settings))
