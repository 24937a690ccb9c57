"""Pre-training: what is packed and masked, what is saved, and that interruptions change nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from treebridge import Encoder, TreebridgeError
from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Bitext
from treebridge.encode.pretrain import run as running
from treebridge.encode.pretrain import vocabulary
from treebridge.encode.pretrain.corpus import Corpus, make_corpus
from treebridge.encode.pretrain.folder import save_encoder
from treebridge.encode.pretrain.initialization import (
    OFFSETS,
    give_start,
    ppmi,
)
from treebridge.encode.pretrain.lessons import Lessons, Taught, Teaching, make_lessons
from treebridge.encode.pretrain.network import Rows, guess
from treebridge.encode.pretrain.rows import all_rows, choose_words, pack, training_batches
from treebridge.encode.pretrain.run import Pretraining
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.pretrain.text import read_side
from treebridge.encode.pretrain.vocabulary import SPECIAL
from treebridge.progress import Progress
from treebridge.torchrun import TorchRun

TINY = PretrainSettings(
    vocabulary=800, layers=2, hidden=48, heads=4, feed_forward=64, length=32, batch=256, tokens=5120,
    learning_rate=3e-3,
)  # fmt: skip


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "near.txt"
    path.write_text("\n".join(World(2).text("near", 3000)), encoding="utf-8")
    return path


class Said(Progress):
    """Keeps what is said."""

    def __init__(self, said: list[str]) -> None:
        self.said = said

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture(scope="module")
def corpus(text: Path) -> Corpus:
    return make_corpus([str(text)], None, TINY, text.parent / "work")


def test_every_run_learns_the_same_vocabulary(text: Path, corpus: Corpus) -> None:
    """In processes of their own: hashes are seeded once a process."""
    code = (
        "import sys\n"
        "from treebridge.encode.pretrain.vocabulary import train_vocabulary\n"
        "lines = open(sys.argv[1], encoding='utf-8').read().splitlines()\n"
        "print(train_vocabulary(lambda: lines, 800, cased=True).to_str())"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(text)], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        )
        for seed in range(4)
    ]  # fmt: skip
    assert {run.communicate()[0].strip() for run in runs} == {corpus.tokenizer.to_str()}


def test_letters_beyond_the_limit_are_unknown_always_the_same_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vocabulary, "MAX_LETTERS", 4)
    lines = ["ba ba", "dc e\u0301 .", "e\u0301d"]  # b and c once too often seen to be left out
    learnt = vocabulary.train_vocabulary(lambda: lines, 100, cased=True)
    pieces = sorted(learnt.get_vocab(), key=learnt.get_vocab().__getitem__)
    assert pieces[5:13] == ["##a", "##b", "##d", "##é", "a", "b", "d", "é"]
    assert learnt.encode("ba c [SEP] ##a").tokens == [
        "[CLS]", "ba", "[UNK]", "[SEP]", "[UNK]", "[UNK]", "a", "[SEP]"
    ]  # fmt: skip
    chinese = vocabulary.train_vocabulary(lambda: ["猫a, 猫"], 100, cased=True)
    assert sorted(chinese.get_vocab())[:2] == ["##a", ","]  # no ##, and no ##猫
    with pytest.raises(TreebridgeError, match="no text to learn a vocabulary from"):
        vocabulary.train_vocabulary(lambda: [" ", "\x00"], 100, cased=True)


def test_weights_never_go_on_with_another_vocabulary(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the key of files and settings is the same."""
    few, short = tmp_path / "few.txt", replace(TINY, tokens=512, start="random")
    few.write_text("\n".join(text.read_text(encoding="utf-8").split("\n")[:200]), encoding="utf-8")

    def make() -> tuple[Corpus, list[str]]:
        said: list[str] = []
        made = make_corpus([str(few)], None, short, tmp_path / "w", Said(said))
        return made, said

    def resumes(corpus: Corpus) -> bool:
        return Pretraining(corpus, short, TorchRun("cpu"), tmp_path / "w")._read() is not None

    first, _ = make()
    Pretraining(first, short, TorchRun("cpu"), tmp_path / "w").run()
    assert resumes(make()[0])
    for name in ("tokenizer.json", "pieces.bin", "starts.npy", "corpus.json"):
        path = tmp_path / "w" / name
        path.write_bytes(path.read_bytes()[:-3])
        again, said = make()
        assert said[0] == "learning a vocabulary" and again.key == first.key, name
    monkeypatch.setattr(vocabulary, "LONGEST", 50)
    (tmp_path / "w" / "corpus.json").unlink()
    other, _ = make()
    assert len(other.inside()) == len(first.inside()) and other.key != first.key
    assert not resumes(other)


@given(st.lists(st.integers(1, 20), max_size=60))
def test_every_stretch_is_packed_once_and_fits(lengths: list[int]) -> None:
    rows = pack(lengths, 20)
    assert sorted(index for row in rows for index in row) == list(range(len(lengths)))
    sums = [sum(lengths[index] for index in row) for row in rows]
    assert all(0 < total <= 20 for total in sums)
    # No two rows could have been one.
    assert all(a + b > 20 for a, b in pairwise(sums))


def test_an_epoch_has_every_stretch_once_and_little_padding(corpus: Corpus) -> None:
    rows = all_rows(corpus, TINY.length, 1)
    seen: list[int] = []
    count = 0
    while len(seen) < len(corpus.train()):
        seen += next(rows).tolist()
        count += 1
    assert sorted(seen) == corpus.train().tolist()
    used = int((np.diff(corpus.starts)[corpus.train()] + 2).sum())
    assert used / (count * TINY.length) > 0.95


@given(st.integers(0, 10_000), st.floats(0.05, 0.9))
def test_whole_words_are_masked(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    inside = np.arange(40) >= 20  # pieces 20 to 39 go on with a word
    pieces = rng.integers(0, 40, 60)
    pieces[0], pieces[1] = 2, 7  # [CLS] and a word
    masked = set(choose_words(pieces, inside, share, rng).tolist())
    assert masked and all(pieces[i] >= len(SPECIAL) for i in masked)
    for i in range(1, 60):
        if inside[pieces[i]] and pieces[i - 1] >= len(SPECIAL):
            assert (i in masked) == (i - 1 in masked)


def test_masks_follow_the_rule(corpus: Corpus) -> None:
    settings = replace(TINY, masked=0.3)
    batches = training_batches(corpus, settings, 0, 0, 1)
    kinds: list[str] = []
    real = 0
    for _ in range(60):
        batch = next(batches)
        pieces = batch.ids.reshape(-1)
        real += int((batch.owner > 0).sum() - (pieces == 2).sum() - (pieces == 3).sum())
        kinds += [
            "mask" if now == 4 else "same" if now == was else "other"
            for now, was in zip(pieces[batch.masked], batch.answers, strict=True)
        ]
    assert abs(len(kinds) / real - 0.3) < 0.03
    assert abs(kinds.count("mask") / len(kinds) - 0.8) < 0.04
    assert abs(kinds.count("other") / len(kinds) - 0.1) < 0.03


def test_packed_rows_equal_plain_transformers(corpus: Corpus, tmp_path: Path) -> None:
    """The saved folder, loaded by others, sees in a sentence alone what we saw in a packed row."""
    from transformers import AutoTokenizer, BertForMaskedLM

    training = Pretraining(corpus, TINY, TorchRun("cpu"))
    give_start(training.network, corpus, TINY)
    history = training.run()
    folder = tmp_path / "mini"
    about = {"text": ["near.txt"], "pieces": 1}
    save_encoder(folder, training.network, corpus.tokenizer, TINY, history, about)
    plain = BertForMaskedLM.from_pretrained(folder).eval()
    batch = next(training_batches(corpus, TINY, 7, 0, 1))
    with torch.no_grad():
        ours = guess(training.network, Rows(batch, "cpu"))
        theirs = []
        for row, owner in zip(batch.ids, batch.owner, strict=True):
            logits = torch.zeros(TINY.length, len(corpus.inside()))
            for sentence in set(owner.tolist()) - {0}:
                ids = torch.from_numpy(row[owner == sentence])[None]
                logits[torch.from_numpy(owner == sentence)] = plain(input_ids=ids).logits[0]
            theirs.append(logits)
    wanted = torch.cat(theirs)[torch.from_numpy(batch.masked)]
    torch.testing.assert_close(ours, wanted, atol=2e-4, rtol=1e-3)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    word = World(2).languages["near"].forms["the"]
    found = tokenizer(f"{word} x", return_offsets_mapping=True)
    assert tokenizer.is_fast and found["offset_mapping"][1] == (0, len(word))
    assert Encoder.load(folder)([word, "."]).shape == (2, TINY.hidden)
    assert Encoder.load(folder).whole([word]).all()


def test_resumed_equals_uninterrupted(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "SAVE_EVERY", 0.0)
    whole = Pretraining(corpus, TINY, TorchRun("cpu"))
    whole.run()

    class Stop(Progress):
        def __init__(self, after: int) -> None:
            self.left = after

        def advance(self, *_: object, **figures: float) -> None:
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt

    for after in (3, 8):
        with pytest.raises(KeyboardInterrupt):
            Pretraining(corpus, TINY, TorchRun("cpu"), tmp_path, Stop(after)).run()
    resumed = Pretraining(corpus, TINY, TorchRun("cpu"), tmp_path)
    assert not resumed.done.step
    resumed.run()
    assert resumed.done.tokens == whole.done.tokens == TINY.tokens
    for name, weight in whole.network.state_dict().items():
        assert torch.equal(weight, resumed.network.state_dict()[name]), name
    timeless = [
        [{k: v for k, v in e.items() if k in ("tokens", "held_out_loss")} for e in t.done.history]
        for t in (whole, resumed)
    ]
    assert timeless[0] == timeless[1]
    # Another run's checkpoint is not taken.
    assert Pretraining(corpus, replace(TINY, seed=2), TorchRun("cpu"), tmp_path)._read() is None


def test_the_start_looks_around_and_knows_frequencies(corpus: Corpus) -> None:
    settings = replace(TINY, hidden=160, heads=5)
    training = Pretraining(corpus, settings, TorchRun("cpu"))
    give_start(training.network, corpus, settings)
    words = list(range(100, 120))
    with torch.no_grad():
        bert = training.network.bert
        hidden = bert.embeddings(torch.tensor([words]))[0]
        attention = bert.encoder.layer[0].attention.self
        for head, offset in enumerate(OFFSETS):
            at = slice(head * 32, head * 32 + 32)
            scores = attention.query(hidden)[:, at] @ attention.key(hidden)[:, at].T
            inner = range(2, len(words) - 2)
            assert all(int(scores[i].argmax()) == i + offset for i in inner), offset
    counts = np.bincount(corpus.pieces, minlength=800)
    bias = training.network.cls.predictions.bias.detach().numpy()
    assert np.corrcoef(np.log(counts[5:] + 1), bias[5:])[0, 1] > 0.95


@pytest.fixture(scope="module")
def bitext(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bitext") / "qaa-qab.tsv"
    World(2).write_bitext(path, "near", 600)
    return path


@pytest.fixture(scope="module")
def teacher(bitext: Path) -> Path:
    """Word vectors of the source language, all different, as an encoder."""
    words = {w for pair in Bitext.read(bitext, source_language="qaa") for w in pair.source}
    rng = np.random.default_rng(3)
    path = bitext.parent / "teacher.vec"
    rows = [f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=12))}" for word in sorted(words)]
    path.write_text("\n".join([f"{len(rows)} 12", *rows]) + "\n", encoding="utf-8")
    return path


def lessons_of(bitext: Path, teacher: Path, corpus: Corpus, folder: Path) -> Lessons:
    pairs = list(Bitext.read(bitext, source_language="qaa"))

    def taught() -> Iterator[Taught]:
        for pair in pairs:
            ends = range(min(len(pair.source), len(pair.target)))
            yield Taught(pair.target, pair.source, np.array([(n, n) for n in ends]))

    return make_lessons(Teaching(Encoder.load(teacher), taught, "key"), corpus, 30, folder)


def test_lessons_hold_the_vectors_of_translations(
    bitext: Path, teacher: Path, corpus: Corpus, tmp_path: Path
) -> None:
    lessons = lessons_of(bitext, teacher, corpus, tmp_path)
    static = Encoder.load(teacher)
    pair = next(iter(Bitext.read(bitext, source_language="qaa")))
    end = lessons.corpus.starts[1]
    owners = corpus.tokenizer.encode(pair.target, is_pretokenized=True, add_special_tokens=False)
    vectors = static(pair.source)
    for row, word in zip(lessons.rows[:end], owners.word_ids, strict=True):
        if word < len(pair.source):
            np.testing.assert_allclose(lessons.vectors[row], vectors[word], atol=1e-3)
        else:
            assert row == -1
    np.testing.assert_allclose(np.linalg.norm(lessons.wanted(np.arange(9)), axis=1), 1, rtol=1e-3)
    again = lessons_of(bitext, teacher, corpus, tmp_path)
    np.testing.assert_array_equal(again.rows, lessons.rows)
    (tmp_path / "lessons.bin").write_bytes(b"damaged")
    again = lessons_of(bitext, teacher, corpus, tmp_path)
    assert again.vectors.shape == lessons.vectors.shape  # made again
    other = lessons_of(bitext, teacher, replace(corpus, key="other vocabulary"), tmp_path)
    assert other.corpus.key == "key other vocabulary"
    batches = training_batches(corpus, TINY, 0, 0, 1, lessons)
    plain, taught = next(batches), next(batches)
    assert not len(plain.aligned) and len(taught.aligned) > 100
    assert not set(taught.aligned) & set(taught.masked)
    # A batch from the middle is the same as after all that come before it.
    later = next(training_batches(corpus, TINY, 1, 0, 1, lessons))
    np.testing.assert_array_equal(later.ids, taught.ids)
    np.testing.assert_array_equal(later.lessons, taught.lessons)


def test_a_taught_encoder_has_vectors_like_the_teachers(
    here: Run, text: Path, bitext: Path, teacher: Path, tmp_path: Path
) -> None:
    sizes = ["--vocabulary", 800, "--layers", 2, "--hidden", 48, "--heads", 4, "--feed-forward", 64,
             "--length", 32, "--batch", 256, "--tokens", 30_000, "--learning-rate", 3e-3,
             "--side", "target"]  # fmt: skip
    command = ["pretrain", text, bitext, *sizes, "--teacher", teacher, "--pairs", 400, "-o"]
    done = here(*command, tmp_path / "taught")
    assert done.returncode == 0, done.stderr
    assert here("pretrain", text, bitext, *sizes, "-o", tmp_path / "alone").returncode == 0
    card = (tmp_path / "taught" / "README.md").read_text(encoding="utf-8")
    assert re.search(r"\| teacher \| teacher.vec, across \d+ aligned sentence pairs \|", card)
    static = Encoder.load(teacher)
    held_out = list(Bitext.read(bitext, source_language="qaa"))[450:]

    def kinship(name: str) -> float:
        """How alike the two spaces are: correlation of the cosines between words."""
        encoder = Encoder.load(tmp_path / name)
        found = []
        for pair in held_out:
            if len(pair.source) == len(pair.target):
                sides = [static(pair.source), encoder(pair.target)]
                found.append([(x @ x.T)[np.triu_indices(len(x), 1)] for x in sides])
        return float(np.corrcoef(*map(np.concatenate, zip(*found, strict=True)))[0, 1])

    assert kinship("taught") > kinship("alone") + 0.1
    assert "already pre-trained" in here(*command, tmp_path / "taught").stdout
    refused = here("pretrain", text, "--teacher", teacher, "-o", tmp_path / "none")
    assert refused.returncode == 2
    assert "a teacher needs a bitext and the side of it to read" in refused.stderr


def test_ppmi_of_independent_words_is_small_and_of_partners_large() -> None:
    from scipy import sparse

    table = np.outer([10, 20, 30], [5, 6, 7]).astype(float)
    assert ppmi(sparse.csr_matrix(table)).max() < 0.2
    assert ppmi(sparse.csr_matrix(table + 500 * np.eye(3))).toarray().argmax(0).tolist() == [
        0,
        1,
        2,
    ]


def test_it_learns_more_than_frequencies(corpus: Corpus) -> None:
    settings = replace(TINY, tokens=150_000, batch=512)
    history = Pretraining(corpus, settings, TorchRun("cpu")).run()
    assert history[-1]["accuracy"] > 2 * history[0]["accuracy"]
    assert history[-1]["held_out_loss"] < history[0]["held_out_loss"] - 0.5


def test_sides_of_a_bitext_and_text(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("one\tuno\ntwo\tdos\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("tres\n\n cuatro \n", encoding="utf-8")
    files = [tmp_path / "a.tsv", tmp_path / "b.txt"]
    assert list(read_side(files, "target")) == ["uno", "dos", "tres", "cuatro"]
    assert list(read_side(files[:1], "source")) == ["one", "two"]
    with pytest.raises(TreebridgeError, match="choose its source or target side"):
        list(read_side(files))


def test_by_command_alone_and_by_torchrun(run: Run, text: Path, tmp_path: Path) -> None:
    size = ["--vocabulary", 500, "--layers", 2, "--hidden", 32, "--heads", 2, "--feed-forward", 32,
            "--length", 32, "--batch", 128, "--tokens", 4096]  # fmt: skip
    done = run("pretrain", text, "-o", "mini", *size)
    assert done.returncode == 0, done.stderr
    assert "→" in done.stdout and "held-out masked accuracy" in done.stderr
    assert json.loads((tmp_path / "mini" / "config.json").read_text())["vocab_size"] == 500
    assert not (tmp_path / ".mini.pretraining").exists()
    again = run("pretrain", text, "-o", "again", *size)
    assert again.returncode == 0, again.stderr
    for name in ("model.safetensors", "tokenizer.json", "tokenizer_config.json", "config.json"):
        content = [(tmp_path / folder / name).read_bytes() for folder in ("mini", "again")]
        assert content[0] == content[1], name
    both = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--no-python",
         sys.executable, "-m", "treebridge", "pretrain", str(text), "-o", "both", *map(str, size)],
        cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        timeout=200, check=False,
    )  # fmt: skip
    assert both.returncode == 0, both.stderr
    record = json.loads((tmp_path / "both" / "pretraining.json").read_text())
    assert record["history"][-1]["tokens"] == 4096
    assert Encoder.load(tmp_path / "both").dim == 32


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.txt"], "none.txt: file not found"),
        (["few.txt"], "pre-training needs thousands"),
        (["few.txt", "--minutes", "1", "--tokens", "1"], "--minutes or --tokens, not both"),
        (["few.txt", "--heads", "7"], "256 dimensions cannot be divided into 7 heads"),
        (["pairs.tsv"], "choose its source or target side"),
        (["few.txt", "--minutes", "nan"], "minutes is nan; expected between 0 and 1,000,000"),
        (["few.txt", "--minutes", "inf"], "minutes is inf"),
        (["few.txt", "--minutes", "-1"], "minutes is -1.0"),
        (["few.txt", "--minutes", "0"], "training needs a budget"),
        (["few.txt", "--learning-rate", "nan"], "learning rate is nan"),
        (["few.txt", "--masked", "nan"], "masked is nan"),
        (["few.txt", "--length", "4"], "length is 4; expected between 8 and"),
        (["few.txt", "--length", "2048"], "a batch of 1024 pieces is shorter than a row of 2048"),
        (["few.txt", "--layers", "100000"], "layers is 100000"),
        (["few.txt", "--seed", "-1"], "seed is -1; expected a number"),
    ],
)
def test_mistakes(here: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "few.txt").write_text("eins\nzwei\n", encoding="utf-8")
    (tmp_path / "pairs.tsv").write_text("eins\tone\n", encoding="utf-8")
    done = here("pretrain", *arguments, "-o", "out")
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert done.stderr.count("error:") == 1 and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "value"), [("--vocabulary", 0), ("--tokens", 0), ("--tokens", -5)]
)
def test_sizes_that_the_command_line_refuses(here: Run, option: str, value: int) -> None:
    done = here("pretrain", "few.txt", "-o", "out", option, value)
    assert done.returncode == 2 and f"Invalid value for '{option}'" in done.stderr


def test_settings_that_make_no_sense() -> None:
    for name in ("vocabulary", "layers", "hidden", "heads", "feed_forward", "length", "batch"):
        for value in (0, -1, 10**9):
            with pytest.raises(TreebridgeError, match=f"{name.replace('_', ' ')} is {value}; exp"):
                PretrainSettings(**{name: value})
