"""Edits of one word: its head, label, tag and other cells."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from treebridge.corpus.conllu import JOINERS
from treebridge.corpus.edit.marks import ARC, LABEL, fix, unfix, without
from treebridge.corpus.sentence import (
    COLUMNS,
    DEPREL,
    DEPS,
    FEATS,
    FORM,
    HEAD,
    LEMMA,
    MISC,
    UPOS,
    XPOS,
    Sentence,
)
from treebridge.errors import TreebridgeError

ROOT = "root"
FREE = (LEMMA, XPOS, FEATS)  # columns that take any value


def set_head(sentence: Sentence, word: int, head: int) -> Sentence:
    """Attach a word to another head, or to the root (0), and mark the head as fixed.

    A tree stays a tree: if the new head is below the word, the branch that leads to it takes the
    word's old place; a new root takes the old root as its dependent. These words lose their label
    and their marks, because the newer decision replaces the older one.
    """
    check_word(sentence, word)
    check_word(sentence, head, lowest=0)
    if head == word:
        raise TreebridgeError("a word cannot be its own head; choose another word")
    heads, labels, misc = list(sentence.heads), list(sentence.deprels), list(sentence.column(MISC))
    moved: dict[int, int | None] = {}
    if head == 0:
        moved = {other: word for other, old in enumerate(heads, 1) if old == 0 and other != word}
    elif branch := _branch(heads, word, head):
        moved = {branch: heads[word - 1]}
    for other, new in moved.items():
        heads[other - 1], labels[other - 1] = new, ROOT if new == 0 else "_"
        misc[other - 1] = unfix(misc[other - 1], "HEAD", "DEPREL")
    at = word - 1
    heads[at], misc[at] = head, fix(without(misc[at], ARC), "HEAD")
    if head == 0:
        labels[at], misc[at] = ROOT, fix(without(misc[at], LABEL), "DEPREL")
    elif is_root(labels[at]):
        labels[at], misc[at] = "_", unfix(misc[at], "DEPREL")
    return with_arcs(sentence, heads, labels, misc)


def set_label(sentence: Sentence, word: int, label: str) -> Sentence:
    """Label a word's arc, and mark head and label as fixed."""
    check_word(sentence, word)
    head = sentence.heads[word - 1]
    if head is None:
        raise TreebridgeError(f"word {word} has no head yet; choose its head first")
    if (head == 0) != is_root(label):
        wrong = "is the root, and its label is root" if head == 0 else "is not the root"
        raise TreebridgeError(f"word {word} {wrong}; change its head to change this")
    check_cell(DEPREL, label)
    labels, misc = list(sentence.deprels), list(sentence.column(MISC))
    labels[word - 1] = label
    misc[word - 1] = fix(without(misc[word - 1], ARC, LABEL), "HEAD", "DEPREL")
    return with_arcs(sentence, sentence.heads, labels, misc)


def set_tag(sentence: Sentence, word: int, tag: str) -> Sentence:
    """Set the universal part of speech of a word, and mark it as fixed."""
    check_word(sentence, word)
    check_cell(UPOS, tag)
    tags, misc = list(sentence.upos), list(sentence.column(MISC))
    tags[word - 1], misc[word - 1] = tag, fix(misc[word - 1], "UPOS")
    return sentence.annotate(upos=tags, misc=misc)


def confirm(sentence: Sentence, word: int) -> Sentence:
    """Mark head, label and tag of a word as fixed, as they are."""
    check_word(sentence, word)
    if sentence.heads[word - 1] is None or sentence.deprels[word - 1] == "_":
        raise TreebridgeError(f"word {word} has no head or label yet; choose them first")
    misc = list(sentence.column(MISC))
    columns = ["HEAD", "DEPREL", *(["UPOS"] if sentence.upos[word - 1] != "_" else [])]
    misc[word - 1] = fix(without(misc[word - 1], ARC, LABEL), *columns)
    return sentence.annotate(misc=misc)


def release(sentence: Sentence, word: int) -> Sentence:
    """Make head and label of a word unknown (`_`)."""
    check_word(sentence, word)
    heads, labels, misc = list(sentence.heads), list(sentence.deprels), list(sentence.column(MISC))
    heads[word - 1], labels[word - 1] = None, "_"
    misc[word - 1] = unfix(without(misc[word - 1], ARC, LABEL), "HEAD", "DEPREL")
    return with_arcs(sentence, heads, labels, misc)


def set_cell(sentence: Sentence, word: int, column: int, value: str) -> Sentence:
    """Set the lemma, the language's own tag or the features of a word, and mark them as fixed.

    An empty value means `_`.
    """
    check_word(sentence, word)
    if column not in FREE:
        raise TreebridgeError(f"{COLUMNS[column]} cannot be edited as text")
    value = value.strip() or "_"
    check_cell(column, value)
    lines, cells = list(sentence.lines), list(sentence.lines[column])
    cells[sentence.positions[word - 1]] = value
    lines[column] = tuple(cells)
    made = Sentence(lines, sentence.positions, sentence.heads, sentence.comments)
    misc = list(sentence.column(MISC))
    misc[word - 1] = fix(misc[word - 1], COLUMNS[column])
    return made.annotate(misc=misc)


def with_arcs(
    sentence: Sentence,
    heads: Sequence[int | None],
    labels: Sequence[str],
    misc: Sequence[str] | None = None,
) -> Sentence:
    """Replace heads and labels; an enhanced arc (DEPS) that only repeats the basic one follows."""
    made = sentence.annotate(heads=heads, deprels=labels, misc=misc)
    lines, deps = list(made.lines), list(made.lines[DEPS])
    for line in made.positions:
        old, new = (
            f"{one.lines[HEAD][line]}:{one.lines[DEPREL][line]}" for one in (sentence, made)
        )
        if deps[line] == old != new:
            deps[line] = "_" if made.lines[HEAD][line] == "_" else new
    lines[DEPS] = tuple(deps)
    return Sentence(lines, made.positions, made.heads, made.comments)


def is_root(label: str) -> bool:
    """Whether a label is `root` or one of its subtypes."""
    return label.partition(":")[0] == ROOT


def check_word(sentence: Sentence, word: int, lowest: int = 1) -> None:
    """Refuse a number that is not a word's."""
    if not lowest <= word <= len(sentence):
        raise TreebridgeError(f"there is no word {word}; the sentence has {len(sentence)} words")


def check_cell(column: int, value: str) -> None:
    """Refuse a value that CoNLL-U does not allow in a column."""
    if column in (FORM, LEMMA):
        bad = any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in value)
        what = "tabs or control characters"
    else:
        bad = any(char == " " or not (char.isprintable() or char in JOINERS) for char in value)
        what = "white space or control characters"
    if bad or not value:
        raise TreebridgeError(f"{COLUMNS[column]} must not be empty or contain {what}")


def _branch(heads: Sequence[int | None], word: int, below: int) -> int | None:
    """The dependent of a word whose subtree contains `below`; None if `below` is elsewhere."""
    node: int | None = below
    for _ in heads:
        above = heads[node - 1] if node else None
        if above == word:
            return node
        node = above
    return None
