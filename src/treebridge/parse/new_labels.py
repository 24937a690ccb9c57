"""Labels that the source treebank does not have, for users whose own trees have them."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace

import torch
from torch import nn

from treebridge.parse.parser import Parser
from treebridge.parse.vocab import Names

# At first a new label has a twentieth of the probability of the one that it was made from, so that
# what the parser believed before is hardly changed.
RARER = 3.0


def new_labels(parser: Parser, labels: Iterable[str]) -> list[str]:
    """Those that the parser cannot give."""
    return [label for label in Names.collect(labels) if label not in parser.labels]


def with_labels(parser: Parser, labels: Iterable[str]) -> Parser:
    """The same parser with further labels, `acl:part` like `acl`, others like the mean of all."""
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
