"""Starting a new encoder from the layers of its teacher."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from conftest import Run
from treebridge import Encoder
from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Bitext
from treebridge.encode.pretrain.corpus import Corpus, make_corpus
from treebridge.encode.pretrain.inheritance import can_inherit, carried, count_links
from treebridge.encode.pretrain.lessons import Taught, Teaching
from treebridge.encode.pretrain.run import Pretraining
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.torchrun import TorchRun

TINY = PretrainSettings(
    vocabulary=500, layers=2, hidden=48, heads=4, feed_forward=64, length=32, batch=512,
    tokens=150_000, learning_rate=3e-3,
)  # fmt: skip
SIZES = ["--vocabulary", 500, "--layers", 2, "--hidden", 48, "--heads", 4, "--feed-forward", 64,
         "--length", 32, "--batch", 512]  # fmt: skip


@pytest.fixture(scope="module")
def bitext(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bitext") / "qaa-qab.tsv"
    World(2).write_bitext(path, "near", 1500)
    return path


@pytest.fixture(scope="module")
def teacher(bitext: Path) -> Path:
    Encoder.pretrain(bitext, bitext.parent / "teacher", TINY, side="source")
    return bitext.parent / "teacher"


@pytest.fixture(scope="module")
def corpus(bitext: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus([str(bitext)], "target", TINY, tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def teaching(bitext: Path, teacher: Path) -> Teaching:
    pairs = list(Bitext.read(bitext, source_language="qaa"))

    def taught() -> Iterator[Taught]:
        for pair in pairs:
            if len(pair.source) == len(pair.target):
                links = np.array([(n, n) for n in range(len(pair.source))])
                yield Taught(pair.target, pair.source, links)

    return Teaching(Encoder.load(teacher), taught, "key")


def cosines(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(wanted, axis=1)
    return np.asarray((found * wanted).sum(1) / lengths)


def test_linked_pieces_get_the_vectors_of_their_translations() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(80, 16)).astype(np.float32) + 3  # far from the origin
    links = sparse.csr_matrix(50 * np.eye(80)[rng.permutation(80)])
    company = rng.normal(size=(80, 16)).astype(np.float32)
    vectors = carried(table, links, company)
    centre = table.mean(0)
    assert cosines(vectors - centre, links @ (table - centre)).min() > 0.97
    assert np.linalg.norm(vectors - centre, axis=1) == pytest.approx(
        np.median(np.linalg.norm(table - centre, axis=1)), rel=1e-3
    )


def test_pieces_without_links_start_where_their_company_suggests() -> None:
    rng = np.random.default_rng(1)
    company = rng.normal(size=(300, 16)).astype(np.float32)
    table = company @ rng.normal(size=(16, 16)).astype(np.float32)
    times = np.where(np.arange(300) < 200, 50.0, 0.0)
    vectors = carried(table, sparse.diags(times).tocsr(), company)
    centre = table[:200].mean(0)
    assert cosines((vectors - centre)[200:], (table - centre)[200:]).min() > 0.95


def test_a_link_is_divided_among_the_pieces_of_both_words(
    corpus: Corpus, teaching: Teaching
) -> None:
    pair = Taught(["ab", "qqxqq"], ["zz"], np.array([(0, 1)]))
    links = count_links(replace(teaching, pairs=lambda: [pair]), corpus, 500)
    ours = corpus.tokenizer.encode(["qqxqq"], is_pretokenized=True, add_special_tokens=False).ids
    assert links.sum() == pytest.approx(1)
    assert set(links.nonzero()[0]) == set(ours)


def test_who_inherits_knows_more_from_the_start(corpus: Corpus, teaching: Teaching) -> None:
    def accuracy(teaching: Teaching | None, tokens: int) -> float:
        settings = replace(TINY, tokens=tokens)
        run = Pretraining(corpus, settings, TorchRun("cpu"), teaching=teaching)
        return run.run()[-1]["accuracy"]

    assert accuracy(teaching, 512) > accuracy(None, 512) + 0.05
    assert accuracy(teaching, 20_000) > accuracy(None, 20_000) + 0.05


def test_only_a_teacher_of_the_same_sizes_leaves_its_layers(teaching: Teaching) -> None:
    assert can_inherit(teaching.teacher, TINY)
    assert not can_inherit(teaching.teacher, replace(TINY, layers=3))
    assert not can_inherit(teaching.teacher, replace(TINY, hidden=64))


def test_the_card_says_what_was_inherited(
    here: Run, bitext: Path, teacher: Path, tmp_path: Path
) -> None:
    command = ["pretrain", bitext, "--side", "target", *SIZES, "--tokens", 2048, "--teacher"]
    assert here(*command, teacher, "-o", tmp_path / "taught").returncode == 0
    card = (tmp_path / "taught" / "README.md").read_text(encoding="utf-8")
    assert "the teacher's layers, and embeddings carried over links" in card
    about = json.loads((tmp_path / "taught" / "pretraining.json").read_text())["about"]
    assert about["teacher"]["inherited"]
    random = here(*command, teacher, "--start", "random", "-o", tmp_path / "random")
    assert random.returncode == 0
    about = json.loads((tmp_path / "random" / "pretraining.json").read_text())["about"]
    assert not about["teacher"]["inherited"]
