"""How a parser crosses without a map: as it is, or with means of the target's own text."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from latent import LatentEncoder

from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.space import Space
from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Pair
from treebridge.encode.store import encode_into_store
from treebridge.experiment.transfer import Normalized, Straight
from treebridge.progress import QUIET

WORLD = World(5)


def test_one_encoder_reads_the_target_with_the_means_of_target_text() -> None:
    encoder = LatentEncoder(WORLD.languages["source"])
    source = [tree.forms for tree in WORLD.treebank("source", 60)]
    target = [words[:2] for words in source]  # other words, other means
    vectors = encode_into_store(encoder, source).vectors
    space = Space.of(encoder, Isotropy.fit(vectors, 5))
    parser = SimpleNamespace(space=space, across=lambda bridge, _: bridge)
    lab = SimpleNamespace(encoder=lambda *_: encoder, progress=QUIET)
    text = SimpleNamespace(find_bitext=lambda: [Pair(["x"], words) for words in target])
    assert Straight().cross(lab, text, "multilingual", parser) is parser
    crossed = Normalized().cross(lab, text, "multilingual", parser)
    rows = encode_into_store(encoder, target).vectors
    own, other = crossed.transform(rows), space.transform(rows)
    assert np.linalg.norm(own.mean(0)) < 1e-3 < np.linalg.norm(other.mean(0))
