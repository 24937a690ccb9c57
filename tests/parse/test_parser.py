"""Parsing, the folder, crossing a bridge: with a parser of artificial trees."""

from __future__ import annotations

import copy
import io
import json
import pickle
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made import DEV, DIM, QUICK, TRAIN, WORLD, bare, command, make_vectors

from conftest import Run
from treebridge import Parser, Sentence, Treebank, TreebridgeError
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.space import Space
from treebridge.checksums import sealed
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.trees import tree_problem
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.encode.static import StaticEncoder
from treebridge.parse.score import score

pytestmark = pytest.mark.filterwarnings("ignore:.*words have no vector")


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
        assert 0 <= after.score <= 1
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
        ".treebridge.json", "README.md", "config.json", "metrics.jsonl", "parser.safetensors",
    ]  # fmt: skip
    assert len((folder / "metrics.jsonl").read_text().splitlines()) == QUICK.epochs


def test_common_words_of_the_treebank_are_kept(parser: Parser, folder: Path) -> None:
    words = Counter(form.lower() for tree in TRAIN for form in tree.forms if form[0].isalpha())
    assert parser.space.words[0] == words.most_common(1)[0][0] and len(parser.space.words) == 100
    assert Parser.load(folder).space.words == parser.space.words


def test_threads_load_the_encoder_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load(name: str, settings: EncoderSettings) -> StaticEncoder:
        time.sleep(0.05)  # long enough for all threads to find no encoder
        loaded.append(name)
        return StaticEncoder(Path(name))

    monkeypatch.setattr(Encoder, "load", staticmethod(load))
    parser = Parser.load(folder)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: parser.load_encoder(), range(8)))
    assert len(loaded) == 1 and len(set(map(id, found))) == 1


def test_parsers_can_be_copied(parser: Parser) -> None:
    sentence = bare(DEV)[0]
    for copied in (copy.deepcopy(parser), pickle.loads(pickle.dumps(parser)), replace(parser)):
        assert copied([sentence])[0].heads == parser([sentence])[0].heads


def test_broken_folders(folder: Path, encoder: StaticEncoder, tmp_path: Path, place: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    tensors = (folder / "parser.safetensors").read_bytes()
    (tmp_path / "metrics.jsonl").write_bytes((folder / "metrics.jsonl").read_bytes())

    def load(changes: dict[str, Any], data: bytes = tensors, *, whole: bool = False) -> None:
        content = {**config, **changes}
        (tmp_path / "config.json").write_text(json.dumps(sealed(content) if whole else content))
        (tmp_path / "parser.safetensors").write_bytes(data)
        Parser.load(tmp_path)

    load({})
    without = {name: value for name, value in config.items() if name != "words"}
    config, before = without, config  # parsers were saved without them once
    load({}, whole=True)
    config = before
    with pytest.raises(TreebridgeError, match="reads formats up to 2; update"):
        load({"format": 3})
    with pytest.raises(TreebridgeError, match="does not match its checksum"):
        load({"labels": ["one"]})
    with pytest.raises(TreebridgeError, match=r"parser.safetensors has .* bytes instead of"):
        load({}, tensors[: len(tensors) // 2])
    with pytest.raises(TreebridgeError, match="expected a parser, found a bridge"):
        load({"treebridge": "bridge"})
    other = make_vectors(place / "other.vec", TRAIN, seed=2)
    with pytest.raises(TreebridgeError, match="a different encoder"):
        Parser.load(folder, other)


@dataclass
class Turn:
    """A bridge that undoes a known rotation."""

    into: Space
    target: Space
    turned: np.ndarray
    made: dict[str, str] = field(default_factory=dict)
    quality: dict[str, str] = field(default_factory=dict)

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
    with pytest.raises(TreebridgeError, match="a different encoder"):
        parser.across(bridge, encoder)


def test_one_folder_holds_parser_bridge_and_encoder(
    parser: Parser, encoder: StaticEncoder, tmp_path: Path
) -> None:
    vectors = tmp_path / "moved.vec"
    vectors.write_bytes(encoder.path.read_bytes())
    said = "good: 80.0 % of held-out words found"
    space = Space.of(StaticEncoder(vectors))
    bridge = Bridge(space, parser.space, np.eye(DIM), quality={"verdict": said})
    live = parser.across(bridge)
    expected = live(bare(DEV))
    live.save(tmp_path / "one")
    vectors.unlink()
    (tmp_path / "one").rename(tmp_path / "elsewhere")
    loaded = Parser.load(tmp_path / "elsewhere")
    assert loaded(bare(DEV)) == expected
    assert loaded.bridge is not None and loaded.bridge.w.shape == (DIM, DIM)
    card = (tmp_path / "elsewhere" / "README.md").read_text(encoding="utf-8")
    assert "moved.vec" in card and said in card


@pytest.mark.parametrize(
    ("refined", "said"),
    [
        ({"bitext": "en-es.tsv"}, ["| refined on | `en-es.tsv` |"]),
        (
            {"self": ["a.txt", "b.txt"], "trees": "es.conllu"},
            ["| refined on | `a.txt`, `b.txt`, `es.conllu` |"],
        ),
        (None, []),
    ],
)
def test_the_card_says_what_a_parser_was_refined_on(
    parser: Parser, refined: dict | None, said: list[str], tmp_path: Path
) -> None:
    replace(parser, about={**parser.about, "refined": refined}).save(tmp_path / "p")
    lines = (tmp_path / "p" / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "refined on" in line] == said


def test_evaluate_command(folder: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.conllu"
    far = WORLD.treebank("far", 20)
    new = [[x + ":new" if x == "nsubj" else x for x in s.deprels] for s in far]
    Treebank(s.annotate(deprels=x) for s, x in zip(far, new, strict=True)).write(gold)
    figures = json.loads(command("evaluate", "--model", folder, gold, "--json"))
    assert figures["unseen_labels"] == {"nsubj:new": sum(x.count("nsubj:new") for x in new)}
    assert figures["LAS"] <= figures["UAS"]
    shown = command("evaluate", "--model", folder, gold)
    assert "1 gold label (" in shown and "did not occur in training: nsubj:new" in shown
    with pytest.raises(TreebridgeError, match="expected one gold file"):
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
    with pytest.raises(TreebridgeError, match="no such folder"):
        command("parse", "--model", tmp_path / "nowhere", tmp_path / "some.txt")
