"""Scores: the official script to the last digit, and the paper's convention by hand."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from udtools import udeval

from conftest import Run
from parse.damage import (  # fmt: skip
    LABELS,
    TAGS,
    T,
    Text,
    W,
    damaged,
    from_sentence,
    to_conllu,
    with_multiword_tokens,
)
from strategies import tree_heads
from treebridge import Sentence, TreebridgeError
from treebridge.corpus.artificial import World
from treebridge.corpus.conllu import read_conllu
from treebridge.parse.match import NOWHERE, match_same_text
from treebridge.parse.score import METRICS, Scores, score


def read(text: str) -> list[Sentence]:
    return list(read_conllu(io.BytesIO(text.encode()), trees="required"))


def official(gold: str, system: str) -> dict[str, float]:
    loaded = [udeval.load_conllu(io.StringIO(text), "", {}) for text in (gold, system)]
    return {name: 100 * result.f1 for name, result in udeval.evaluate(*loaded).items()}


def agrees(gold: str, system: str) -> Scores:
    """Score as `conll18`; every figure that the official script has must be the same number."""
    scores = score(read(gold), read(system), "conll18")
    theirs = official(gold, system)
    assert {n: scores[n] for n in METRICS[:4]} == {n: theirs[n] for n in METRICS[:4]}
    arcs = scores.labels.values()
    assert sum(t.correct for t in arcs) == scores.metrics["LAS"].correct
    assert sum(t.system for t in arcs) == scores.metrics["LAS"].system
    for tally in scores.lengths.values():
        assert tally.correct <= min(tally.gold, tally.system)
    for total in ("gold", "system", "correct"):
        by_length = sum(getattr(tally, total) for tally in scores.lengths.values())
        assert by_length == getattr(scores.metrics["UAS"], total)
    return scores


@pytest.mark.parametrize("language", ["source", "far"])
def test_damaged_trees_against_the_official_script(language: str) -> None:
    sentences = World(seed=3).treebank(language, 500)
    seen = set()
    for seed in range(100):
        rng = random.Random(seed)
        chosen = rng.sample(list(sentences), 5)
        gold: Text = [with_multiword_tokens(from_sentence(s), rng) for s in chosen]
        system = damaged(gold, rng, amount=rng.choice([0, 0.02, 0.1, 0.3, 0.7]))
        scores = agrees(to_conllu(gold, rng), to_conllu(system, rng))
        seen.add((scores["UAS"], scores["LAS"], scores["CLAS"], scores["UPOS"], scores["UEM"]))
    assert len(seen) > 70 and any(0 < uem < 100 for *_, uem in seen)


@st.composite
def texts(draw: st.DrawFn, characters: str) -> Text:
    """Any way to cut these few characters into sentences, tokens and words with a tree."""
    tokens: list[T] = []
    out: Text = []
    rest = characters
    while rest:
        size = draw(st.integers(1, min(3, len(rest))))
        form, rest = rest[:size], rest[size:]
        words = [form]
        if draw(st.integers(0, 2)) == 0:
            words = draw(st.lists(st.sampled_from(["a", "b", "ab", "A"]), min_size=2, max_size=4))
        made = [W(w, draw(st.sampled_from(TAGS)), draw(st.sampled_from(LABELS))) for w in words]
        tokens.append(T(form, made, len(words) > 1))
        if not rest or draw(st.integers(0, 4)) == 0:
            row = [word for token in tokens for word in token.words]
            heads = draw(tree_heads(min_size=len(row), max_size=len(row)))
            for word, head in zip(row, heads, strict=True):
                word.head = row[head - 1] if head else None
            out.append(tokens)
            tokens = []
    return out


@st.composite
def two_texts(draw: st.DrawFn) -> tuple[Text, Text]:
    characters = draw(st.text("ab", min_size=1, max_size=12))
    return draw(texts(characters)), draw(texts(characters))


@settings(max_examples=400)
@given(two_texts(), st.randoms(use_true_random=False))
def test_any_two_ways_to_cut_a_text(both: tuple[Text, Text], rng: random.Random) -> None:
    """Two letters only, so that words are found in many wrong places if any can be."""
    gold, system = (to_conllu(text, rng) for text in both)
    agrees(gold, system)


def chains(text: str) -> str:
    """`a bc=b+c / d`: tokens, a multi-word token, another sentence; each word hangs from the last."""
    made: Text = []
    for sentence in text.split(" / "):
        head, tokens = None, []
        for token in sentence.split():
            form, _, inside = token.partition("=")
            words = []
            for word in inside.split("+") if inside else [form]:
                words.append(head := W(word, "X", "obj" if head else "root", head))
            tokens.append(T(form, words, bool(inside)))
        made.append(tokens)
    return to_conllu(made, random.Random(0))


@pytest.mark.parametrize(
    ("gold", "system", "words"),
    [
        # The script passes over one word before a multi-word token, here a, and takes the next
        # for a part of it, though it stands in the sentence before.
        ("ab / bc=b+c", "a b / b c", 2),
        ("ab bc=b+c", "a b b c", 2),
        ("a b b c", "ab bc=b+c", 2),
        # A word that sticks out is looked at if it begins together with the token.
        ("ab b", "a=ab+b b b", 2),
        ("ab b / c", "a=ab+b b / b c", 3),
        ("a=ab+b b b", "ab b", 1),
        # Tokens that overlap in a chain are one stretch.
        ("ab=a+b cd=c+d e", "a bc=b+c de=d+e", 5),
    ],
)
def test_corners_of_the_official_alignment(gold: str, system: str, words: int) -> None:
    ours, theirs = chains(gold), chains(system)
    agrees(ours, theirs)
    (match,) = match_same_text(read(ours), read(theirs), ("gold", "system"))
    assert sum(g != NOWHERE for g in match.to_gold) == words


def test_damaged_real_trees(shared: Path) -> None:
    rng = random.Random(1)
    path = shared / "data/ud-2.6/UD_Portuguese-GSD/pt_gsd-ud-dev.conllu"
    gold = [from_sentence(sentence) for sentence in read_conllu(path)]
    for amount in (0.05, 0.4):
        agrees(to_conllu(gold, rng), to_conllu(damaged(gold, rng, amount), rng))


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
    # It, rains, today and 5 are left. Heads: 3 of 4 right; labels: not those of today and 5.
    assert scores.words == 4 and scores.sentences == 3
    assert scores.values == {
        "UAS": 75, "LAS": 50, "CLAS": 50, "UPOS": 75,
        "UEM": pytest.approx(200 / 3),  # the first, and the third, of which nothing is scored
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


MULTIWORD = """1	vai	_	VERB	_	_	0	root	_	_
2-3	ao	_	_	_	_	_	_	_	_
2	a	_	ADP	_	_	4	case	_	_
3	o	_	DET	_	_	4	det	_	_
4	mar	_	NOUN	_	_	1	obl	_	_

"""


def test_words_without_their_multiword_token() -> None:
    """A parser that gives back words only is scored by the words; by characters it cannot be."""
    gold = read(MULTIWORD)
    words = [
        Sentence.from_words(s.forms, heads=s.heads, deprels=s.deprels, upos=s.upos) for s in gold
    ]
    assert set(score(gold, words).values.values()) == {100.0}
    merged = read(MULTIWORD.replace("2-3\tao", "2-3\taò"))
    with pytest.raises(TreebridgeError, match="system: sentence 1: here is “òmar” where gold"):
        score(gold, merged, "conll18")


def test_a_sentence_is_found_only_where_it_ends_alike() -> None:
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
        (GOLD[:2], "paper", "gold: sentence 3: is one too many: system ends after 2 sentences"),
        (GOLD[:2], "conll18", "gold: sentence 3: system has ended before “!”"),
        ([*GOLD, GOLD[2]], "conll18", "system: sentence 4: gold has ended before “!”"),
        ([GOLD[0], GOLD[2], GOLD[1]], "paper", "sentence 2: word 1 is !, in gold it is 5;"),
        ([GOLD[0], GOLD[2], GOLD[1]], "conll18", "sentence 2: here is “!” where gold, sentence 2, has “5%”"),
        ([sentence("It rains today", [2, 0, 2], "x x x")], "paper", "word 4 is missing, in gold it is .;"),
        ([Sentence.from_words("It rains today .".split())], "paper", "system: sentence 1: word 1 has no HEAD"),
        ([Sentence.from_words(["\u00a0"], heads=[0])], "conll18", "word 1 is nothing but spaces"),
        (GOLD, "conll17", "no score convention 'conll17'; use paper or conll18"),
    ],
)  # fmt: skip
def test_errors(system: list[Sentence], convention: str, message: str) -> None:
    with pytest.raises(TreebridgeError) as caught:
        score(GOLD, system, convention)
    assert message in str(caught.value)


def test_memory_does_not_hold_the_files() -> None:
    """Sentences are taken side by side, never one file far ahead of the other."""
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
        (["a.conllu"], "error: evaluate needs two files"),
        (["roots.conllu", "a.conllu"], "error: roots.conllu:5: 2 words have HEAD 0"),
        (["none.conllu", "none.conllu"], "error: none.conllu: no words to score"),
        (["none.conllu", "a.conllu"], "error: a.conllu: sentence 1: is one too many"),
        (["-", "-"], "error: standard input can be one of the two files"),
    ]:
        done = run("evaluate", *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith(message) and done.stderr.count("\n") == 1
