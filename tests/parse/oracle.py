"""The official script as an oracle, and small texts to try it on."""

from __future__ import annotations

import io
import random

from udtools import udeval

from parse.damage import T, Text, W, to_conllu
from treebridge import Sentence
from treebridge.corpus.conllu import read_conllu
from treebridge.parse.score import METRICS, Scores, score
from treebridge.parse.score_columns import COLUMN_METRICS

SHARED = (*METRICS[:4], *COLUMN_METRICS)  # with the official script


def read(text: str) -> list[Sentence]:
    return list(read_conllu(io.BytesIO(text.encode()), trees="required"))


def official(gold: str, system: str) -> dict[str, float]:
    loaded = [udeval.load_conllu(io.StringIO(text), "", {}) for text in (gold, system)]
    return {name: 100 * result.f1 for name, result in udeval.evaluate(*loaded).items()}


def agrees(gold: str, system: str) -> Scores:
    """Score with `conll18`; every figure of the official script must be identical."""
    scores = score(read(gold), read(system), "conll18")
    theirs = official(gold, system)
    assert {n: scores[n] for n in SHARED} == {n: theirs[n] for n in SHARED}
    arcs = scores.labels.values()
    assert sum(t.correct for t in arcs) == scores.metrics["LAS"].correct
    assert sum(t.system for t in arcs) == scores.metrics["LAS"].system
    for tally in scores.lengths.values():
        assert tally.correct <= min(tally.gold, tally.system)
    for total in ("gold", "system", "correct"):
        by_length = sum(getattr(tally, total) for tally in scores.lengths.values())
        assert by_length == getattr(scores.metrics["UAS"], total)
    return scores


def chains(text: str) -> str:
    """`a bc=b+c / d`: tokens, a multi-word token, a new sentence; the head is the previous word."""
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
