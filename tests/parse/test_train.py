"""Training on artificial trees: learning, resuming, two processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made import DEV, QUICK, TRAIN, bare, command

from treebridge import Parser, Sentence, TreebridgeError
from treebridge.encode.static import StaticEncoder
from treebridge.parse.metrics import Metrics
from treebridge.parse.score import score
from treebridge.progress import Progress

pytestmark = pytest.mark.filterwarnings("ignore:.*words have no vector")


def test_it_learns(parser: Parser) -> None:
    found = score(DEV, parser(bare(DEV)))
    assert found["LAS"] > 60 and found["UPOS"] > 95  # 67 to 74, depending on the seed
    for name in ("UAS", "LAS", "UPOS"):  # training reports the same scores as parsing
        assert parser.scores[name] == found[name]


@pytest.mark.parametrize("tags", ["gold", "none"])
def test_gold_tags_and_no_tags(tags: str, encoder: StaticEncoder) -> None:
    parser = Parser.train(TRAIN, encoder, DEV, replace(QUICK, tags=tags, isotropy=0))
    assert len(parser.space.isotropy.means) == 0
    found = score(DEV, parser(DEV))
    assert found["LAS"] == parser.scores["LAS"] > 60
    if tags == "gold":
        with pytest.raises(TreebridgeError, match="sentence 1 has words without UPOS"):
            parser(bare(DEV))
    else:
        assert parser([["a"]])[0].upos == ("_",)


def test_training_needs_trees(encoder: StaticEncoder) -> None:
    with pytest.raises(TreebridgeError, match="no training sentences"):
        Parser.train([], encoder, DEV, QUICK)
    with pytest.raises(TreebridgeError, match="training sentence 1 has words without HEAD"):
        Parser.train(bare(DEV), encoder, DEV, QUICK)
    untagged = [s.annotate(upos=["_"] * len(s)) for s in DEV]
    with pytest.raises(TreebridgeError, match="set tags to none"):
        Parser.train(untagged, encoder, DEV, QUICK)


class StopAfter(Progress):
    """The user presses Ctrl-C in the middle of an epoch."""

    def __init__(self, share: float):
        self.share = share
        self.said: list[str] = []
        self.seen: list[float] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def advance(self, stage: str, share: float, **figures: float) -> None:
        assert figures["loss"] > 0 and figures["words_per_second"] > 0 and figures["left"] >= 0
        if share > self.share:
            raise KeyboardInterrupt

    def measured(self, stage: str, metrics: Metrics) -> None:
        self.seen.append(metrics["epoch"])


def weights(parser: Parser) -> bytes:
    return b"".join(w.numpy().tobytes() for w in parser.model.state_dict().values())


def test_interrupted_and_resumed_is_the_same_as_in_one_go(
    parser: Parser, encoder: StaticEncoder, tmp_path: Path
) -> None:
    stop = StopAfter(0.5)
    with pytest.raises(KeyboardInterrupt):
        Parser.train(TRAIN, encoder, DEV, QUICK, work=tmp_path, progress=stop)
    assert stop.seen == [1]
    resumed = StopAfter(2)
    again = Parser.train(TRAIN, encoder, DEV, QUICK, work=tmp_path, progress=resumed)
    assert resumed.said == ["resuming after epoch 1"] and resumed.seen == [2, 3]
    assert weights(again) == weights(parser)
    other = StopAfter(0.1)  # a run with other settings does not resume this one
    with pytest.raises(KeyboardInterrupt):
        changed = replace(QUICK, seed=2)
        Parser.train(TRAIN, encoder, DEV, changed, work=tmp_path, progress=other)
    assert other.said == []


def test_patience_ends_training_and_the_best_epoch_is_kept(encoder: StaticEncoder) -> None:
    """With a tiny learning rate no epoch is better than the first."""
    settings = replace(
        QUICK, epochs=20, patience=2, learning_rate=1e-12, schedule="constant", hidden=8
    )
    parser = Parser.train(TRAIN[:40], encoder, DEV[:20], settings)
    assert len(parser.history) == 3 and parser.scores["epoch"] == 1


def test_two_processes_train_one_parser(
    encoder: StaticEncoder, parser: Parser, tmp_path: Path
) -> None:
    TRAIN.write(tmp_path / "train.conllu")
    DEV.write(tmp_path / "dev.conllu")
    script = tmp_path / "train.py"
    script.write_text(
        "import os, sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]}\n"
        "from made import QUICK\n"
        "from treebridge import Encoder, Parser, Treebank\n"
        "read = Treebank.read\n"
        f"encoder = Encoder.load({encoder.name!r})\n"
        "made = Parser.train(read('train.conllu'), encoder, read('dev.conllu'), QUICK, device='cpu')\n"
        "made.save('of' + os.environ['RANK'])\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", script.name]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment
    )
    assert done.returncode == 0, done.stderr
    first, second = Parser.load(tmp_path / "of0"), Parser.load(tmp_path / "of1")
    assert weights(first) == weights(second) != weights(parser)
    assert first.scores["LAS"] > 40  # lower, with half as many steps
    assert first.history[0]["loss"] > parser.history[0]["loss"]  # a mean over all words


def test_train_command(encoder: StaticEncoder, tmp_path: Path) -> None:
    TRAIN[:60].write(tmp_path / "train.conllu")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    common = ("train", tmp_path / "train.conllu", "--encoder", encoder.name, "--preset", "small")
    with pytest.raises(TreebridgeError, match="is not a parser; choose another path"):
        command(*common, "-o", tmp_path / "taken")
    made = tmp_path / "en"
    printed = command(*common, "-o", made, "--epochs", "1", "--tags", "none", "--no-isotropy")
    assert printed.startswith(f"{made}: UAS ")
    config = json.loads((made / "config.json").read_text())
    assert config["settings"]["tags"] == "none" and config["settings"]["isotropy"] == 0
    assert config["about"]["sentences"] == 57 and config["about"]["treebank"] == "train.conllu"
    assert (made / "learning-curve.png").read_bytes()[:4] == b"\x89PNG"
    assert not (tmp_path / ".en.training").exists()
    assert "train.conllu" in (made / "README.md").read_text(encoding="utf-8")


def test_the_learning_rate_rises_and_falls(encoder: StaticEncoder, rates: list[float]) -> None:
    """Warm-up over half an epoch, then half a cosine down to zero."""
    settings = replace(QUICK, hidden=8, epochs=4)
    Parser.train(TRAIN[:60], encoder, DEV[:5], settings)
    share = np.arange(len(rates)) / len(rates)
    warm = np.minimum(1, (4 * share + 0.02) / 0.5)
    expected = QUICK.learning_rate * warm * (1 + np.cos(np.pi * share)) / 2
    np.testing.assert_allclose(rates, expected)
    assert len(rates) > 20
    rates.clear()
    Parser.train(TRAIN[:60], encoder, DEV[:5], replace(settings, schedule="constant"))
    assert set(rates) == {QUICK.learning_rate}


def test_sentences_of_one_word_are_scored_too(encoder: StaticEncoder) -> None:
    form = DEV[0].forms[0]
    odd = [Sentence.from_words([form], heads=[0], deprels=["vocative"], upos=["X"])] * 40
    dev = [*DEV[:5], *odd]
    parser = Parser.train(TRAIN[:60], encoder, dev, replace(QUICK, hidden=8, epochs=1))
    assert parser.scores["LAS"] == score(dev, parser(bare(dev)))["LAS"] < 60


def test_sentences_of_one_word_are_learned_from(encoder: StaticEncoder) -> None:
    odd = [Sentence.from_words([DEV[0].forms[0]], heads=[0], deprels=["root"], upos=["X"])] * 40
    settings = replace(QUICK, hidden=8, epochs=3, batch_words=20)
    parser = Parser.train([*TRAIN[:20], *odd], encoder, odd[:5], settings)
    assert parser.scores["UPOS"] == 100  # nothing else is tagged X


class Speeds(Progress):
    """Words per second after each step."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def advance(self, stage: str, share: float, **figures: float) -> None:
        self.seen.append(figures["words_per_second"])


def test_speed_is_in_words_per_second(encoder: StaticEncoder) -> None:
    speeds = Speeds()
    settings = replace(QUICK, hidden=8, epochs=1)
    parser = Parser.train(TRAIN[:60], encoder, DEV[:5], settings, progress=speeds)
    ratio = speeds.seen[-1] / parser.history[0]["words_per_second"]
    assert 0.3 < ratio < 3  # measured a moment apart
