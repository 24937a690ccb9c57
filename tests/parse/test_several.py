"""Trees of several languages in one space."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made import QUICK
from sisters import DEV, ENCODERS, FIVE, GOLD, TREES, bridge_of, sister_of
from stop import Stop

from treebridge import Bridge, Parser, TreebridgeError
from treebridge.bridge.isotropy import Isotropy
from treebridge.parse.batches import Examples
from treebridge.parse.several import Mixture, automatic_weights, with_others


@pytest.fixture(scope="module")
def alone(place: Path) -> Parser:
    return Parser.train(TREES, ENCODERS["source"], DEV, FIVE)


@pytest.fixture(scope="module")
def bridges(alone: Parser, place: Path) -> dict[str, Bridge]:
    return {name: bridge_of(alone, name, place / name) for name in ("sister", "far")}


@pytest.fixture(scope="module")
def together(bridges: dict[str, Bridge]) -> Parser:
    sister = sister_of(bridges["sister"])
    return Parser.train(TREES, ENCODERS["source"], DEV, FIVE, also=[sister])


def test_training_goes_on_from_a_parser(alone: Parser, bridges: dict[str, Bridge]) -> None:
    sister = sister_of(bridges["sister"])
    renamed = [
        tree.annotate(
            deprels=["obl:arg" if label == "obl" else label for label in tree.deprels],
            upos=["INTJ" if tag == "ADV" else tag for tag in tree.upos],
        )
        for tree in sister.trees
    ]
    also = [replace(sister, trees=renamed)]
    once = replace(QUICK, epochs=1, hidden=12)  # the network is that of the parser
    more = Parser.train(TREES[:90], ENCODERS["source"], DEV, once, also=also, start=alone)
    assert more.settings.hidden == alone.settings.hidden and more.space is alone.space
    assert list(more.labels) == [*alone.labels, "obl:arg"]
    assert list(more.tags) == [*alone.tags, "INTJ"]
    assert more.scores["LAS"] > 70  # one epoch from scratch: below 50
    assert las(more, bridges["far"]) > las(alone, bridges["far"]) + 5
    with pytest.raises(TreebridgeError, match="trained with tags predicted, not gold"):
        Parser.train(TREES, ENCODERS["source"], DEV, replace(QUICK, tags="gold"), start=alone)
    across = alone.across(bridges["far"], ENCODERS["far"])
    with pytest.raises(TreebridgeError, match="not from one across a bridge"):
        Parser.train(TREES, ENCODERS["source"], DEV, QUICK, start=across)


def las(parser: Parser, bridge: Bridge) -> float:
    return parser.across(bridge, ENCODERS["far"]).evaluate(GOLD)["LAS"]


def test_trees_of_a_related_language_help(
    alone: Parser, together: Parser, bridges: dict[str, Bridge]
) -> None:
    """The target has no tree; its bridge was made for the parser of the source alone."""
    assert las(together, bridges["far"]) > las(alone, bridges["far"]) + 10
    assert together.scores["LAS"] > 70  # a tiny network does not learn two word orders for nothing
    assert np.array_equal(together.space.isotropy.means, alone.space.isotropy.means)


def test_what_it_learned_from_is_saved_and_on_the_card(together: Parser, tmp_path: Path) -> None:
    together.about["treebank"] = "source.conllu"
    together.save(tmp_path / "hub")
    (source,) = Parser.load(tmp_path / "hub", ENCODERS["source"]).about["sources"]
    assert source["treebank"] == "sister.conllu" and source["language"] == "qad"
    assert source["sentences"] == 150 and source["licence"] == "CC0 1.0"
    card = (tmp_path / "hub" / "README.md").read_text("utf-8")
    assert "| treebank | `source.conllu` (licence unknown) |" in card
    assert "| further treebank | `sister.conllu` (CC0 1.0): 150 sentences, " in card


def test_labels_and_tags_are_joined_by_name(
    alone: Parser, bridges: dict[str, Bridge], place: Path
) -> None:
    sister = sister_of(bridges["sister"], 20)
    renamed = [
        tree.annotate(
            deprels=["obl:arg" if label == "obl" else label for label in tree.deprels],
            upos=["INTJ" if tag == "ADV" else tag for tag in tree.upos],
        )
        for tree in sister.trees
    ]
    further = replace(sister, trees=renamed)
    parser = Parser.train(TREES[:40], ENCODERS["source"], DEV[:9], replace(QUICK, epochs=1),
                          also=[replace(further, bridge=_into(further.bridge, TREES[:40]))])  # fmt: skip
    assert {"obl", "obl:arg"} <= set(parser.labels) and {"ADV", "INTJ"} <= set(parser.tags)


def _into(bridge: Bridge, trees: object) -> Bridge:
    """The bridge as if fitted into the space of other trees."""
    vectors = [item.vectors for item in ENCODERS["source"].encode(t.forms for t in trees)]  # type: ignore[attr-defined]
    means = Isotropy.fit(np.concatenate(vectors), QUICK.isotropy).means
    return replace(bridge, into=bridge.into.with_means(means))


def test_an_interrupted_run_ends_in_the_same_weights(
    bridges: dict[str, Bridge], tmp_path: Path
) -> None:
    bridge = _into(bridges["sister"], TREES[:60])
    given = {"also": [sister_of(bridge, 30)], "weights": [1, 1.5], "work": tmp_path}
    twice = replace(QUICK, epochs=2)

    def train(**more: object) -> Parser:
        return Parser.train(TREES[:60], ENCODERS["source"], DEV[:9], twice, **given, **more)

    with pytest.raises(KeyboardInterrupt):
        train(progress=Stop(0.7))
    watched = Stop(2)
    resumed = train(progress=watched)
    assert "resuming after epoch 1" in watched.said
    given["work"] = tmp_path / "again"
    whole = train()
    for name, weight in whole.biaffine.state_dict().items():
        assert np.array_equal(weight, resumed.biaffine.state_dict()[name]), name
    given |= {"work": tmp_path, "weights": [1, 2]}  # other weights: another run
    again = Stop(2)
    train(progress=again)
    assert not again.said


def test_an_epoch_has_each_treebank_as_often_as_its_weight_says(
    alone: Parser, bridges: dict[str, Bridge]
) -> None:
    mixed = mixture(alone, bridges, (1, 2.5))
    first, further = (int(part.lengths.sum()) for part in mixed.parts)
    plan = mixed.epoch(QUICK, 0)
    split = len(mixed.parts[0].heads)
    words = [sum(int(mixed.lengths[b].sum()) for b in plan if (b[0] >= split) == later)
             for later in (False, True)]  # fmt: skip
    assert words[0] == first and 2.3 * further < words[1] < 2.7 * further
    assert all(len({index >= split for index in batch.tolist()}) == 1 for batch in plan)
    assert [b.tolist() for b in plan] == [b.tolist() for b in mixed.epoch(QUICK, 0)]
    assert [b.tolist() for b in plan] != [b.tolist() for b in mixed.epoch(QUICK, 1)]
    later = next(batch for batch in plan if batch[0] >= split)
    (read,) = mixed.batches([later])
    (own,) = mixed.parts[1].batches([later - split])
    assert np.array_equal(read.vectors, own.vectors)
    none = mixture(alone, bridges, (0, 1)).epoch(QUICK, 0)
    assert none and all(batch[0] >= split for batch in none)


def mixture(parser: Parser, bridges: dict[str, Bridge], weights: tuple[float, ...]) -> Mixture:
    sister = sister_of(bridges["sister"], 60)
    names = parser.labels, parser.tags
    first = Examples.of(TREES[:50], replace(sister, trees=TREES[:50], encoder=ENCODERS["source"]).store(),
                        parser.space, *names)  # fmt: skip
    return with_others(first, [sister], names, weights)


def test_small_treebanks_are_seen_more_often() -> None:
    assert automatic_weights([200_000, 50_000, 200_000]) == [1, 2, 1]
    assert automatic_weights([200_000, 50_000], [0.5]) == [1, 1]


def test_what_cannot_be_mixed_is_refused(
    alone: Parser, bridges: dict[str, Bridge], place: Path
) -> None:
    sister = sister_of(bridges["sister"], 20)

    def train(
        trees: object = TREES, encoder: str = "source", tune: str = "parser", **more: object
    ) -> None:
        settings = replace(QUICK, epochs=1, tune=tune)
        Parser.train(trees, ENCODERS[encoder], DEV[:9], settings, **{"also": [sister], **more})  # type: ignore[arg-type]

    with pytest.raises(
        TreebridgeError, match=r"bridge of sister.conllu leads into the space of 'qaa'"
    ):
        train(encoder="far")
    with pytest.raises(
        TreebridgeError, match="trained on other trees; fit it into a parser of the"
    ):
        train([s for s in TREES if len(s) < 6][:8])
    with pytest.raises(TreebridgeError, match="cannot join while the encoder learns"):
        train(tune="encoder")
    with pytest.raises(TreebridgeError, match="3 weights for 2 treebanks"):
        train(weights=[1, 1, 1])
    with pytest.raises(TreebridgeError, match="must not be negative"):
        train(weights=[1, -1])
    bare = replace(sister, trees=[s.annotate(heads=[None] * len(s)) for s in sister.trees])
    with pytest.raises(TreebridgeError, match=r"sister.conllu sentence 1 has words without HEAD"):
        train(also=[bare])
