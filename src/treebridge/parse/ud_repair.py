"""The best tree that Universal Dependencies accept: second choices where the first break a rule.

Labels are chosen together with tags, and what breaks a rule is forbidden until nothing does.
Punctuation moves to where its arc crosses no other. What is given by the user never changes, even
if it breaks a rule. Moving the dependents of function words as well cost .04 UAS on Spanish dev.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from treebridge.parse.ud_rules import Mask, Rules

Numbers = NDArray[np.int64]
Floats = NDArray[np.floating]


def label_masks(rules: Rules, heads: Numbers) -> Mask:
    """Labels that the place of a head allows: [..., n] → [..., n, labels]."""
    places = np.arange(1, heads.shape[-1] + 1)
    root, before = (heads == 0)[..., None], (heads < places)[..., None]
    beside = (heads == places - 1)[..., None]
    allowed = (before | root | ~rules.rightward) & (beside | ~rules.adjacent)
    if rules.root.any() and not rules.root.all():
        allowed &= root == rules.root
    return np.asarray(allowed)


def with_tags(rules: Rules, labels: Floats, tags: Floats) -> Floats:
    """Scores of labels with the best tag for each: [..., labels], [..., tags] → [..., labels]."""
    fitting = np.where(rules.fitting, tags[..., None, :], -np.inf).max(-1)  # [..., kinds]
    joint = labels + fitting[..., rules.kinds]
    # Where no label goes with the only tag, the label is chosen alone.
    return np.where(np.isfinite(joint).any(-1, keepdims=True), joint, labels)


def best_tags(rules: Rules, labels: Numbers, tags: Floats) -> Numbers:
    """The best tag that goes with each label: [...], [..., tags] → [...]."""
    fitting = np.where(rules.fitting[rules.kinds[labels]], tags, -np.inf)
    possible = np.isfinite(fitting).any(-1)
    best: Numbers = np.where(possible, fitting.argmax(-1), tags.argmax(-1))
    return best


def settle_labels(rules: Rules, heads: Numbers, scores: Floats, tags: Floats) -> Numbers:
    """Labels that break no rule: [n], [n, labels], [n, tags] → [n]; −inf is forbidden in `scores`.

    Each pass forbids at least one label of a word, so this ends.
    """
    scores = scores.copy()
    labels: Numbers = scores.argmax(-1)
    while True:
        before = labels
        for word, forbidden in _broken(rules, heads, labels, scores, tags):
            if _has_choice(scores[word], forbidden):
                scores[word] = np.where(forbidden, -np.inf, scores[word])
        labels = scores.argmax(-1)
        if (labels == before).all():
            return labels


def _has_choice(scores: Floats, forbidden: Mask) -> bool:
    return bool(np.isfinite(scores[~forbidden]).any())


def _broken(
    rules: Rules, heads: Numbers, labels: Numbers, scores: Floats, tags: Floats
) -> Iterator[tuple[int, Mask]]:
    """Yield words and the labels that they must not have, one rule at a time."""
    above = labels[heads - 1]
    inner = heads > 0
    wrong = inner & ~rules.dependents[above, labels]
    changing = False
    for head in np.unique(heads[wrong]).tolist():
        others: Mask = ~np.asarray(rules.dependents[:, labels[heads == head]].all(1))
        if _has_choice(scores[head - 1], others):
            changing = True
            yield head - 1, others
            continue
        for word in np.flatnonzero(
            wrong & (heads == head)
        ).tolist():  # the head must keep its label
            if _has_choice(scores[word], ~rules.dependents[labels[head - 1]]):
                changing = True
                yield word, ~rules.dependents[labels[head - 1]]
    if changing:
        return  # the labels that the other rules are about
    for kind in rules.unique:
        members = np.flatnonzero(inner & kind[labels])
        counts = np.bincount(heads[members], minlength=len(heads) + 1)
        for head in np.flatnonzero(counts > 1):
            words = members[heads[members] == head]
            rest = np.where(kind, -np.inf, scores[words]).max(1)
            order = np.argsort(scores[words, labels[words]] - rest)  # the last has most to lose
            for word in words[order[:-1]].tolist():
                yield word, kind
    chosen = best_tags(rules, labels, tags)
    tag_above = chosen[heads - 1]
    bare = np.ones(len(heads) + 1, bool)  # heads that are no predicates
    bare[heads[rules.predicate[labels]]] = False
    oblique = inner & rules.oblique[labels] & rules.nominal[tag_above] & rules.argument[above]
    for word in np.flatnonzero(oblique & bare[heads]).tolist():
        yield word, rules.oblique
    joined = inner & rules.fixed[labels] & rules.proper[tag_above]
    for word in np.flatnonzero(joined).tolist():
        yield word, rules.fixed


def attach_punctuation(heads: Numbers, arcs: Floats, marks: Mask, fixed: Mask) -> None:
    """Move punctuation whose arc crosses another to its best head that crosses none, in place.

    The words next to it are always such heads.
    """
    places = np.arange(1, len(heads) + 1)
    first, last = np.minimum(heads, places), np.maximum(heads, places)
    settled = ~marks | fixed | (heads == 0)
    while (more := ~settled & np.isin(places, heads[settled])).any():
        settled |= more  # a mark that the user made a head stays above its dependents
    for word in np.flatnonzero(~settled).tolist():
        possible = (~marks | (heads == 0)) & _reachable(
            places, word + 1, first[settled], last[settled]
        )
        settled[word] = True
        if possible.any() and not possible[heads[word] - 1]:
            head = places[possible][arcs[word, places[possible]].argmax()]
            heads[word], first[word], last[word] = head, min(head, word + 1), max(head, word + 1)


def _reachable(heads: Numbers, place: int, left: Numbers, right: Numbers) -> Mask:
    """Heads whose arc to a place crosses none of the arcs from `left` to `right`."""
    low, high = np.minimum(heads, place)[:, None], np.maximum(heads, place)[:, None]
    crosses = ((low < left) & (left < high) & (high < right)) | (
        (left < low) & (low < right) & (right < high)
    )
    return np.asarray(~crosses.any(1))
