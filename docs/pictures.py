"""Make the pictures of the documentation with treebridge itself: python docs/pictures.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from treebridge import Parser, Sentence
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.mapping import Moments, orthogonal
from treebridge.show.space import Point, draw_space

HERE = Path(__file__).parent / "pictures"


def card(svg: str) -> str:
    """Put a light background behind a picture, so that it can be read on a dark page."""
    head, body = svg.split(">", 1)
    background = '<rect width="100%" height="100%" rx="8" fill="#fbfaf7"/>'
    return f'{head} color="#24292f">{background}{body}'


def spanish() -> str:
    """Draw a sentence parsed by the shipped model."""
    sentence = Parser.load("es")("Los árboles crecen despacio en las montañas del norte.")[0]
    return sentence.draw(format="svg")


def tree() -> str:
    """A tree in which the parser doubts one arc."""
    sure, unsure = "ArcProb=0.980|LabelProb=0.990", "ArcProb=0.610|LabelProb=0.700"
    sentence = Sentence.from_words(
        ["The", "old", "bank", "failed", "in", "spring"],
        upos=["DET", "ADJ", "NOUN", "VERB", "ADP", "NOUN"],
        heads=[3, 3, 4, 0, 6, 4],
        deprels=["det", "amod", "nsubj", "root", "case", "obl"],
        misc=[sure] * 5 + [unsure],
    )
    return sentence.draw(format="svg")


def space() -> tuple[str, str]:
    """Two senses of a word in two made-up spaces, one a turned copy of the other in a cone."""
    rng = np.random.default_rng(3)
    n, dim = 25, 32
    senses = rng.normal(size=(2, dim))
    group = np.repeat([0, 1], n)
    source = senses[group] + 0.35 * rng.normal(size=(2 * n, dim))
    turn = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    target = (source + 0.25 * rng.normal(size=source.shape)) @ turn.T + 2.0
    left, right = (Isotropy.fit(rows).transform(rows) for rows in (target, source))
    moments = Moments(dim, dim)
    moments.add(left, right)
    w = orthogonal(moments)
    points = [Point(True, g, "target") for g in group] + [Point(False, g, "source") for g in group]
    names = ["bank", "bench"]
    return (
        draw_space(np.vstack([target, source]), points, "before the map", names),
        draw_space(np.vstack([left @ w.T, right]), points, "after the map", names),
    )


if __name__ == "__main__":
    before, after = space()
    pictures = {"spanish": spanish(), "tree": tree(), "before": before, "after": after}
    for name, picture in pictures.items():
        (HERE / f"{name}.svg").write_text(card(picture) + "\n", encoding="utf-8")
