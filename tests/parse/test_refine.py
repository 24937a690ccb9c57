"""Refining on artificial languages: another word order is learned from links alone."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from far import WORLD
from latent import links_of
from stop import Stop
from typer.testing import CliRunner

from treebridge.cli.commands import app
from treebridge.corpus.bitext import Pair
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.edit.marks import set_done
from treebridge.encode.store import encode_into_store
from treebridge.errors import TreebridgeError
from treebridge.parse.batches import Examples
from treebridge.parse.biaffine import Batch, Biaffine
from treebridge.parse.distributions import distributions
from treebridge.parse.new_labels import with_labels
from treebridge.parse.parser import Parser
from treebridge.parse.project.carry import (
    carry,
    choose_pairs,
    choose_sentences,
    own_distributions,
)
from treebridge.parse.project.projected import Projected, soft_loss
from treebridge.parse.project.projection import Soft
from treebridge.parse.refine import Learner, Refining
from treebridge.parse.refinement import refine_parser
from treebridge.parse.score import score
from treebridge.parse.settings import ProjectSettings, RefineSettings
from treebridge.progress import Progress

FEW = RefineSettings(epochs=6, learning_rate=5e-3, patience=9, trees_times=5)
GOLD = WORLD.treebank("far", 80, "dev")
BARE = [
    s.annotate(heads=[None] * len(s), deprels=["_"] * len(s), upos=["_"] * len(s)) for s in GOLD
]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))


def las(parser: Parser) -> float:
    return score(GOLD, parser(BARE))["LAS"]


def test_another_word_order_is_learned(story: tuple[Parser, Parser]) -> None:
    parser, bridged = story
    settings = ProjectSettings(density=0.4, sentences=500)
    pairs = choose_pairs(links_of(WORLD, "far", 900)(), settings)
    assert len(pairs) == 500
    projected, _ = carry(pairs, parser, bridged, settings)
    assert len(projected) == 400  # the most confident four fifths
    refining = Refining(
        bridged, projected, None, None, RefineSettings(epochs=5, learning_rate=5e-3)
    )
    before = las(bridged)
    refined, history = refining.run()
    assert las(refined) > before + 10
    without = replace(refined, bridge=bridged.bridge)
    assert las(without) != las(refined), "the map has learned, too"
    assert las(bridged) == before, "the parser that was refined is another one"
    assert min(entry["held_out"] for entry in history) < history[0]["held_out"]


def test_unlinked_words_are_predicted_anew_before_each_epoch(
    story: tuple[Parser, Parser],
) -> None:
    parser, bridged = story
    settings = ProjectSettings(density=0.4, sentences=100)
    pairs = choose_pairs(links_of(WORLD, "far", 300)(), settings)
    projected, _ = carry(pairs, parser, bridged, settings)
    assert projected.filling is not None
    learn = RefineSettings(epochs=2, learning_rate=5e-3)
    anew, once = (
        Refining(bridged, projected, None, None, replace(learn, refill=refill))
        for refill in (True, False)
    )
    for run in (anew, once):
        run.run()
    for carried, before, after, same in zip(
        projected.filling.carried, projected.soft, anew.projected.soft, once.projected.soft,
        strict=True,
    ):  # fmt: skip
        linked = carried.arcs.sum(1) > 0.999
        np.testing.assert_allclose(after.arcs[linked], before.arcs[linked], atol=2e-3)
        np.testing.assert_array_equal(same.labels, before.labels)
    assert any(  # half of each label is the parser's own
        abs(after.labels - before.labels).max() > 0.1
        for before, after in zip(projected.soft, anew.projected.soft, strict=True)
    )


def test_interrupted_and_resumed_is_the_same_as_in_one_go(
    story: tuple[Parser, Parser], tmp_path: Path
) -> None:
    parser, bridged = story
    settings = ProjectSettings(density=0.4, sentences=100)
    pairs = choose_pairs(links_of(WORLD, "far", 300)(), settings)
    projected, _ = carry(pairs, parser, bridged, settings)
    learn = RefineSettings(epochs=3, learning_rate=5e-3)
    start = Refining(bridged, projected, None, None, learn, work=tmp_path / "work")
    whole, history = replace(start, work=None).run()
    with pytest.raises(KeyboardInterrupt):
        replace(start, progress=Stop(0.5)).run()
    resumed = Stop(1.0)
    continued, again = replace(start, progress=resumed).run()
    assert resumed.said[0] == "resuming after epoch 1" and len(resumed.said) == 1
    assert again == history
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, continued.model.state_dict()[name]), name
    assert whole.bridge and continued.bridge and (whole.bridge.w == continued.bridge.w).all()
    other = Stop(1.0)  # a run with another seed does not resume this one
    replace(start, settings=replace(learn, seed=2), progress=other).run()
    assert other.said == []


def test_a_few_trees_help(story: tuple[Parser, Parser]) -> None:
    _, bridged = story
    few = WORLD.treebank("far", 40)
    store = encode_into_store(bridged.load_encoder(), [tree.forms for tree in few])
    assert bridged.bridge is not None
    trees = Examples.of(few, store, bridged.bridge, bridged.labels, bridged.tags)
    refining = Refining(bridged, Projected([], [], []), None, trees, FEW)
    assert las(refining.run()[0]) > las(bridged) + 10

    def words_in_epoch(settings: RefineSettings) -> int:
        learn = np.zeros(0, np.int64)
        run = replace(refining, settings=settings)
        steps = run._plan(bridged.settings, learn, np.random.default_rng(1), 0)
        return sum(int(trees.lengths[indices].sum()) for _, indices in steps)

    assert words_in_epoch(FEW) == 5 * trees.arcs
    # Many trees need no repetition: an epoch stays short.
    assert words_in_epoch(replace(FEW, trees_enough=3 * trees.arcs)) == 3 * trees.arcs
    assert words_in_epoch(replace(FEW, trees_enough=1)) == trees.arcs


def test_the_loss_skips_what_is_unknown(story: tuple[Parser, Parser]) -> None:
    """The losses of the two halves of an annotation add up to that of the whole."""
    _, bridged = story
    assert bridged.bridge is not None
    whole = WORLD.treebank("far", 8)
    store = encode_into_store(bridged.load_encoder(), [tree.forms for tree in whole])
    model = bridged.biaffine.eval()

    def loss(keep: Callable[[int], bool]) -> float:
        def kept(values: Sequence[Any], unknown: Any) -> list[Any]:
            return [value if keep(i) else unknown for i, value in enumerate(values)]

        trees = [
            tree.annotate(
                heads=kept(tree.heads, None),
                upos=kept(tree.upos, "_"),
                # A label whose head is unknown is skipped too; `root` says what the head is.
                deprels=kept(tree.deprels, "_") if keep(0) else
                [label if keep(i) or head else "_"
                 for i, (label, head) in enumerate(zip(tree.deprels, tree.heads, strict=True))],
            )
            for tree in whole
        ]  # fmt: skip
        examples = Examples.of(trees, store, bridged.bridge, bridged.labels, bridged.tags)
        (batch,) = examples.batches([np.argsort(-examples.lengths, kind="stable")])
        with torch.inference_mode():
            return float(model.loss(batch))

    halves = loss(lambda i: i % 2 == 0), loss(lambda i: i % 2 == 1)
    assert sum(halves) == pytest.approx(loss(lambda i: True), rel=1e-4)
    assert loss(lambda i: False) == 0 and min(halves) > 0


@pytest.fixture(scope="module")
def projected(story: tuple[Parser, Parser], tmp_path_factory: pytest.TempPathFactory) -> Projected:
    """Trees projected to a few sentences."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEBRIDGE_CACHE", str(tmp_path_factory.mktemp("projected")))
        settings = ProjectSettings(density=0.4, sentences=60)
        return carry(choose_pairs(links_of(WORLD, "far", 150)(), settings), *story, settings)[0]


@pytest.fixture(scope="module")
def source_trees(
    story: tuple[Parser, Parser], tmp_path_factory: pytest.TempPathFactory
) -> Examples:
    parser, trees = story[0], WORLD.treebank("source", 200)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEBRIDGE_CACHE", str(tmp_path_factory.mktemp("source")))
        store = encode_into_store(parser.load_encoder(), [tree.forms for tree in trees])
    return Examples.of(trees, store, parser.space, parser.labels, parser.tags)


def test_source_trees_do_not_pass_through_the_targets_map(
    story: tuple[Parser, Parser], source_trees: Examples
) -> None:
    """They change the model but not the map."""
    _, bridged = story
    refined, _ = Refining(bridged, Projected([], [], []), source_trees, None, FEW).run()
    np.testing.assert_array_equal(refined.bridge.w, bridged.bridge.w)
    assert not torch.equal(refined.model.arc_weight, bridged.model.arc_weight)


def test_the_learning_rate_rises_and_falls(
    story: tuple[Parser, Parser], projected: Projected, rates: list[float]
) -> None:
    """Warm-up over a hundred steps, then half a cosine down to zero."""
    Refining(story[1], projected, None, None, replace(FEW, epochs=4)).run()
    steps = np.arange(len(rates))
    first = steps < len(rates) / 4  # in the first epoch
    warm = np.where(first, np.minimum(1, (steps + 1) / 100), 1)
    share = steps / len(rates)
    np.testing.assert_allclose(rates, FEW.learning_rate * warm * (1 + np.cos(np.pi * share)) / 2)
    assert first.sum() > 3


def test_no_gradient_is_longer_than_the_settings_allow(
    story: tuple[Parser, Parser], projected: Projected, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[float] = []

    class Adam(torch.optim.Adam):
        def step(self, *arguments: Any) -> Any:
            parts = [p.grad.norm() for group in self.param_groups for p in group["params"]
                     if p.grad is not None]  # fmt: skip
            lengths.append(float(torch.stack(parts).norm()))
            return super().step(*arguments)

    monkeypatch.setattr(torch.optim, "Adam", Adam)
    Refining(story[1], projected, None, None, replace(FEW, epochs=1)).run()
    assert max(lengths) == pytest.approx(story[1].settings.max_norm, rel=1e-3)


@pytest.mark.parametrize("passes", [1, 2])
def test_every_pass_learns(story: tuple[Parser, Parser], passes: int, tmp_path: Path) -> None:
    settings = RefineSettings(epochs=1, passes=passes)
    trees = WORLD.treebank("far", 10)
    found = refine_parser(story[1], settings, trees=trees, work=tmp_path / "work")
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == ["1", "2"][:passes]
    assert [entry["epoch"] for entry in found.history] == [0, 1]


def test_patience_ends_refining(story: tuple[Parser, Parser], projected: Projected) -> None:
    """With a tiny learning rate no epoch improves on the start."""
    settings = RefineSettings(epochs=9, learning_rate=1e-12, patience=2)
    refined, history = Refining(story[1], projected, None, None, settings).run()
    assert [entry["epoch"] for entry in history] == [0, 1, 2]
    assert torch.equal(refined.model.arc_weight, story[1].model.arc_weight)


class Steps(Progress):
    """Counts the steps of a run."""

    def __init__(self) -> None:
        self.shares: list[float] = []

    def advance(self, stage: str, share: float, **figures: float) -> None:
        assert figures["loss"] > 0 and figures["words_per_second"] > 0 and figures["left"] >= 0
        self.shares.append(share)


def test_an_epoch_has_the_requested_share_of_source_trees(
    story: tuple[Parser, Parser], projected: Projected, source_trees: Examples
) -> None:
    def steps(share: float) -> int:
        counted = Steps()
        settings = RefineSettings(epochs=1, learning_rate=1e-12, source_share=share)
        Refining(story[1], projected, source_trees, None, settings, counted).run()
        assert counted.shares == sorted(counted.shares) and counted.shares[0] == 0
        return len(counted.shares)

    alone, half, twice = steps(0.0), steps(0.5), steps(2.0)
    assert half == pytest.approx(1.5 * alone, abs=2) and twice == pytest.approx(3 * alone, abs=2)
    assert source_trees.lengths.sum() > 3 * projected.lengths.sum()  # more are available


def test_labels_of_the_users_trees_are_learned(story: tuple[Parser, Parser]) -> None:
    _, bridged = story
    own = {"nsubj": "nsubj:own", "obj": "thing"}  # a subtype of a known label, and a new one
    trees = [
        tree.annotate(deprels=[own.get(label, label) for label in tree.deprels])
        for tree in WORLD.treebank("far", 60)
    ]
    wider = with_labels(bridged, own.values(), trees)
    known = len(bridged.labels)
    assert list(wider.labels)[known:] == ["nsubj:own", "thing"]
    assert with_labels(wider, ["_", "thing"]) is wider
    encoder = bridged.load_encoder()
    store = encode_into_store(encoder, [tree.forms for tree in trees])
    examples = Examples.of(trees, store, bridged.bridge, wider.labels, wider.tags)
    learned, _ = Refining(wider, Projected([], [], []), None, examples, FEW).run()
    given = Counter(label for tree in learned(BARE) for label in tree.deprels)
    assert given["nsubj:own"] > 5 * given["nsubj"] and given["thing"] > 5 * given["obj"]


def test_a_new_label_starts_in_the_place_of_the_one_it_replaces(
    story: tuple[Parser, Parser],
) -> None:
    parser, _ = story
    own = {"nsubj": "det:own", "obj": "thing"}
    trees = [
        tree.annotate(deprels=[own.get(label, label) for label in tree.deprels])
        for tree in WORLD.treebank("source", 40)
    ]
    words = [tree.forms for tree in WORLD.treebank("source", 30, "dev")]
    before, after = (
        [label for tree in one(words) for label in tree.deprels]
        for one in (parser, with_labels(parser, own.values(), trees))
    )
    pairs = Counter(zip(before, after, strict=True))
    assert pairs["nsubj", "det:own"] > 10 and pairs["obj", "thing"] > 10
    assert pairs["det", "det"] > 10 and not pairs["det", "det:own"]  # its name says nothing


def test_labels_are_conditioned_on_known_heads(story: tuple[Parser, Parser]) -> None:
    parser, _ = story
    sentences = [tree.forms for tree in WORLD.treebank("source", 12, "dev")]
    vectors = [parser.space.transform(v) for v in map(parser.load_encoder(), sentences)]
    free = dict(distributions(parser.model, vectors))
    nothing = {i: soft._replace(arcs=0 * soft.arcs) for i, soft in free.items()}
    roots = {i: soft._replace(arcs=np.eye(len(soft.arcs) + 1)[0] + 0 * soft.arcs)
             for i, soft in free.items()}  # fmt: skip
    in_turn = range(len(vectors))
    for known, same in ((free, True), (nothing, True), (roots, False)):
        got = dict(distributions(parser.model, vectors, known=[known[i] for i in in_turn]))
        close = [np.allclose(got[i].labels, free[i].labels, atol=1e-5) for i in in_turn]
        assert all(close) if same else not any(close)
        assert all(np.allclose(got[i].arcs, free[i].arcs, atol=1e-5) for i in in_turn)


def test_own_distributions_are_sharpened(story: tuple[Parser, Parser]) -> None:
    _, bridged = story
    sentences = [tree.forms for tree in GOLD]
    mine = own_distributions(sentences, bridged, ProjectSettings(confident=1.0))
    assert len(mine) == len(GOLD)
    vectors = [bridged.bridge.transform(v) for v in map(bridged.load_encoder(), sentences)]
    for index, believed in distributions(bridged.model, vectors):
        kept = mine.soft[index]
        assert (kept.arcs.max(1) >= believed.arcs.max(1) - 2e-3).all()
        assert (kept.arcs.argmax(1) == believed.arcs.argmax(1)).mean() > 0.99


def test_soft_loss_of_hard_labels_is_the_usual_loss(story: tuple[Parser, Parser]) -> None:
    parser, _ = story
    trees = WORLD.treebank("source", 12, "dev")
    store = encode_into_store(parser.load_encoder(), [tree.forms for tree in trees])
    examples = Examples.of(trees, store, parser.space, parser.labels, parser.tags)
    chosen = np.argsort(-examples.lengths, kind="stable")
    (batch,) = examples.batches([chosen])
    soft = [
        Soft(
            np.eye(len(tree) + 1, dtype=np.float32)[examples.heads[i]],
            np.eye(len(parser.labels), dtype=np.float32)[examples.labels[i]],
            np.eye(len(parser.tags), dtype=np.float32)[examples.tags[i]],
        )
        for i, tree in enumerate(trees)
    ]
    vectors = [parser.space.transform(store[i]) for i in range(len(trees))]
    words = [tree.forms for tree in trees]
    padded, beliefs_of = Projected(vectors, soft, words).batch(chosen)
    model = parser.model.eval()
    with torch.inference_mode():
        assert float(soft_loss(model, padded, beliefs_of)) == pytest.approx(
            float(model.loss(batch)), rel=1e-4
        )


def test_gold_tags_need_a_tagger(story: tuple[Parser, Parser]) -> None:
    parser, bridged = story
    wants = replace(parser, model=type(parser.model)(
        replace(parser.settings, tags="gold"), parser.space.dim, len(parser.labels), len(parser.tags)
    ))  # fmt: skip
    pairs = choose_pairs(links_of(WORLD, "far", 60)(), ProjectSettings(density=0.1))
    with pytest.raises(TreebridgeError, match="give a tagger"):
        carry(pairs, wants, bridged, ProjectSettings())
    tagged, _ = carry(
        pairs, wants, replace(bridged, model=wants.model), ProjectSettings(), tagger=parser
    )
    assert all((soft.tags.max(1) > 0.5).all() for soft in tagged.soft)  # unlinked words too
    words = choose_sentences((pair.target for pair, _ in pairs), ProjectSettings(sentences=30))
    assert len(words) == 30
    mine = own_distributions(
        words, replace(bridged, model=wants.model), ProjectSettings(confident=1.0), tagger=parser
    )
    assert all((soft.tags.max(1) > 0.5).all() for soft in mine.soft)
    with pytest.raises(TreebridgeError, match="only 0 sentence pairs"):
        choose_pairs([], ProjectSettings())


def test_every_model_runs_on_its_own_device(
    story: tuple[Parser, Parser], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each model runs on its own device; the tagger's may differ from the parser's."""
    parser, bridged = story
    size = (parser.space.dim, len(parser.labels), len(parser.tags))
    wants = type(parser.model)(replace(parser.settings, tags="gold"), *size)
    tagger = replace(parser, model=copy.deepcopy(parser.model).to("meta"))
    seen: list[tuple[str, str]] = []

    def on_device(model: Biaffine, vectors: list, tags: object = None, device: str = "cpu", *rest):
        seen.append((model.settings.tags, device))
        running = parser.model if device == "meta" else model  # meta holds no numbers
        return distributions(running, vectors, tags, "cpu", *rest)

    monkeypatch.setattr("treebridge.parse.project.carry.distributions", on_device)
    pairs = choose_pairs(links_of(WORLD, "far", 60)(), ProjectSettings(density=0.1))
    across = replace(bridged, model=wants)
    carry(pairs, replace(parser, model=wants), across, ProjectSettings(), tagger=tagger)
    own_distributions([pair.target for pair, _ in pairs], across, ProjectSettings(), tagger=tagger)
    assert set(seen) == {("predicted", "meta"), ("gold", "cpu")}


def test_swapped_sides_are_not_projected(story: tuple[Parser, Parser]) -> None:
    parser, bridged = story
    settings = ProjectSettings(density=0.1)
    pairs = [
        (Pair(pair.target, pair.source), links[:, ::-1])
        for pair, links in choose_pairs(links_of(WORLD, "far", 40)(), settings)
    ]
    with pytest.raises(TreebridgeError, match="source and target look swapped"):
        carry(pairs, parser, bridged, settings)
    assert len(carry(pairs, parser, bridged, settings, check_sides=False)[0])


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With random encoders scores mean nothing; this checks that the steps fit together."""
    from checkpoints import make

    monkeypatch.chdir(tmp_path)
    WORLD.treebank("source", 60).write(tmp_path / "train.conllu")
    few = [
        tree.annotate(deprels=[label.replace("nsubj", "nsubj:own") for label in tree.deprels])
        for tree in WORLD.treebank("near", 12)
    ]
    Treebank(few).write(tmp_path / "few.conllu")
    (tmp_path / "none.conllu").write_text("")
    part = [tree.annotate(heads=[None, *tree.heads[1:]], upos=["_"] * len(tree)) for tree in few]
    Treebank(part).write(tmp_path / "part.conllu")
    WORLD.write_bitext(tmp_path / "bitext.tsv", "near", 500)
    sides = [line.split("\t") for line in (tmp_path / "bitext.tsv").read_text().splitlines()]
    (tmp_path / "swapped.tsv").write_text("".join(f"{b}\t{a}\n" for a, b in sides))
    (tmp_path / "text.txt").write_text("".join(s.text + "\n" for s in WORLD.treebank("near", 40)))
    for name in ("source", "target"):
        make("bert", tmp_path / name)
    runner = CliRunner()
    for command in (
        "train train.conllu --encoder source -o parser --preset small --epochs 1",
        "bridge bitext.tsv --into parser --target target -o bridge --source-language qaa "
        "--anchor-words all --level word",
        "refine --model parser --bridge bridge --bitext bitext.tsv --treebank train.conllu "
        "-o refined --source-language qaa --epochs 1 --sentences 60",
        "align bitext.tsv -o links.txt --source-language qaa",
        "refine --model parser --bridge bridge --bitext bitext.tsv --treebank train.conllu "
        "-o by-links --source-language qaa --epochs 1 --sentences 60 --links links.txt",
        "refine --model refined --self text.txt --trees few.conllu -o again --epochs 1 --no-validate",
        "refine --model parser --bridge bridge --bitext bitext.tsv --treebank train.conllu "
        "-o twice --source-language qaa --epochs 1 --sentences 60 --passes 2",
        "refine --model refined --bitext swapped.tsv -o unchecked --epochs 1 --sentences 60 "
        "--source-language qaa --no-check-sides",
        "refine --model refined --trees part.conllu -o partly --epochs 1 --no-validate",
        "evaluate --model again few.conllu",
    ):
        done = runner.invoke(app, command.split(), catch_exceptions=False)
        assert done.exit_code == 0, (command, done.output)
        told = "new labels from your trees: " in done.output
        assert told == ("--trees" in command), done.output
    told = runner.invoke(
        app, "refine --model refined --trees few.conllu -o judged --epochs 1 --json".split()
    )
    validation = json.loads(told.stdout)["validation"]
    assert validation["trees"] == 12 and validation["folds"] == 2
    assert set(validation["gains"]) == set(validation["intervals"]) == {"UPOS", "UAS", "LAS"}
    runner.invoke(app, "parse --model refined text.txt --lines -o own.conllu".split())
    own = "refine --model refined --trees own.conllu -o own --epochs 1 --no-validate".split()
    done = runner.invoke(app, own, catch_exceptions=False)
    assert "the trees look uncorrected: 100.0 %" in done.output and "folds" not in done.output
    Treebank([*(set_done(tree, True) for tree in few[:6]), *few[6:]]).write("edited.conllu")
    edited = "refine --model refined --trees edited.conllu -o edited --epochs 1 --json".split()
    done = runner.invoke(app, edited, catch_exceptions=False)
    assert "6 of 12 sentences are done" in done.stderr
    assert json.loads(done.stdout)["validation"]["trees"] == 6
    weights = [tmp_path / name / "parser.safetensors" for name in ("refined", "by-links")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    assert (tmp_path / "twice" / "parser.safetensors").read_bytes() != weights[0].read_bytes()
    for command, message in (
        ("refine --model refined --trees none.conllu -o x", "no trees to learn from"),
        ("refine --model parser --bitext bitext.tsv -o x", "refining needs a bridge"),
        ("refine --model refined -o x", "nothing to learn from"),
        ("refine --model refined --bitext bitext.tsv --links none.conllu -o x", "none.conllu"),
        ("refine --model refined --bitext swapped.tsv -o x", "swapped.tsv: source and target look"),
        (
            "bridge swapped.tsv --into parser --target-encoder target -o x",
            "source and target look swapped",
        ),
    ):
        with pytest.raises(TreebridgeError, match=message):
            runner.invoke(app, command.split(), catch_exceptions=False)


def test_what_is_learned_of_the_map_is_merged_into_the_bridge(story: tuple[Parser, Parser]) -> None:
    """Map and translation of the merged bridge give what the learner saw."""
    _, bridged = story
    assert bridged.bridge is not None
    rng = np.random.default_rng(1)
    shifted = replace(bridged.bridge, translation=rng.normal(size=len(bridged.bridge.w)))
    learner = Learner(replace(bridged, bridge=shifted), RefineSettings())
    with torch.no_grad():
        learner.bridge.change.normal_(std=0.1)
        learner.bridge.shift.normal_()
    (item,) = bridged.load_encoder().encode([["a", "b", "c"]])
    before = torch.from_numpy(shifted.transform(item.vectors))[None]
    nothing = torch.full((1, 3), -1)
    batch = Batch(before, torch.tensor([3]), nothing, nothing, nothing)
    seen = learner.read(batch, [["a", "b", "c"]]).vectors
    unmapped = learner.bridge(torch.from_numpy(item.vectors))
    np.testing.assert_allclose(unmapped.detach(), seen[0].detach(), rtol=1e-4, atol=1e-5)
    merged = learner.merged_into(replace(bridged, bridge=shifted)).bridge
    np.testing.assert_allclose(
        merged.transform(item.vectors), seen[0].detach().numpy(), rtol=1e-4, atol=1e-5
    )
