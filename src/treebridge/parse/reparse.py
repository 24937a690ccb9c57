"""Parse a sentence again around what a person decided, and find what deserves a look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treebridge.corpus.edit.marks import ARC, LABEL, decided, probability, with_comment, with_item
from treebridge.corpus.edit.words import with_arcs
from treebridge.corpus.punctuation import is_only_punctuation
from treebridge.corpus.sentence import MISC, Sentence
from treebridge.parse.confidence import LOW, SCORE

if TYPE_CHECKING:
    from treebridge.parse.parsed import Parsed
    from treebridge.parse.parser import Parser

HIGHLIGHTS = ("highlight tokens", "highlight deprels")  # comments that ConlluEditor shows


def open_arcs(sentence: Sentence, *, everything: bool = False) -> list[tuple[bool, bool]]:
    """Whether the parser may change the head and the label of each word.

    It may change what is unknown (`_`) or its own, marked by a probability in MISC; with
    `everything`, all that no person has fixed.
    """
    found = []
    rows = zip(
        sentence.heads, sentence.deprels, sentence.column(MISC), decided(sentence), strict=True
    )
    for head, label, misc, by_person in rows:
        own_arc = head is None or probability(misc, ARC) is not None
        own_label = own_arc or label == "_" or probability(misc, LABEL) is not None
        found.append(
            (
                (everything or own_arc) and "HEAD" not in by_person,
                (everything or own_label) and "DEPREL" not in by_person,
            )
        )
    return found


def reparse(parser: Parser, sentence: Sentence, *, everything: bool = False) -> Sentence:
    """Parse what is open (see `open_arcs`) under everything else; existing tags are kept."""
    free = open_arcs(sentence, everything=everything)
    if not any(head or label for head, label in free) and "_" not in sentence.upos:
        return sentence
    pairs = list(zip(free, sentence.heads, sentence.deprels, strict=True))
    given = sentence.annotate(
        heads=[None if head else old for (head, _), old, _ in pairs],
        deprels=["_" if label else old for (_, label), _, old in pairs],
    )
    (parsed,) = parser.parse([given], keep_heads=True, keep_tags=True)
    tree = parsed.sentence
    misc = []
    for (head, label), old, arc, name in zip(
        free, sentence.column(MISC), parsed.arcs, parsed.labels, strict=True
    ):
        new = with_item(old, ARC, f"{arc:.3f}") if head else old
        misc.append(with_item(new, LABEL, f"{name:.3f}") if label else new)
    made = with_arcs(sentence.annotate(upos=tree.upos), tree.heads, tree.deprels, misc)
    if sentence.comment(SCORE) is not None:
        made.comments = with_comment(made.comments, SCORE, f"{parsed.score:.4f}")
    made.comments = _highlighted(made, free, parsed)
    return made


def _highlighted(
    sentence: Sentence, free: list[tuple[bool, bool]], parsed: Parsed
) -> Sequence[str]:
    """Comments in which `# highlight …` lists the words that are doubtful now, not before."""
    comments = sentence.comments
    for key, values in zip(HIGHLIGHTS, (parsed.arcs, parsed.arcs * parsed.labels), strict=True):
        stated = sentence.comment(key)
        if stated is None:
            continue
        before, now = stated.split(), []
        rows = zip(free, decided(sentence), values, strict=True)
        for word, (may_change, by_person, value) in enumerate(rows, 1):
            if value < LOW if any(may_change) else str(word) in before and not by_person:
                now.append(str(word))
        comments = with_comment(comments, key, " ".join(now) or None)
    return comments


def doubtful(sentence: Sentence, parser: Parser | None = None, *, low: float = LOW) -> list[int]:
    """The words whose arc deserves a look, in order; those that a person fixed do not.

    They are the highlighted ones (`# highlight tokens = 2 5`) and those with a low probability in
    MISC. Without highlights, words without a probability are compared to the tree of the parser.
    """
    heads, arcs = (set((sentence.comment(key) or "").split()) for key in HIGHLIGHTS)
    suspects = set() if parser is None or heads or arcs else _suspects(sentence, parser, low)
    out = []
    for word, by_person in zip(sentence, decided(sentence), strict=True):
        arc = 1.0 if "HEAD" in by_person else probability(word.misc, ARC)
        label = 1.0 if "DEPREL" in by_person else probability(word.misc, LABEL)
        marked = str(word.id) in heads | arcs or word.id in suspects
        if word.deprel == "punct" and is_only_punctuation(word.form):  # labelled by rule
            label, marked = 1.0, str(word.id) in heads or word.id in suspects
        unsure = arc is not None and label is not None and arc * label < low
        unknown = word.head is None or word.deprel == "_"
        if unknown or ((unsure or marked) and not by_person >= {"HEAD", "DEPREL"}):
            out.append(word.id)
    return out


def _suspects(sentence: Sentence, parser: Parser, low: float) -> set[int]:
    """Words without a probability that the parser attaches differently or is unsure of."""
    rows = zip(sentence, decided(sentence), strict=True)
    silent = {
        word.id
        for word, by_person in rows
        if probability(word.misc, ARC) is None and "HEAD" not in by_person
    }
    if not silent:
        return silent
    (parsed,) = parser.parse([sentence])
    found = zip(parsed.sentence, sentence, parsed.arcs * parsed.labels, strict=True)
    return {
        word.id
        for own, word, sure in found
        if sure < low or (own.head, own.deprel) != (word.head, word.deprel)
    } & silent
