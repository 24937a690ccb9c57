"""How near a treebank is to a target: word order and labels."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sisters import WORLD

from treebridge import Bridge
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.space import Space
from treebridge.parse.nearness import WordOrderProfile


@pytest.fixture(scope="module")
def profiles() -> dict[str, WordOrderProfile]:
    return {
        name: WordOrderProfile.of_trees(WORLD.treebank(name, 120))
        for name in ("source", "near", "far", "sister")
    }


def test_sisters_have_the_same_order(profiles: dict[str, WordOrderProfile]) -> None:
    far = profiles["far"]
    assert far.same_order(profiles["sister"]) > 99
    assert far.same_order(profiles["source"]) < 60
    assert profiles["source"].same_order(profiles["near"]) > 99
    assert far.same_order(far) == 100 == pytest.approx(far.same_labels(far))


def test_labels_overlap() -> None:
    one = WordOrderProfile(Counter(a=30, b=10), Counter(a=30))
    two = WordOrderProfile(Counter(a=10, c=30), Counter(a=5))
    assert one.same_labels(two) == pytest.approx(25)
    assert one.same_order(two) == pytest.approx(50)  # by the only label that both have
    assert one.same_order(WordOrderProfile(Counter(c=50), Counter())) == 0
    rare = WordOrderProfile(Counter(a=9), Counter(a=9))
    assert one.same_order(rare) == 0  # too few to tell


def test_a_bridge_knows_the_order_of_its_target(tmp_path: Path) -> None:
    space = Space("x", "f", "", 2, Isotropy.none(2))
    labels = {"amod": {"arcs": 50, "LAS": 60.0, "before": 20.0}, "root": {"arcs": 9, "before": 0.0}}
    bridge = Bridge(space, space, np.eye(2), quality={"projected": {"labels": labels}})
    found = WordOrderProfile.of_bridge(bridge)
    assert found is not None and found.arcs == {"amod": 50} and found.share_before("amod") == 0.2
    assert WordOrderProfile.of_bridge(Bridge(space, space, np.eye(2))) is None
