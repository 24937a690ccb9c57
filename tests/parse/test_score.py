"""Scores computed by hand, invalid input, and the command line."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from conftest import Run
from parse.damage import damaged, from_sentence, to_conllu
from parse.oracle import agrees, chains, official, read
from treebridge import Sentence, TreebridgeError
from treebridge.corpus.artificial import World
from treebridge.parse.score import METRICS, score


def sentence(forms: str, heads: list[int], labels: str, tags: str | None = None) -> Sentence:
    upos = tags.split() if tags else None
    return Sentence.from_words(forms.split(), heads=heads, deprels=labels.split(), upos=upos)


GOLD = [
    sentence("It rains today .", [2, 0, 2, 2], "expl root obl:tmod punct", "PRON VERB NOUN PUNCT"),
    sentence("5 %", [0, 1], "root nmod", "NUM SYM"),
    sentence("!", [0], "root", "PUNCT"),
]
SYSTEM = [
    sentence("It rains today .", [2, 0, 2, 3], "expl root obl punct", "PRON NOUN NOUN PUNCT"),
    sentence("5 %", [2, 0], "nmod root", "NUM SYM"),
    sentence("!", [0], "punct", "PUNCT"),
]


def test_the_convention_of_the_paper() -> None:
    scores = score(GOLD, SYSTEM)
    # Scored: It, rains, today, 5. Heads: 3 of 4 correct; labels of today and 5 are wrong.
    assert scores.words == 4 and scores.sentences == 3
    assert scores.values == {
        "UAS": 75, "LAS": 50, "CLAS": 50, "UPOS": 75,
        "UEM": pytest.approx(200 / 3),  # the first, and the third, which has no scored words
        "LEM": pytest.approx(100 / 3),
    }  # fmt: skip
    assert (scores.labels["obl:tmod"].gold, scores.labels["obl"].system) == (1, 1)
    assert scores.labels["root"].precision == 100 and scores.labels["root"].recall == 50
    assert scores.labels["punct"].gold == scores.labels["punct"].system == 0
    assert scores.lengths["1"].recall == 100 and scores.lengths["root"].recall == 50


def test_the_same_trees_by_conll18() -> None:
    scores = score(GOLD, SYSTEM, "conll18")
    assert scores.words == 7 and scores.labels["obl"].correct == 1
    assert scores["UAS"] == pytest.approx(400 / 7) and scores["LAS"] == pytest.approx(300 / 7)
    assert scores["UEM"] == pytest.approx(100 / 3) and scores["LEM"] == 0


def columns(lemmas: str, xpos: str, feats: str) -> Sentence:
    """Two words, tagged NOUN and PUNCT, with these columns."""
    rows = zip(lemmas.split(), ("NOUN", "PUNCT"), xpos.split(), feats.split(), strict=True)
    lines = [
        "\t".join([str(i), "w", *row, str(i - 1), "x", "_", "_"]) for i, row in enumerate(rows, 1)
    ]
    (made,) = read("\n".join([*lines, "", ""]))
    return made


def test_scores_of_further_columns_appear_if_gold_has_them() -> None:
    gold, nothing = columns("a _", "N P", "Number=Sing|Foo=Yes _"), columns("_ _", "_ _", "_ _")
    system = columns("a b", "N X", "Foo=No|Number=Sing _")
    names = {"XPOS", "UFeats", "AllTags", "Lemmas"}
    by_conll = {n: v for n, v in score([gold], [system], "conll18").values.items() if n in names}
    assert by_conll == {"XPOS": 50, "UFeats": 100, "AllTags": 50, "Lemmas": 100}
    by_paper = score([gold], [system])  # without the PUNCT
    assert by_paper.values["XPOS"] == by_paper.values["AllTags"] == 100
    assert not names & set(score([nothing], [system]).values)
    only_lemmas = score([columns("a _", "_ _", "_ _")], [system])
    assert names & set(only_lemmas.values) == {"Lemmas"}
    assert score([nothing], [system], "conll18")["UFeats"] == 50  # still there by its name


def test_gold_is_perfect_and_order_matters() -> None:
    treebank = World().treebank("source", 50)
    for convention in ("paper", "conll18"):
        assert set(score(treebank, treebank, convention).values.values()) == {100.0}
        assert score([], [], convention).words == 0
    assert score(GOLD, SYSTEM)["CLAS"] == score(SYSTEM, GOLD)["CLAS"]
    assert score(GOLD, SYSTEM).labels["obl"].gold == 0


def test_clas_counts_the_relations_of_both_sides() -> None:
    gold = [sentence("a b c", [0, 1, 1], "root case obj")]
    system = [sentence("a b c", [0, 1, 1], "root obj obj")]
    for convention in ("paper", "conll18"):
        assert score(gold, system, convention)["CLAS"] == 100 * 2 * 2 / (2 + 3)


def test_arcs_by_length_in_the_bins_of_conll_x() -> None:
    """Word 1 is the root; word n is at distance n − 1 from it."""
    far = [sentence("a b c d e f g h i", [0, *[1] * 8], "root" + 8 * " obj")]
    for convention in ("paper", "conll18"):
        lengths = score(far, far, convention).lengths
        counts = {name: tally.gold for name, tally in lengths.items()}
        assert counts == {"root": 1, "1": 1, "2": 1, "3-6": 4, "7+": 2}
        assert all(tally.gold == tally.system == tally.correct for tally in lengths.values())


MULTIWORD = """1	vai	_	VERB	_	_	0	root	_	_
2-3	ao	_	_	_	_	_	_	_	_
2	a	_	ADP	_	_	4	case	_	_
3	o	_	DET	_	_	4	det	_	_
4	mar	_	NOUN	_	_	1	obl	_	_

"""


def test_words_without_their_multiword_token() -> None:
    """Output without multi-word tokens can be scored by words but not by characters."""
    gold = read(MULTIWORD)
    words = [
        Sentence.from_words(s.forms, heads=s.heads, deprels=s.deprels, upos=s.upos) for s in gold
    ]
    assert set(score(gold, words).values.values()) == {100.0}
    merged = read(MULTIWORD.replace("2-3\tao", "2-3\taò"))
    with pytest.raises(TreebridgeError, match="system: sentence 1: found “òmar” where gold"):
        score(gold, merged, "conll18")


def test_a_sentence_matches_only_with_the_same_end() -> None:
    gold = [sentence("a b", [0, 1], "root obj"), sentence("c d", [0, 1], "root obj")]
    joined = [sentence("a b c d", [0, 1, 1, 3], "root obj obj obj")]
    scores = score(gold, joined, "conll18")
    assert scores["UAS"] == 75 and scores["UEM"] == 0
    assert scores.metrics["UEM"].gold == 2 and scores.metrics["UEM"].system == 1
    assert score(gold, gold, "conll18")["LEM"] == 100
    one_more = agrees(chains("c ab=a+b"), chains("c ab=a+b+x"))
    assert one_more.metrics["UAS"].correct == 3 and one_more["UEM"] == 0


def test_empty_sentences_do_not_count() -> None:
    empty = Sentence.from_words([])
    for convention in ("paper", "conll18"):
        scores = score([*GOLD, empty], [*GOLD, empty], convention)
        assert scores.sentences == 3 and scores["LEM"] == 100
    assert score([empty, *GOLD, empty], [GOLD[0], empty, *GOLD[1:]], "conll18")["LEM"] == 100


@pytest.mark.parametrize(
    ("system", "convention", "message"),
    [
        (GOLD[:2], "paper", "gold: sentence 3: system ends after 2 sentences"),
        (GOLD[:2], "conll18", "gold: sentence 3: system ends before “!”"),
        ([*GOLD, GOLD[2]], "conll18", "system: sentence 4: gold ends before “!”"),
        ([GOLD[0], GOLD[2], GOLD[1]], "paper", "sentence 2: word 1 is ! but 5 in gold;"),
        ([GOLD[0], GOLD[2], GOLD[1]], "conll18", "sentence 2: found “!” where gold, sentence 2, has “5%”"),
        ([sentence("It rains today", [2, 0, 2], "x x x")], "paper", "word 4 is missing but . in gold;"),
        ([Sentence.from_words("It rains today .".split())], "paper", "system: sentence 1: word 1 has no HEAD"),
        ([Sentence.from_words(["\u00a0"], heads=[0])], "conll18", "word 1 is only spaces"),
        (GOLD, "conll17", "unknown score convention 'conll17'; use paper or conll18"),
    ],
)  # fmt: skip
def test_errors(system: list[Sentence], convention: str, message: str) -> None:
    with pytest.raises(TreebridgeError) as caught:
        score(GOLD, system, convention)
    assert message in str(caught.value)


@pytest.mark.parametrize("at", range(4))
def test_the_first_difference_is_shown(at: int) -> None:
    text = "abcdefgh"
    other = text[:at] + "X" + text[at + 1 :]
    message = f"found “{other[at:]}” where gold, sentence 1, has “{text[at:]}”"
    with pytest.raises(TreebridgeError, match=message):
        score([sentence(text, [0], "root")], [sentence(other, [0], "root")], "conll18")


def test_memory_does_not_hold_the_files() -> None:
    """The two files are read in step, neither far ahead of the other."""
    taken = [0, 0]

    def stream(side: int):
        for one in GOLD * 50:
            taken[side] += 1
            assert abs(taken[0] - taken[1]) <= 1
            yield one

    for convention in ("paper", "conll18"):
        taken = [0, 0]
        assert score(stream(0), stream(1), convention).sentences == 150


def test_command_line(run: Run, tmp_path: Path) -> None:
    rng = random.Random(5)
    gold = [from_sentence(s) for s in World().treebank("source", 20)]
    (tmp_path / "gold.conllu").write_text(to_conllu(gold, rng), encoding="utf-8")
    (tmp_path / "system.conllu").write_text(
        to_conllu(damaged(gold, rng, 0.2), rng), encoding="utf-8"
    )
    files = ("system.conllu", "gold.conllu")
    done = run("evaluate", *files, "--convention", "conll18", "--detail")
    assert done.returncode == 0, done.stderr
    assert "convention conll18" in done.stdout and "nsubj" in done.stdout and "3-6" in done.stdout
    figures = json.loads(
        run("evaluate", *files, "--convention", "conll18", "--json", "--detail").stdout
    )
    theirs = official(*((tmp_path / name).read_text(encoding="utf-8") for name in reversed(files)))
    assert {name: figures[name] for name in METRICS[:4]} == {
        name: theirs[name] for name in METRICS[:4]
    }
    for name in METRICS:
        assert f"{figures[name]:.2f}" in done.stdout
    assert figures["labels"]["root"]["gold"] == figures["sentences"] == 20
    assert list(figures["lengths"]) == ["root", "1", "2", "3-6", "7+"]
    same = run("evaluate", "gold.conllu", "-", stdin=(tmp_path / "gold.conllu").read_bytes())
    assert "convention paper" in same.stdout and same.stdout.count("100.00") == 6


def test_command_line_errors(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(MULTIWORD, encoding="utf-8")
    (tmp_path / "roots.conllu").write_text(MULTIWORD.replace("1\tobl", "0\tobl"), encoding="utf-8")
    (tmp_path / "none.conllu").write_text("", encoding="utf-8")
    for arguments, message in [
        (["a.conllu"], "error: expected two files"),
        (["roots.conllu", "a.conllu"], "error: roots.conllu:5: 2 words have HEAD 0"),
        (["none.conllu", "none.conllu"], "error: none.conllu: no words to score"),
        (["none.conllu", "a.conllu"], "error: a.conllu: sentence 1: none.conllu ends"),
        (["-", "-"], "error: standard input can be only one of the two files"),
    ]:
        done = run("evaluate", *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith(message) and done.stderr.count("\n") == 1
