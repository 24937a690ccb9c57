"""What an annotator decided, written into the file so that it survives: MISC and comments.

`Fixed=HEAD,DEPREL` in MISC says which cells of a word a person chose; `ArcProb` and `LabelProb` say
which ones the parser chose. `# status = done` and `# note = …` are comments. A file with such marks
says of every word whether a person decided it, so that what nobody decided can be told apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from treebridge.corpus.sentence import COLUMNS, FEATS, LEMMA, MISC, XPOS, Sentence
from treebridge.progress import QUIET, Progress

FIXED, ARC, LABEL, SPACE = "Fixed", "ArcProb", "LabelProb", "SpaceAfter"
STATUS, DONE, NOTE = "status", "done", "note"
DECIDED = ("HEAD", "DEPREL", "UPOS")  # what is fixed as part of the tree


def item(misc: str, key: str) -> str | None:
    """The value of `key=value` in a MISC cell, or None."""
    for one in misc.split("|"):
        name, equals, value = one.partition("=")
        if equals and name == key:
            return value
    return None


def with_item(misc: str, key: str, value: str | None) -> str:
    """A MISC cell with `key=value` replaced or added; None removes it."""
    if item(misc, key) == value:
        return misc
    kept, new = [], f"{key}={value}"
    for one in [] if misc == "_" else misc.split("|"):
        if not one.startswith(f"{key}="):
            kept.append(one)
        elif value is not None and new not in kept:
            kept.append(new)
    if value is not None and new not in kept:
        kept.append(new)
    return "|".join(kept) or "_"


def fixed(misc: str) -> frozenset[str]:
    """Which of HEAD, DEPREL and UPOS a person chose."""
    return frozenset(_names(misc)) & frozenset(DECIDED)


def _names(misc: str) -> list[str]:
    """All columns that a person chose, in the order of the mark."""
    return [one for one in (item(misc, FIXED) or "").split(",") if one]


def fix(misc: str, *columns: str) -> str:
    """Mark columns as chosen by a person."""
    there = _names(misc)
    wanted = [*there, *(column for column in columns if column not in there)]
    known = [column for column in DECIDED if column in wanted]
    others = [one for one in wanted if one not in DECIDED]
    return with_item(misc, FIXED, ",".join([*known, *others]) or None)


def unfix(misc: str, *columns: str) -> str:
    """Remove the marks of columns."""
    there = _names(misc)
    return with_item(misc, FIXED, ",".join(one for one in there if one not in columns) or None)


def without(misc: str, *keys: str) -> str:
    """A MISC cell without these keys."""
    for key in keys:
        misc = with_item(misc, key, None)
    return misc


def probability(misc: str, key: str) -> float | None:
    """The parser's probability in a MISC cell, or None."""
    try:
        return float(item(misc, key) or "")
    except ValueError:
        return None


def is_done(sentence: Sentence) -> bool:
    """Whether a person accepted the sentence."""
    return sentence.comment(STATUS) == DONE


def with_comment(comments: Iterable[str], key: str, value: str | None) -> list[str]:
    """Comments with `# key = value` replaced or added; None removes it."""
    new = None if value is None else f"# {key} = {value}"
    out = []
    for line in comments:
        name, equals, _ = line[1:].partition("=")
        if not equals or name.strip() != key:
            out.append(line)
        elif new is not None:
            out.append(new)
            new = None
    return out if new is None else [*out, new]


def set_done(sentence: Sentence, done: bool) -> Sentence:
    """Mark a sentence as done, or not."""
    if is_done(sentence) == done:
        return sentence
    return _commented(sentence, STATUS, DONE if done else None)


def set_note(sentence: Sentence, text: str) -> Sentence:
    """Write a note; white space becomes single spaces, and an empty text removes the note."""
    return _commented(sentence, NOTE, re.sub(r"\s+", " ", text).strip() or None)


def _commented(sentence: Sentence, key: str, value: str | None) -> Sentence:
    comments = with_comment(sentence.comments, key, value)
    return Sentence(sentence.lines, sentence.positions, sentence.heads, comments)


def decided(sentence: Sentence) -> list[frozenset[str]]:
    """What a person chose of each word; everything in a sentence that is done."""
    if is_done(sentence):
        return [frozenset(DECIDED)] * len(sentence)
    return [fixed(misc) for misc in sentence.column(MISC)]


def is_open(sentence: Sentence, column: int) -> list[bool]:
    """Whether each word was worked on without a decision about this column."""
    name = COLUMNS[column]
    if is_done(sentence):
        return [False] * len(sentence)
    return [bool(names) and name not in names for names in map(_names, sentence.column(MISC))]


def only_decided(sentence: Sentence) -> Sentence:
    """A sentence in which all cells that no person chose are unknown (`_`)."""
    if is_done(sentence):
        return sentence
    rows = list(zip(sentence, decided(sentence), strict=True))
    others = {
        column: [
            value if COLUMNS[column] in _names(misc) else "_"
            for value, misc in zip(sentence.column(column), sentence.column(MISC), strict=True)
        ]
        for column in (LEMMA, XPOS, FEATS)
    }
    return sentence.annotate(
        heads=[word.head if "HEAD" in fixed else None for word, fixed in rows],
        deprels=[word.deprel if "DEPREL" in fixed else "_" for word, fixed in rows],
        upos=[word.upos if "UPOS" in fixed else "_" for word, fixed in rows],
        lemmas=others[LEMMA],
        xpos=others[XPOS],
        feats=others[FEATS],
    )


def as_decided(trees: Sequence[Sentence], progress: Progress = QUIET) -> Sequence[Sentence]:
    """Trees to learn from: if an annotator has marked some, what nobody decided is unknown.

    Trees without any marks are as their file has them.
    """
    marked = [tree for tree in trees if is_done(tree) or any(_names(m) for m in tree.column(MISC))]
    if not marked:
        return trees
    done = [tree for tree in marked if is_done(tree)]
    words = sum(bool(word) for tree in marked for word in decided(tree))
    further, left = words - sum(map(len, done)), sum(map(len, trees)) - words
    if left:
        progress.say(
            f"the trees have the marks of an annotator: {len(done):,} of {len(trees):,} sentences "
            f"are done, {further:,} words are decided in others; the other {left:,} words count as "
            "unknown"
        )
    return [only_decided(tree) for tree in marked]
