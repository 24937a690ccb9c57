"""A parser of an artificial language that knows its words by heart, alone and across a bridge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Has the folders `model`, `bridged` and `vectors.vec`."""
    # Here, because every test loads this file and few need torch.
    from made import DEV, DIM, QUICK, TRAIN, make_vectors

    from treebridge import Bridge, Parser
    from treebridge.bridge.space import Space
    from treebridge.encode.static import StaticEncoder

    place = tmp_path_factory.mktemp("home")
    encoder = make_vectors(place / "vectors.vec", TRAIN, DEV)
    parser = Parser.train(TRAIN, encoder, DEV, QUICK)
    parser.about = {"language": "qaa"}
    parser.save(place / "model")
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(DIM, DIM)))[0]
    words = sorted({form for s in (*TRAIN, *DEV) for form in s.forms})
    rows = encoder(words) @ turn.T
    lines = (" ".join([w, *(f"{x:.6f}" for x in v)]) for w, v in zip(words, rows, strict=True))
    (place / "turned.vec").write_text(f"{len(words)} {DIM}\n" + "\n".join(lines) + "\n")
    turned = StaticEncoder(place / "turned.vec")
    iso = parser.space.isotropy
    target = Space.of(turned, type(iso)(iso.means @ turn.T))
    quality = {
        "links": 1000, "linked_target_words": 0.8, "occurrences": 900, "types": 90, "anchors": 100,
        "types_with_several_senses": 4, "cosine_unmapped": 0.0, "cosine": 0.7,
        "verdict": "good: 80.0 % of held-out words found",
    }  # fmt: skip
    bridge = Bridge(target, parser.space, turn.T, {"target_language": "qab"}, quality)
    parser.across(bridge).save(place / "bridged")
    return place


@pytest.fixture(scope="session")
def text() -> str:
    """Some sentences of the language, as running text."""
    from made import DEV

    return " ".join(sentence.text for sentence in DEV[:12]) + "\n"
