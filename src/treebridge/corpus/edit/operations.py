"""The edits of a sentence by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treebridge.corpus.edit import tokens, words
from treebridge.corpus.edit.marks import is_done, set_done, set_note
from treebridge.corpus.sentence import COLUMNS, Sentence
from treebridge.corpus.trees import partial_problem
from treebridge.errors import TreebridgeError


def _set_cell(sentence: Sentence, word: int, column: str, value: str) -> Sentence:
    return words.set_cell(sentence, word, COLUMNS.index(column), value)


OPERATIONS: dict[str, Callable[..., Sentence]] = {
    "head": words.set_head,
    "label": words.set_label,
    "tag": words.set_tag,
    "cell": _set_cell,
    "confirm": words.confirm,
    "release": words.release,
    "split": tokens.split_word,
    "expand": tokens.expand_word,
    "join": tokens.join_words,
    "group": tokens.group_words,
    "ungroup": tokens.ungroup,
    "note": set_note,
    "done": set_done,
}


def apply(sentence: Sentence, name: str, **arguments: Any) -> Sentence:
    """Apply an edit; a sentence that was done and now misses a head or label is not done."""
    made = OPERATIONS[name](sentence, **arguments)
    if name == "done":
        if is_done(made) and (problem := given_problem(made)):
            raise TreebridgeError(problem)
    elif is_done(sentence) and _gaps(made) > _gaps(sentence):
        made = set_done(made, False)
    return made


def _gaps(sentence: Sentence) -> int:
    return sentence.heads.count(None) + sentence.deprels.count("_")


def given_problem(sentence: Sentence) -> str | None:
    """Say why no tree with one root has these heads; unknown ones are allowed."""
    problem = partial_problem(sentence.heads)
    return f"word {problem[0] + 1}: {problem[1]}" if problem else None
