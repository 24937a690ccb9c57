"""Parse a sentence again around what a person decided, and find what deserves a look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treebridge.corpus.edit.marks import ARC, LABEL, decided, probability, with_comment, with_item
from treebridge.corpus.edit.words import with_arcs
from treebridge.corpus.sentence import MISC, Sentence
from treebridge.parse.confidence import LOW, SCORE

if TYPE_CHECKING:
    from treebridge.parse.parser import Parser


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
    return made


def doubtful(sentence: Sentence, parser: Parser | None = None, *, low: float = LOW) -> list[int]:
    """The words whose arc deserves a look, in order; those that a person fixed do not.

    They are the highlighted ones (`# highlight tokens = 2 5`) and those with a low probability in
    MISC. A sentence with neither is compared to the tree of the parser.
    """
    names = ("highlight tokens", "highlight deprels")
    lit = {one for name in names for one in (sentence.comment(name) or "").split()}
    rows = list(zip(sentence.column(MISC), decided(sentence), strict=True))
    known = lit or any(probability(misc, ARC) is not None for misc, _ in rows)
    suspects = set()
    if not known and parser is not None and not all({"HEAD", "DEPREL"} <= by for _, by in rows):
        (parsed,) = parser.parse([sentence.annotate(heads=[None] * len(rows))])
        found = zip(parsed.sentence, sentence, parsed.arcs * parsed.labels, strict=True)
        for own, word, sure in found:
            if sure < low or (own.head, own.deprel) != (word.head, word.deprel):
                suspects.add(word.id)
    out = []
    for number, (misc, by_person) in enumerate(rows, 1):
        arc = 1.0 if "HEAD" in by_person else probability(misc, ARC)
        label = 1.0 if "DEPREL" in by_person else probability(misc, LABEL)
        unsure = arc is not None and label is not None and arc * label < low
        unknown = sentence.heads[number - 1] is None or sentence.deprels[number - 1] == "_"
        marked = str(number) in lit or number in suspects
        open_ = not {"HEAD", "DEPREL"} <= by_person
        if unknown or (open_ and (unsure or marked)):
            out.append(number)
    return out
