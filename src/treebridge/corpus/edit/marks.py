"""What an annotator decided, written into the file so that it survives: MISC and comments.

`Fixed=HEAD,DEPREL` in MISC says which cells of a word a person chose; `ArcProb` and `LabelProb` say
which ones the parser chose. `# status = done` and `# note = …` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from treebridge.corpus.sentence import MISC, Sentence

FIXED, ARC, LABEL, SPACE = "Fixed", "ArcProb", "LabelProb", "SpaceAfter"
STATUS, DONE, NOTE = "status", "done", "note"
DECIDED = ("HEAD", "DEPREL", "UPOS")  # what can be fixed


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
    return frozenset((item(misc, FIXED) or "").split(",")) & frozenset(DECIDED)


def fix(misc: str, *columns: str) -> str:
    """Mark columns as chosen by a person."""
    there = [one for one in (item(misc, FIXED) or "").split(",") if one]
    wanted = [*there, *(column for column in columns if column not in there)]
    known = [column for column in DECIDED if column in wanted]
    others = [one for one in wanted if one not in DECIDED]
    return with_item(misc, FIXED, ",".join([*known, *others]) or None)


def unfix(misc: str, *columns: str) -> str:
    """Remove the marks of columns."""
    there = [one for one in (item(misc, FIXED) or "").split(",") if one]
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


def only_decided(sentence: Sentence) -> Sentence:
    """A sentence in which heads, labels and tags that no person chose are unknown (`_`)."""
    rows = list(zip(sentence, decided(sentence), strict=True))
    return sentence.annotate(
        heads=[word.head if "HEAD" in fixed else None for word, fixed in rows],
        deprels=[word.deprel if "DEPREL" in fixed else "_" for word, fixed in rows],
        upos=[word.upos if "UPOS" in fixed else "_" for word, fixed in rows],
    )
