"""Trees over several bitexts, each with the parser of its own source language.

Where two bitexts have the same target sentence, the distributions that arrive are averaged. A
source counts by its agreement: how many of the arcs that it carries to held-out sentences the
bridged parser finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treebridge.corpus.bitext import Pair
from treebridge.errors import TreebridgeError
from treebridge.parse.parser import Parser
from treebridge.parse.project.carry import complete, project_pairs
from treebridge.parse.project.projected import Projected
from treebridge.parse.project.projection import Floats, LinkArray, Rows, Soft
from treebridge.parse.settings import ProjectSettings
from treebridge.parse.vocab import Names
from treebridge.parse.word_order import WordOrder
from treebridge.progress import QUIET, Progress


@dataclass(frozen=True)
class Lesson:
    """Linked pairs of a bitext, and the parser of its source language."""

    pairs: Sequence[tuple[Pair, LinkArray]]
    teacher: Parser
    agreement: float = 1.0  # weight where another bitext has the same target sentence


def carry_several(
    lessons: Sequence[Lesson],
    bridged: Parser,
    settings: ProjectSettings,
    *,
    tagger: Parser | None = None,
    progress: Progress = QUIET,
) -> tuple[Projected, WordOrder]:
    """Project the trees of every bitext; the word order is that seen from the first source."""
    numbers: dict[tuple[str, ...], int] = {}  # target sentence → its place
    parts: list[list[tuple[Soft, float]]] = []
    confidence: list[list[float]] = []
    first_order: WordOrder | None = None
    for lesson in lessons:
        check_teacher(lesson.teacher, tagger)
        soft, sure, order = project_pairs(
            lesson.pairs, lesson.teacher, tagger=tagger, progress=progress
        )
        first_order = first_order or order
        for (pair, _), one, confident in zip(lesson.pairs, soft, sure.tolist(), strict=True):
            place = numbers.setdefault(tuple(pair.target), len(numbers))
            if place == len(parts):
                parts.append([])
                confidence.append([])
            parts[place].append((in_names_of(one, lesson.teacher, bridged), lesson.agreement))
            confidence[place].append(confident)
    means = np.array([np.mean(some) for some in confidence])
    merged = [merge(some) for some in parts]
    found = complete(
        list(numbers), merged, means, bridged, settings, tagger=tagger, progress=progress
    )
    return found, first_order or WordOrder()


def check_teacher(teacher: Parser, tagger: Parser | None) -> None:
    """Refuse a source parser that needs gold tags, which the bitext does not have.

    A tagger in the same space tags its sentences too, across whatever bridge they come.
    """
    same = tagger is not None and tagger.space.fingerprint == teacher.space.fingerprint
    if teacher.settings.tags == "gold" and not same:
        raise TreebridgeError(
            "a source parser of a further bitext must predict tags; this one was trained with gold "
            "tags, and no tagger reads its vectors"
        )


def merge(parts: Sequence[tuple[Soft, float]]) -> Soft:
    """The mean of distributions by their weights; a word counts only where it has any mass."""
    if len(parts) == 1:
        return parts[0][0]
    columns = zip(*(soft for soft, _ in parts), strict=True)
    weights = [weight for _, weight in parts]
    return Soft(*(_mean(rows, weights) for rows in columns))


def _mean(rows: Sequence[Rows], weights: Sequence[float]) -> Floats:
    total, counted = np.zeros_like(rows[0]), np.zeros((len(rows[0]), 1), np.float32)
    for part, weight in zip(rows, weights, strict=True):
        total = total + weight * part
        counted += weight * (part.sum(1, keepdims=True) > 0)
    return np.asarray(total / np.where(counted > 0, counted, 1), np.float32)


def in_names_of(soft: Soft, teacher: Parser, bridged: Parser) -> Soft:
    """Distributions over the labels and tags of another parser; names it lacks are dropped.

    A subtype that it lacks becomes its universal label.
    """
    labels = _renamed(soft.labels, teacher.labels, bridged.labels)
    if not soft.tags.shape[1] or not bridged.tags:
        return soft._replace(labels=labels)
    return soft._replace(labels=labels, tags=_renamed(soft.tags, teacher.tags, bridged.tags))


def _renamed(rows: Rows, names: Names, wanted: Names) -> Floats:
    if list(names) == list(wanted):
        return np.asarray(rows, np.float32)
    out = np.zeros((len(rows), len(wanted)), np.float32)
    known = wanted.numbers(name if name in wanted else name.partition(":")[0] for name in names)
    for column, place in enumerate(known.tolist()):
        if place >= 0:
            out[:, place] += rows[:, column]
    return out
