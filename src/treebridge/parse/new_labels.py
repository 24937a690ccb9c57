"""Add labels to a parser that occur in the user's trees but not in the source treebank."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace

import torch
from torch import nn

from treebridge.parse.parser import Parser
from treebridge.parse.vocab import Names

# Initially a new label has a twentieth (e⁻³) of the probability of the label it is copied from, so
# that the parser's predictions hardly change.
RARER = 3.0


def new_labels(parser: Parser, labels: Iterable[str]) -> list[str]:
    """The labels that the parser cannot predict."""
    return [label for label in Names.collect(labels) if label not in parser.labels]


def with_labels(parser: Parser, labels: Iterable[str]) -> Parser:
    """Add labels, initializing `acl:part` from `acl` and others from the mean of all labels."""
    further = new_labels(parser, labels)
    if not further:
        return parser
    weight = parser.biaffine.label_weight.detach()  # [label + 1, labels, label + 1]
    rows = []
    for label in further:
        kind = label.partition(":")[0]
        row = weight[:, parser.labels.index(kind)] if kind in parser.labels else weight.mean(1)
        row = row.clone()
        row[-1, -1] -= RARER
        rows.append(row)
    model = copy.deepcopy(parser.biaffine)
    model.label_weight = nn.Parameter(torch.cat([weight, torch.stack(rows, 1)], 1))
    return replace(parser, model=model, labels=Names([*parser.labels, *further]))
