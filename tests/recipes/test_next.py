"""Choosing what to annotate: useful, different, of a suitable length, and not done yet."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from treebridge import Parser, Sentence, Treebank, TreebridgeError
from treebridge.corpus.conllu import read_conllu
from treebridge.parse.confidence import LOW, confidences, with_highlights
from treebridge.parse.parsed import Parsed
from treebridge.parse.selection import Candidate, choose
from treebridge.parse.settings import NextSettings
from treebridge.recipes.next_trees import _Sample, next_trees


def parsed(words: str, arcs: list[float] | float, labels: float = 1.0) -> Parsed:
    forms = words.split()
    n = len(forms)
    tree = Sentence.from_words(
        forms, heads=range(n), deprels=["root", *["dep"] * (n - 1)], upos=["X"] * n
    )
    return Parsed(tree, np.full(n, arcs, np.float32), np.full(n, labels, np.float32))


def chosen(candidates: list[Parsed], count: int, done: list[Sentence] | None = None) -> list[str]:
    found = choose([Candidate.of(one) for one in candidates], count, done or [])
    return [candidate.parsed.sentence.text for candidate in found]


def test_doubt_comes_first() -> None:
    pool = [parsed("a b c d", 0.99), parsed("e f g h", 0.2), parsed("i j k l", 0.6)]
    assert chosen(pool, 2) == ["e f g h", "i j k l"]
    assert len(chosen(pool, 9)) == 3


def test_trouble_that_is_frequent_comes_before_rare_trouble() -> None:
    common = [parsed(f"x y z {i}", 0.5) for i in range(20)]
    assert chosen([parsed("p q r s", 0.5), *common], 1)[0].startswith("x y z")


def test_what_is_covered_is_worth_less() -> None:
    pool = [parsed("a b c d e 1", 0.3), parsed("a b c f g 2", 0.3), parsed("p q r s t 3", 0.35)]
    assert chosen(pool, 2) == ["a b c d e 1", "p q r s t 3"]
    done = parsed("a b c d x y z", 0.0).sentence
    assert chosen(pool, 1, [done]) == ["p q r s t 3"]


def test_near_duplicates_are_left_out() -> None:
    pool = [parsed("one two three four five", 0.2), parsed("One two three four five !", 0.1)]
    assert len(chosen(pool, 2)) == 1
    assert chosen(pool, 2, [parsed("one two three four five .", 1).sentence]) == []


def test_highlights() -> None:
    one = parsed("a b c", 0.9)
    one.arcs[1], one.labels[2] = LOW - 0.1, LOW - 0.2
    made, count = with_highlights(one)
    assert made.comment("highlight tokens") == "2" and made.comment("highlight deprels") == "2 3"
    assert count == 2 and all(confidences(made))
    again, _ = with_highlights(Parsed(made, one.arcs, one.labels))
    assert again == made
    sure, count = with_highlights(parsed("a b", 0.99))
    assert count == 0 and sure.comment("highlight tokens") is None


def test_the_sample_is_uniform_bounded_and_without_repetitions() -> None:
    settings = NextSettings(candidates=10, shortest=2, longest=3)
    counts = np.zeros(100)
    for seed in range(300):
        sample = _Sample(NextSettings(candidates=10, shortest=2, longest=3, seed=seed), [])
        for number in range(100):
            sample.add(Sentence.from_words(["word", f"w{number}"]))
            sample.add(Sentence.from_words(["Word", f"w{number}", "."]))  # the same again
            assert len(sample.kept) <= 10
        drawn = [int(s.forms[1][1:]) for s in sample.drawn()]
        assert drawn == sorted(drawn) and len(drawn) == 10
        counts[drawn] += 1
    assert counts[:50].sum() == pytest.approx(1500, abs=150)
    few = _Sample(settings, [Sentence.from_words(["word", "w1"])])
    for forms in (["word", "w1", "!"], ["one"], ["a", "b", "c", "d"], ["word", "w2"]):
        few.add(Sentence.from_words(forms))
    assert [s.forms for s in few.drawn()] == [("word", "w2")] and few.seen == 4


TEXT = """El banco aprobó el préstamo de la empresa. Todo el pueblo celebra hoy su fiesta mayor.
Nadie sabe quién escribió esta canción tan triste. Sí. El banco aprobó el préstamo de la empresa!
Los árboles crecen despacio en las montañas del norte. Ayer llegaron tarde los invitados a la cena.
"""


@pytest.fixture(scope="module")
def es() -> Parser:
    return Parser.load("es")


def test_a_round_with_the_shipped_model(es: Parser, tmp_path: Path) -> None:
    found = next_trees(es, [io.BytesIO(TEXT.encode())], NextSettings(count=3))
    assert len(found.sentences) == 3 and found.seen == 7 and found.candidates == 5
    ids = [sentence.comment("sent_id") for sentence in found.sentences]
    assert len(set(ids)) == 3 and all(str(name).rpartition("-")[2].isdecimal() for name in ids)
    for sentence in found.sentences:
        assert sentence.text in " ".join(TEXT.split()) and all(confidences(sentence))
    Treebank(found.sentences).write(tmp_path / "done.conllu")
    rest = next_trees(
        es, [io.BytesIO(TEXT.encode())], NextSettings(count=9), done=[tmp_path / "done.conllu"]
    )
    assert len(rest.sentences) == 2
    assert not {s.text for s in rest.sentences} & {s.text for s in found.sentences}
    with pytest.raises(TreebridgeError, match="none of 7 sentences has 30 to 40 words"):
        next_trees(es, [io.BytesIO(TEXT.encode())], NextSettings(shortest=30))


def test_the_command(tmp_path: Path, here: Run) -> None:
    (tmp_path / "news.txt").write_text(TEXT)
    done = here("next", "es", "news.txt", "-n", 2, "-o", "todo.conllu", "--json")
    figures = json.loads(done.stdout)
    assert figures["sentences"] == 2 and figures["candidates"] == 5 and figures["seen"] == 7
    trees = list(read_conllu(tmp_path / "todo.conllu", trees="required"))
    assert [tree.comment("sent_id") for tree in trees] == figures["sent_ids"]
    assert all(str(name).startswith("news-") for name in figures["sent_ids"])
    again = here("next", "es", "news.txt", "-n", 2, "--done", "todo.conllu")
    assert again.returncode == 0 and "2 of 3 candidates" in again.stderr
    assert here("next", "es", "news.txt", "-o", "todo.conllu").returncode == 2  # it exists
    assert "nowhere.txt: file not found" in here("next", "es", "nowhere.txt").stderr
    assert "add -o" in here("next", "es", "news.txt", "--json").stderr
