"""Treebanks that call every nominal modifier `nmod`, as in version 1 of Universal Dependencies.

Version 2 calls one of a verb, an adjective or an adverb `obl`. Some treebanks were never converted,
and a parser that learns from them and from others learns a contradiction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treebridge.corpus.sentence import Sentence

PREDICATES = frozenset({"VERB", "AUX", "ADJ", "ADV"})
COPULA = frozenset({"cop", "aux", "aux:pass"})
FEW = 0.001  # share of obl among all labels below which a treebank is taken not to have it
ENOUGH = 0.02  # share of nmod above which that is no accident


def lacks_obliques(trees: Iterable[Sentence]) -> bool:
    """Whether a treebank has nominal modifiers, but none of them is `obl`."""
    labels = [label.partition(":")[0] for tree in trees for label in tree.deprels]
    size = max(len(labels), 1)
    return labels.count("obl") < FEW * size and labels.count("nmod") > ENOUGH * size


def with_obliques(trees: Sequence[Sentence]) -> Sequence[Sentence]:
    """The trees, with `nmod` of predicates called `obl` if the treebank lacks that."""
    return [_converted(tree) for tree in trees] if lacks_obliques(trees) else trees


def _converted(tree: Sentence) -> Sentence:
    both = list(zip(tree.heads, tree.deprels, strict=True))
    with_copula = {head for head, label in both if label in COPULA}
    labels = [
        "obl" if label == "nmod" and head and _is_predicate(tree, head, with_copula) else label
        for head, label in both
    ]
    return tree.annotate(deprels=labels)


def _is_predicate(tree: Sentence, head: int, with_copula: set[int | None]) -> bool:
    return tree.upos[head - 1] in PREDICATES or head in with_copula
