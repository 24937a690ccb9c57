"""The parser's confidence, written to and read from CoNLL-U."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treebridge.corpus.sentence import MISC, Sentence

if TYPE_CHECKING:  # drawing a tree needs no torch
    from treebridge.parse.parsed import Parsed

ARC, LABEL, SCORE = "ArcProb", "LabelProb", "tree_score"
LOW = 0.5  # labelled arcs with a lower probability are drawn as doubtful, and highlighted


class Confidence(NamedTuple):
    """Probability of a word's head, and of its label given the head."""

    arc: float
    label: float

    @property
    def both(self) -> float:
        """Probability of the labelled arc."""
        return self.arc * self.label


def with_confidence(parsed: Parsed) -> Sentence:
    """Add both probabilities of each word to MISC, and the tree's score as a comment."""
    sentence = parsed.sentence
    misc = []
    for old, arc, label in zip(sentence.column(MISC), parsed.arcs, parsed.labels, strict=True):
        kept = [item for item in old.split("|") if item.partition("=")[0] not in ("_", ARC, LABEL)]
        misc.append("|".join([*kept, f"{ARC}={arc:.3f}", f"{LABEL}={label:.3f}"]))
    made = sentence.annotate(misc=misc)
    comments = [line for line in sentence.comments if not line.startswith(f"# {SCORE} = ")]
    made.comments = [*comments, f"# {SCORE} = {parsed.score:.4f}"]
    return made


def with_highlights(parsed: Parsed) -> tuple[Sentence, int]:
    """Add confidence, and comments that make ConlluEditor highlight doubtful words and arcs.

    `# highlight tokens` lists words whose head is doubtful, `# highlight deprels` those whose
    labelled arc is. Returns the sentence and the length of the second list.
    """
    sentence = with_confidence(parsed)
    both = parsed.arcs * parsed.labels
    lines = [line for line in sentence.comments if not line.startswith("# highlight ")]
    for kind, values in (("tokens", parsed.arcs), ("deprels", both)):
        if len(words := np.flatnonzero(values < LOW) + 1):
            lines.append(f"# highlight {kind} = {' '.join(map(str, words))}")
    sentence.comments = lines
    return sentence, int((both < LOW).sum())


def confidences(sentence: Sentence) -> list[Confidence | None]:
    """Read what `with_confidence` wrote; None for words without probabilities."""
    found: list[Confidence | None] = []
    for misc in sentence.column(MISC):
        items = dict(item.partition("=")[::2] for item in misc.split("|"))
        try:
            found.append(Confidence(float(items[ARC]), float(items[LABEL])))
        except (KeyError, ValueError):  # missing, or written by another tool
            found.append(None)
    return found
