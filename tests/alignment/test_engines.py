"""Both engines: gold links found, odd input survived, models kept, threads without a trace."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from treebridge import Bitext, TreebridgeError
from treebridge.alignment import counting
from treebridge.alignment.aligner import NOTHING
from treebridge.alignment.engines import engine, load_aligner
from treebridge.alignment.indexed import MAX_WORDS, PairIndexer, Vocabulary, index_pairs
from treebridge.alignment.run import align_pairs
from treebridge.alignment.score import score
from treebridge.alignment.settings import AlignSettings
from treebridge.alignment.symmetrize import symmetrize
from treebridge.alignment.threads import Threads
from treebridge.artefact import write_tensors
from treebridge.corpus.artificial import World

ENGINES = ("fast-align", "hmm")
ONE = Threads(1)


@pytest.fixture(scope="module")
def world() -> dict:
    """Artificial pairs with gold links, per target language."""
    return {name: list(World(3).pairs(name, n)) for name, n in (("near", 3000), ("far", 10_000))}


def words_of(pairs) -> list:
    return [(pair.source.forms, pair.target.forms) for pair in pairs]


def errors(pairs, name: str) -> float:
    corpus = index_pairs(words_of(pairs))
    with Threads(2) as threads:
        choices = engine(name).fit(corpus, threads).choices(corpus, threads)
        links = symmetrize(corpus, choices, "intersection", threads)
    found = (pair.tolist() for pair in links)
    return score(found, [p.sure for p in pairs], [p.possible for p in pairs]).aer


@pytest.mark.parametrize("name", ENGINES)
def test_a_near_language_is_aligned(world: dict, name: str) -> None:
    assert errors(world["near"], name) < 0.05


def test_a_far_language_is_aligned_by_the_hmm(world: dict) -> None:
    # The verb is last and every noun has a dozen forms, which takes more pairs to learn.
    assert errors(world["far"], "hmm") < 0.05


def test_few_pairs_of_a_far_language_are_aligned_better_by_the_hmm(world: dict) -> None:
    few = world["far"][:3000]
    assert errors(few, "hmm") < 0.08 < errors(few, "fast-align")


@pytest.mark.parametrize("name", ENGINES)
def test_threads_leave_no_trace(world: dict, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "BLOCK", 5000)
    corpus = index_pairs(words_of(world["far"][:300]))
    models, picks = [], []
    for number in (1, 2, 3):
        with Threads(number) as threads:
            models.append(engine(name).fit(corpus, threads))
            picks.append(models[-1].choices(corpus, threads))
    for other, picked in zip(models[1:], picks[1:], strict=True):
        assert other.trained == models[0].trained
        for ours, theirs in zip(models[0].known + picks[0], other.known + picked, strict=True):
            assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", ENGINES)
def test_blocks_leave_no_trace(world: dict, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = index_pairs(words_of(world["far"][:300]))
    whole = engine(name).fit(corpus, ONE)
    monkeypatch.setattr(counting, "BLOCK", 1)  # every pair for itself
    single = engine(name).fit(corpus, ONE)
    for ours, theirs in zip(whole.known, single.known, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-6)
    for ours, theirs in zip(whole.choices(corpus, ONE), single.choices(corpus, ONE), strict=True):
        assert np.mean(ours == theirs) > 0.999


@pytest.mark.parametrize("name", ENGINES)
def test_models_are_kept_and_applied(world: dict, name: str, tmp_path: Path) -> None:
    pairs = words_of(world["near"][:500])
    corpus = index_pairs(pairs)
    model = engine(name).fit(corpus, ONE)
    model.save(tmp_path / "model")
    model.save(tmp_path / "model")  # over the old one
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == [
        ".treebridge.json", "config.json", "model.safetensors", "words.json",
    ]  # fmt: skip
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    loaded = load_aligner(tmp_path / "model")
    assert (loaded.engine, loaded.settings) == (name, model.settings)
    # Other pairs, upper case, and words that nobody has seen:
    encoder = PairIndexer(loaded.source_words, loaded.target_words)
    for number, (source, target) in enumerate(pairs[:50]):
        encoder.add(([w.upper() for w in source], [*target, "unseen-word"]), number)
    new = encoder.done()
    assert len(loaded.source_words) == len(model.source_words)
    found = symmetrize(new, loaded.choices(new, ONE), "intersection", ONE)
    links = symmetrize(corpus, model.choices(corpus, ONE), "intersection", ONE).first(50)
    same = score((p.tolist() for p in found), [{tuple(x) for x in p.tolist()} for p in links])
    assert same.aer < 0.1


def test_strange_folders_are_refused(tmp_path: Path) -> None:
    model = engine("fast-align").fit(index_pairs([(["a"], ["b"])]), ONE)
    folder = tmp_path / "model"
    model.save(folder)
    config = json.loads((folder / "config.json").read_text())
    del config["sha256"]
    for change, message in (
        (
            {"format": 2},
            "this alignment model has format 2, but this treebridge reads formats up to 1",
        ),
        ({"treebridge": "parser"}, "expected an alignment model, found a parser"),
        ({"engine": "giza"}, "unknown aligner 'giza'"),
    ):
        (folder / "config.json").write_text(json.dumps({**config, **change}))
        with pytest.raises(TreebridgeError, match=message):
            load_aligner(folder)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(TreebridgeError, match=r"model\.safetensors has 3 bytes instead of"):
        load_aligner(folder)
    del config["files"]  # as those made before there were checksums
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(TreebridgeError, match=r"model\.safetensors: cannot be read"):
        load_aligner(folder)
    whole = model.table._asdict() | model.known._asdict()
    for name, cut in {"keys": whole["keys"][1:], "pairs": whole["pairs"][1:],
                      "starts": whole["starts"].astype(np.int32)}.items():  # fmt: skip
        write_tensors(folder / "model.safetensors", whole | {name: cut})
        with pytest.raises(TreebridgeError, match="do not belong together"):
            load_aligner(folder)
    with pytest.raises(TreebridgeError, match="found a folder without config"):
        load_aligner(tmp_path)
    with pytest.raises(TreebridgeError, match="exists and is not an alignment model"):
        model.save(tmp_path)  # holds other things
    assert (tmp_path / "model").is_dir()


ODD = {
    "empty": [([], []), (["a"], []), ([], ["b"])],
    "empty among others": [(["a"], ["A"]), ([], ["b"]), (["c"], []), (["a", "c"], ["A", "C"])],
    "one word": [(["a"], ["A"])],
    "identical": [("to be or not to be".split(), "ser ou não ser".split())] * 50,
    "itself": [("to be or not to be".split(), "to be or not to be".split())],
    "long": [([f"w{i % 97}" for i in range(300)], [f"v{i % 89}" for i in range(300)])],
    "uneven": [(["a"], list("bcdefghij") * 30)],
    "control": [(["\x00", "\x1f", "\u200b"], ["\x7f", "\u2028", "😀"]), (["İ", "ß"], ["ﬁ", "Σ"])],
}


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("case", ODD)
def test_odd_input(name: str, case: str) -> None:
    corpus = index_pairs(ODD[case])
    model = engine(name).fit(corpus, ONE)
    for array in model.known:
        assert np.isfinite(array).all() and (array >= 0).all()
    for value in np.ravel([list(np.ravel(v)) for v in model.trained.values()]):
        assert np.isfinite(value)
    choices = model.choices(corpus, ONE)
    for n, (source, target) in enumerate(ODD[case]):
        f = choices.forward[corpus.target.at[n] : corpus.target.at[n + 1]]
        r = choices.reverse[corpus.source.at[n] : corpus.source.at[n + 1]]
        assert ((f >= -1) & (f < len(source))).all() and ((r >= -1) & (r < len(target))).all()
    if case in ("one word", "itself"):
        assert choices.forward.max() >= 0
    assert len(symmetrize(corpus, choices, "intersection", ONE)) == len(ODD[case])


@pytest.mark.parametrize("name", ENGINES)
def test_the_first_word_of_a_vocabulary_is_known_to_pick_nothing(name: str) -> None:
    """A filler word is not linked to a word that it never met, even if its own id is 0."""
    pairs = [*(([f"s{k}"], ["uh", f"t{k}"]) for k in range(50)), (["other"], ["one"])]
    swapped = [(target, source) for source, target in pairs]
    assert index_pairs(pairs).target_words["uh"] == index_pairs(swapped).source_words["uh"] == 0
    forward, reverse = (engine(name).fit(index_pairs(given), ONE) for given in (pairs, swapped))
    assert forward.choices(index_pairs([(["other"], ["uh"])]), ONE).forward.tolist() == [NOTHING]
    assert reverse.choices(index_pairs([(["uh"], ["other"])]), ONE).reverse.tolist() == [NOTHING]


def test_further_pairs_are_numbered_after_those_of_the_bitext(tmp_path: Path) -> None:
    (tmp_path / "b.tsv").write_text("a b\tA B\n\t\nc d\tC D\n")
    bitext = Bitext.read(tmp_path / "b.tsv", engine="spaces")
    further = [(["a"], ["A"]), (["c"], ["C"])]
    aligned = align_pairs(bitext, AlignSettings(), further=further, threads=1)
    assert aligned.corpus.lines.tolist() == [0, 2, 3, 4] and aligned.pairs == 2
    further.append((["a"] * (MAX_WORDS + 1), ["A"]))
    with pytest.raises(TreebridgeError, match="pair 6 has a sentence of 32,768 words"):
        align_pairs(bitext, AlignSettings(), further=further, threads=1)


def test_no_pairs_at_all() -> None:
    corpus = index_pairs([])
    for name in ENGINES:
        choices = engine(name).fit(corpus, ONE).choices(corpus, ONE)
        assert len(symmetrize(corpus, choices, "union", ONE)) == 0


def test_vocabulary_and_limits() -> None:
    words = Vocabulary()
    assert [words[w] for w in ("The", "THE", "cat", "the")] == [0, 0, 1, 0]
    closed = Vocabulary(words, growing=False)
    assert [closed[w] for w in ("CAT", "dog")] == [1, -1] and len(closed) == 2


def test_rare_words_share_an_id_by_their_first_letters() -> None:
    words = Vocabulary()
    text = "the the cats cats talo talossa talosta Talossa katolla".split()
    seen = np.bincount([words[w] for w in text])
    grouped = words.grouped(seen, rare=2, letters=4)
    assert list(grouped) == ["the", "cats", "talo", "talossa"]
    assert grouped.prefixes == {"talo": 4, "kato": 5} and grouped.size == 6
    known = {"talossa": 3, "TALOSTA": 4, "talona": 4, "katon": 5, "kato": -1, "new": -1}
    assert {word: grouped[word] for word in known} == known


def test_limits() -> None:
    with pytest.raises(TreebridgeError, match="pair 3 has a sentence of 32,768 words"):
        PairIndexer().add((["a"] * (MAX_WORDS + 1), ["b"]), 2)
    with pytest.raises(TreebridgeError, match="unknown aligner 'giza'"):
        engine("giza")
