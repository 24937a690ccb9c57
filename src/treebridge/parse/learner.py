"""What learns when a parser is refined: its network, its bridge and, if wanted, its encoder."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import nn

from treebridge.bridge.learning import LearningBridge
from treebridge.encode.encoder import Words
from treebridge.encode.learning import LearningEncoder, padded
from treebridge.parse.agreement import Trial
from treebridge.parse.biaffine import Batch
from treebridge.parse.parser import Parser
from treebridge.parse.settings import RefineSettings


class Learner(nn.Module):
    """A copy of a bridged parser.

    Bridge and encoder apply to target sentences only, so they can bring them closer to source ones.
    """

    def __init__(self, parser: Parser, settings: RefineSettings, *, tune: bool = False):
        super().__init__()
        assert parser.bridge is not None
        self.settings = settings
        self.model = copy.deepcopy(parser.biaffine)
        self.bridge = LearningBridge(parser.bridge).requires_grad_(settings.change_map)
        self.encoder: LearningEncoder | None = None
        if tune:
            self.encoder = LearningEncoder(parser.load_encoder(), settings.encoder)
        self.to(parser.device)

    def groups(self) -> list[dict[str, Any]]:
        """Weights with their peak learning rates."""
        settings = self.settings
        own = [*self.model.parameters(), *self.bridge.parameters()]
        groups: list[dict[str, Any]] = [{"params": own, "lr": settings.learning_rate}]
        if self.encoder is not None:
            groups += self.encoder.groups()
        return groups

    def read(self, batch: Batch, sentences: Sequence[Words]) -> Batch:
        """A batch of target sentences, as bridge and encoder see them now."""
        if self.encoder is None:
            return batch._replace(vectors=self.bridge.update(batch.vectors))
        rows, places = self.encoder(sentences)
        return batch._replace(vectors=padded(self.bridge(rows), places))

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
