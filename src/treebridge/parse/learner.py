"""What learns when a parser is refined: its network, its bridge and, if wanted, its encoder."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from treebridge.bridge.learning import LearningBridge
from treebridge.encode.encoder import Words
from treebridge.encode.learning import LearningEncoder, padded
from treebridge.parse.agreement import Trial
from treebridge.parse.biaffine import Batch
from treebridge.parse.padding import Rows
from treebridge.parse.parser import Parser
from treebridge.parse.project.projected import Projected
from treebridge.parse.settings import RefineSettings


class Learner(nn.Module):
    """A copy of a bridged parser.

    Bridge and encoder apply to target sentences only, so they can bring them closer to source ones.
    """

    def __init__(self, parser: Parser, settings: RefineSettings, *, tune: bool = False):
        super().__init__()
        assert parser.bridge is not None
        self.bridge = LearningBridge(parser.bridge).requires_grad_(settings.change_map)
        self.model = copy.deepcopy(parser.biaffine)
        self.encoder: LearningEncoder | None = None
        if tune:
            self.encoder = LearningEncoder(parser.load_encoder(), settings.tuning)
        self.to(parser.device)

    def groups(self, rate: float) -> list[dict[str, Any]]:
        """Weights with their peak learning rates; `rate` is that of parser and map."""
        own = [*self.bridge.parameters(), *self.model.parameters()]
        groups: list[dict[str, Any]] = [{"params": own, "lr": rate}]
        if self.encoder is not None:
            groups += self.encoder.groups()
        return groups

    def read(self, batch: Batch, sentences: Sequence[Words]) -> Batch:
        """A batch of target sentences, as bridge and encoder see them now."""
        if self.encoder is None:
            return batch._replace(vectors=self.bridge.update(batch.vectors))
        rows, places = self.encoder(sentences)
        return batch._replace(vectors=padded(self.bridge(rows), places))

    def vectors(self, projected: Projected) -> list[Rows]:
        """Vectors of the sentences in the parser's space, as bridge and encoder see them now."""
        self.eval()
        with torch.inference_mode():
            if self.encoder is None:
                return [
                    self.bridge.update(torch.from_numpy(rows).float()).numpy()
                    for rows in projected.vectors
                ]
            encoded = self.encoder.reader.encode(projected.words)
            return [self.bridge(torch.from_numpy(item.vectors)).numpy() for item in encoded]

    def merged_into(self, parser: Parser) -> Parser:
        """The parser with what was learned, but its encoder as it was."""
        assert parser.bridge is not None
        bridge = self.bridge.merged(parser.bridge)
        return replace(parser, model=self.model.eval(), bridge=bridge, folder=None, card={})

    def frozen(self, parser: Parser) -> Parser:
        """The parser with all that was learned."""
        merged = self.merged_into(parser)
        if self.encoder is None or merged.bridge is None:
            return merged
        encoder = self.encoder.frozen()
        bridge = replace(merged.bridge, target=merged.bridge.target.tuned(encoder))
        return replace(merged, bridge=bridge, encoder=encoder, encoder_at=None)

    def trial(self, trial: Trial) -> Trial:
        """The trial, with vectors of the encoder as it is now."""
        if self.encoder is None:
            return trial
        self.encoder.eval()
        return trial.read_by(self.encoder.reader)
