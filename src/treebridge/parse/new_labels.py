"""Add labels to a parser that occur in the user's trees but not in the source treebank.

The parser has other labels for such arcs: Portuguese possessives are `det:poss`, and a parser that
learned from English says `nmod:poss`. A new label starts from the one that it replaces most often,
as probable as the trees show it to be in that place, so that few trees are enough to learn it.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log

import torch
from torch import nn

from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import given_heads
from treebridge.parse.parser import Parser
from treebridge.parse.vocab import Names

MOST = 3.0  # by which the score of a new label differs at first from that of the one it replaces


def new_labels(parser: Parser, labels: Iterable[str]) -> list[str]:
    """The labels that the parser cannot predict."""
    return [label for label in Names.collect(labels) if label not in parser.labels]


def with_labels(parser: Parser, labels: Iterable[str], trees: Sequence[Sentence] = ()) -> Parser:
    """Add labels, initialized from those that the parser gives to the same arcs of the trees.

    Without trees, `acl:part` starts from `acl`, and others from the mean of all labels.
    """
    further = new_labels(parser, labels)
    if not further:
        return parser
    pairs = _label_pairs(parser, trees)
    weight = parser.biaffine.label_weight.detach()  # [label + 1, labels, label + 1]
    rows = []
    for label in further:
        replaced = {own: times for (gold, own), times in pairs.items() if gold == label}
        most = max(replaced, key=lambda own: (replaced[own], own), default=None)
        kind = label.partition(":")[0]
        start = most if most in parser.labels else kind
        row = weight[:, parser.labels.index(start)] if start in parser.labels else weight.mean(1)
        row = row.clone()
        others = sum(times for (_, own), times in pairs.items() if own == most)
        chosen = replaced.get(str(most), 0)
        odds = log((chosen + 0.5) / (others - chosen + 0.5)) if chosen else -MOST
        row[-1, -1] += min(MOST, max(-MOST, odds))
        rows.append(row)
    model = copy.deepcopy(parser.biaffine)
    model.label_weight = nn.Parameter(torch.cat([weight, torch.stack(rows, 1)], 1))
    return replace(parser, model=model, labels=Names([*parser.labels, *further]))


def _label_pairs(parser: Parser, trees: Sequence[Sentence]) -> Counter[tuple[str, str]]:
    """How often an arc has which label in the trees, and which by the parser."""
    known = [tree.annotate(heads=given_heads(tree), deprels=["_"] * len(tree)) for tree in trees]
    parsed = parser.parse(known, keep_heads=True, retag=True)
    return Counter(
        pair
        for tree, own in zip(trees, parsed, strict=True)
        for pair in zip(tree.deprels, own.sentence.deprels, strict=True)
        if pair[0] != "_"
    )
