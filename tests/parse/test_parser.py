"""Training, the folder, parsing: on artificial trees with random vectors for their words."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made import DEV, DIM, QUICK, TRAIN, WORLD, make_vectors
from typer.testing import CliRunner

from conftest import Run
from treebridge import Parser, Sentence, Treebank, TreebridgeError
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.space import Space
from treebridge.cli import app
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.trees import tree_problem
from treebridge.encode.static import StaticEncoder
from treebridge.parse.checkpoint import Metrics
from treebridge.parse.score import score
from treebridge.parse.train import Watcher

pytestmark = pytest.mark.filterwarnings("ignore:.*words have no vector")


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder for vectors and the cache of this module."""
    folder = tmp_path_factory.mktemp("parser")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEBRIDGE_CACHE", str(folder / "cache"))
        yield folder


@pytest.fixture(scope="module")
def encoder(place: Path) -> StaticEncoder:
    return make_vectors(place / "source.vec", TRAIN, DEV)


@pytest.fixture(scope="module")
def parser(encoder: StaticEncoder) -> Parser:
    return Parser.train(TRAIN, encoder, DEV, QUICK)


@pytest.fixture(scope="module")
def folder(parser: Parser, place: Path) -> Path:
    parser.save(place / "en")
    return place / "en"


def bare(treebank: Treebank) -> list[Sentence]:
    """The same words without any annotation."""
    return [Sentence.from_words(s.forms) for s in treebank]


def test_it_learns(parser: Parser) -> None:
    found = score(DEV, parser(bare(DEV)))
    assert found["LAS"] > 70 and found["UPOS"] > 95
    for name in ("UAS", "LAS", "UPOS"):  # what training says is what parsing gives
        assert parser.scores[name] == found[name]


@pytest.mark.parametrize("tags", ["gold", "none"])
def test_tags_of_another_kind(tags: str, encoder: StaticEncoder) -> None:
    parser = Parser.train(TRAIN, encoder, DEV, replace(QUICK, tags=tags, isotropy=0))
    assert len(parser.space.isotropy.means) == 0
    found = score(DEV, parser(DEV))
    assert found["LAS"] == parser.scores["LAS"] > 60
    if tags == "gold":
        with pytest.raises(TreebridgeError, match="sentence 1 has words without UPOS"):
            parser(bare(DEV))
    else:
        assert parser([["a"]])[0].upos == ("_",)


def test_alone_or_with_others_a_sentence_gets_the_same_tree(parser: Parser) -> None:
    sentences = bare(DEV)[:30]
    together = list(parser.parse(sentences))
    for sentence, other in zip(sentences, together, strict=True):
        (alone,) = parser.parse([sentence])
        assert alone.sentence == other.sentence
        np.testing.assert_allclose(alone.arcs, other.arcs, atol=1e-5)
        assert alone.score == pytest.approx(other.score, abs=1e-4)


def test_sentences_of_any_length(parser: Parser) -> None:
    words = [form for s in TRAIN for form in s.forms]
    sentences = [Sentence.from_words(words[:n]) for n in (0, 1, 500, 2, 0, 30)]
    parsed = list(parser.parse(sentences))
    for before, after in zip(sentences, parsed, strict=True):
        assert after.sentence.forms == before.forms
        assert len(after.arcs) == len(after.labels) == len(before)
        assert not len(before) or tree_problem(after.sentence.heads) is None
        assert after.score <= 0
    assert parsed[1].sentence.heads == (0,) and parsed[1].arcs[0] == 1


def test_what_is_there_is_kept(parser: Parser) -> None:
    """Tags, comments, multi-word tokens and other columns stay; heads and labels are replaced."""
    text = DEV[0].to_conllu()
    words = [line.split("\t") for line in text.splitlines() if line[:1].isdigit()]
    for word in words:
        word[3], word[5], word[9] = "X", "Case=Nom", "Note=yes"
    rows = [["1-2", "both", *["_"] * 8], *words]
    content = "# sent_id = 7\n" + "\n".join("\t".join(row) for row in rows) + "\n\n"
    (sentence,) = read_conllu(io.BytesIO(content.encode()))
    (after,) = parser([sentence])
    assert after.comments == ["# sent_id = 7"] and after.lines[0] == sentence.lines[0]
    assert set(after.upos) == {"X"} and after.lines[5] == sentence.lines[5]
    (again,) = parser.parse([sentence], retag=True)
    assert "X" not in again.sentence.upos


def test_raw_text_and_lists_of_words(parser: Parser) -> None:
    found = parser("Yes, it is. And so on!")
    assert [s.forms[-1] for s in found] == [".", "!"]
    assert all(tree_problem(s.heads) is None for s in found)
    assert parser([["two", "words"]])[0].forms == ("two", "words")
    assert [s.forms for s in parser(["Yes. No.", ["two", "words"]])] == [
        ("Yes", "."), ("No", "."), ("two", "words"),
    ]  # fmt: skip
    assert parser("") == [] and parser([]) == []


def test_saved_loaded_and_saved_again(parser: Parser, folder: Path, tmp_path: Path) -> None:
    loaded = Parser.load(folder)
    text = "".join(s.to_conllu() for s in parser(bare(DEV)))
    assert "".join(s.to_conllu() for s in loaded(bare(DEV))) == text
    loaded.save(tmp_path / "again")
    for name in ("parser.safetensors", "config.json", "README.md", "metrics.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()
    assert sorted(p.name for p in folder.iterdir()) == [
        "README.md", "config.json", "metrics.jsonl", "parser.safetensors",
    ]  # fmt: skip
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == QUICK.epochs


def test_broken_folders(folder: Path, encoder: StaticEncoder, tmp_path: Path, place: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    tensors = (folder / "parser.safetensors").read_bytes()

    def load(changes: dict[str, Any], data: bytes = tensors) -> None:
        (tmp_path / "config.json").write_text(json.dumps({**config, **changes}))
        (tmp_path / "parser.safetensors").write_bytes(data)
        Parser.load(tmp_path)

    load({})
    with pytest.raises(TreebridgeError, match="reads up to 1; update"):
        load({"format": 2})
    with pytest.raises(TreebridgeError, match="do not belong together"):
        load({"labels": ["one"]})
    with pytest.raises(TreebridgeError, match="cannot be read"):
        load({}, tensors[: len(tensors) // 2])
    with pytest.raises(TreebridgeError, match="no parser but a bridge"):
        load({"treebridge": "bridge"})
    other = make_vectors(place / "other.vec", TRAIN, seed=2)
    with pytest.raises(TreebridgeError, match="another one"):
        Parser.load(folder, other)


def test_training_needs_trees(encoder: StaticEncoder) -> None:
    with pytest.raises(TreebridgeError, match="no training sentences"):
        Parser.train([], encoder, DEV, QUICK)
    with pytest.raises(TreebridgeError, match="training sentence 1 has words without HEAD"):
        Parser.train(bare(DEV), encoder, DEV, QUICK)
    untagged = [s.annotate(upos=["_"] * len(s)) for s in DEV]
    with pytest.raises(TreebridgeError, match="--tags none"):
        Parser.train(untagged, encoder, DEV, QUICK)


class StopAfter(Watcher):
    """The user presses Ctrl-C in the middle of an epoch."""

    def __init__(self, share: float):
        self.share = share
        self.said: list[str] = []
        self.seen: list[float] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def step(self, share: float, loss: float, words_per_second: float, left: float) -> None:
        assert loss > 0 and words_per_second > 0 and left >= 0
        if share > self.share:
            raise KeyboardInterrupt

    def epoch(self, metrics: Metrics) -> None:
        self.seen.append(metrics["epoch"])


def weights(parser: Parser) -> bytes:
    return b"".join(w.numpy().tobytes() for w in parser.model.state_dict().values())


def test_interrupted_and_resumed_is_the_same_as_in_one_go(
    parser: Parser, encoder: StaticEncoder, tmp_path: Path
) -> None:
    stop = StopAfter(0.5)
    with pytest.raises(KeyboardInterrupt):
        Parser.train(TRAIN, encoder, DEV, QUICK, work=tmp_path, watcher=stop)
    assert stop.seen == [1]
    resumed = StopAfter(2)
    again = Parser.train(TRAIN, encoder, DEV, QUICK, work=tmp_path, watcher=resumed)
    assert resumed.said == ["going on after epoch 1"] and resumed.seen == [2, 3]
    assert weights(again) == weights(parser)
    other = StopAfter(0.1)  # other settings are another training
    with pytest.raises(KeyboardInterrupt):
        changed = replace(QUICK, seed=2)
        Parser.train(TRAIN, encoder, DEV, changed, work=tmp_path, watcher=other)
    assert other.said == []


def test_patience_ends_training_and_the_best_epoch_is_kept(encoder: StaticEncoder) -> None:
    """With a learning rate of almost nothing no epoch is better than the first."""
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
    assert first.scores["LAS"] > 40  # half as many steps
    assert first.history[0]["loss"] > parser.history[0]["loss"]  # a mean over words, as alone


@dataclass
class Turn:
    """A bridge that undoes a known rotation."""

    into: Space
    target: Space
    turned: np.ndarray

    def transform(self, vectors: np.ndarray) -> np.ndarray:
        return self.into.transform(vectors @ self.turned)


def test_across_a_bridge(parser: Parser, encoder: StaticEncoder, place: Path) -> None:
    """Vectors of another encoder, a rotation of ours: the right bridge gives the same trees."""
    words = sorted({form for s in DEV for form in s.forms})
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(DIM, DIM)))[0]
    rows = encoder(words) @ turn.T
    lines = (" ".join([w, *(f"{x:.7f}" for x in v)]) for w, v in zip(words, rows, strict=True))
    (place / "turned.vec").write_text(f"{len(words)} {DIM}\n" + "\n".join(lines) + "\n")
    turned = StaticEncoder(place / "turned.vec")
    bridge = Turn(parser.space, Space.of(turned), turn)
    zero_shot = parser.across(bridge)
    assert zero_shot(bare(DEV)) == parser(bare(DEV))
    assert zero_shot.space is parser.space and parser.bridge is None
    wrong = replace(bridge, turned=np.eye(DIM))
    assert score(DEV, parser.across(wrong)(bare(DEV)))["LAS"] < 50
    with pytest.raises(TreebridgeError, match="fit the bridge into this parser"):
        parser.across(replace(bridge, into=Space.of(turned, Isotropy.none(DIM))))
    with pytest.raises(TreebridgeError, match="another one"):
        parser.across(bridge, encoder)


def test_one_folder_holds_parser_bridge_and_encoder(
    parser: Parser, encoder: StaticEncoder, tmp_path: Path
) -> None:
    vectors = tmp_path / "moved.vec"
    vectors.write_bytes(encoder.path.read_bytes())
    bridge = Bridge(Space.of(StaticEncoder(vectors)), parser.space, np.eye(DIM))
    live = parser.across(bridge)
    expected = live(bare(DEV))
    live.save(tmp_path / "one")
    vectors.unlink()
    (tmp_path / "one").rename(tmp_path / "elsewhere")
    loaded = Parser.load(tmp_path / "elsewhere")
    assert loaded(bare(DEV)) == expected
    assert loaded.bridge is not None and loaded.bridge.w.shape == (DIM, DIM)
    assert "moved.vec" in (tmp_path / "elsewhere" / "README.md").read_text()


def command(*arguments: object) -> str:
    """What a command prints on standard output."""
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_train_command(encoder: StaticEncoder, tmp_path: Path) -> None:
    TRAIN[:60].write(tmp_path / "train.conllu")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    common = ("train", tmp_path / "train.conllu", "--encoder", encoder.name, "--preset", "small")
    with pytest.raises(TreebridgeError, match="is no parser; name another"):
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


def test_evaluate_command(folder: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    far = WORLD.treebank("far", 20)
    new = [[x + ":new" if x == "nsubj" else x for x in s.deprels] for s in far]
    Treebank(s.annotate(deprels=x) for s, x in zip(far, new, strict=True)).write(gold)
    figures = json.loads(command("evaluate", "--model", folder, gold, "--json"))
    assert figures["unseen_labels"] == {"nsubj:new": sum(x.count("nsubj:new") for x in new)}
    assert figures["LAS"] <= figures["UAS"]
    shown = command("evaluate", "--model", folder, gold)
    assert "1 gold labels on" in shown and "never occurred in training: nsubj:new" in shown
    with pytest.raises(TreebridgeError, match="needs one file"):
        command("evaluate", "--model", folder, gold, gold)


def test_parse_command(run: Run, folder: Path, tmp_path: Path) -> None:
    DEV.write(tmp_path / "dev.conllu")
    Treebank(bare(DEV)).write(tmp_path / "bare")  # no name that tells, and no tags
    (tmp_path / "some.txt").write_text("One more. Two!\n", encoding="utf-8")
    command("parse", "--model", folder, tmp_path / "dev.conllu", "-o", tmp_path / "out.conllu")
    found = score(DEV, Treebank.read(tmp_path / "out.conllu"))
    assert found["LAS"] == Parser.load(folder).scores["LAS"] and found["UPOS"] == 100
    assert "\t_\t_\t_\t_\t" not in command("parse", "--model", folder, tmp_path / "bare")
    text = command("parse", "--model", folder, tmp_path / "some.txt")
    assert text.count("# text = ") == 2 and text.count("\troot\t") == 2
    piped = run("parse", "--model", folder, "-", stdin=(tmp_path / "dev.conllu").read_bytes())
    assert piped.stdout == (tmp_path / "out.conllu").read_text(encoding="utf-8")
    with pytest.raises(TreebridgeError, match="there is no such folder"):
        command("parse", "--model", tmp_path / "nowhere", tmp_path / "some.txt")
