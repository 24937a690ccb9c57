"""A packed parser's network: ONNX graphs with quantized weights, run without torch."""

from __future__ import annotations

import gzip
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treebridge.errors import require_train
from treebridge.onnx_session import open_session, processors
from treebridge.parse.network import Floats, Numbers, Scored, possible_arcs
from treebridge.parse.settings import ParserSettings

if TYPE_CHECKING:
    from treebridge.parse.biaffine import Biaffine

KNOWN = "known_tags"  # an input of graphs that predict tags; those packed earlier have none
ARCS, LABELS = "parser.onnx.gz", "labels.onnx.gz"
ADDED = "added"  # another: what is added to the scores of tags
LABELLED_AT_ONCE = 256  # words: their products with all labels take 5 MB


class OnnxNetwork:
    """Scores like `Biaffine`, a sentence the same alone or in a batch."""

    batch_words = 800  # larger batches take more memory and are no faster

    def __init__(self, folder: Path, settings: ParserSettings):
        self.folder, self.settings = folder, settings
        self.at_once = processors()
        self._arcs, self._labels = (open_session(folder / name) for name in (ARCS, LABELS))
        self._outputs = [output.name for output in self._arcs.get_outputs()]
        optional = self._arcs.get_overridable_initializers()
        inputs = {each.name for each in (*self._arcs.get_inputs(), *optional)}
        self._tags, self._adds = inputs & {"tags", KNOWN}, ADDED in inputs

    def score(
        self, vectors: Floats, lengths: Numbers, tags: Numbers, added: Floats | None = None
    ) -> Scored:
        """Score a padded batch [batch, n, dim].

        Models packed earlier take no known tags, and `added` only after their arcs.
        """
        given: dict[str, Any] = {"vectors": vectors, "lengths": lengths}
        given |= dict.fromkeys(self._tags, tags)
        if self._adds and added is not None:
            given[ADDED] = added
        found = dict(zip(self._outputs, self._arcs.run(None, given), strict=True))
        arcs = np.where(possible_arcs(lengths, vectors.shape[1]), found["arcs"], -np.inf)
        labels = partial(self._label_scores, found["dependents"], found["heads"])
        scores = found.get("tags")
        if not self._adds and scores is not None and added is not None:
            scores = scores + added
        return Scored(arcs.astype(np.float32), scores, labels)

    def _label_scores(self, dependents: Floats, states: Floats, heads: Numbers) -> Floats:
        size = dependents.shape[-1]
        chosen = np.take_along_axis(states, np.maximum(heads, 0)[..., None], axis=1)
        ends = dependents.reshape(-1, size), chosen.reshape(-1, size)
        parts = [
            self._labels.run(None, {"dependents": ends[0][here], "heads": ends[1][here]})[0]
            for start in range(0, len(ends[0]), LABELLED_AT_ONCE)
            for here in [slice(start, start + LABELLED_AT_ONCE)]
        ]
        return np.concatenate(parts).reshape(*heads.shape, -1)

    @cached_property
    def unpacked(self) -> Biaffine:
        """The same network in torch, to learn on; quantized weights are taken as they are."""
        require_train("training a packed parser further")
        from treebridge.parse.onnx_export import import_network

        graphs = [gzip.decompress((self.folder / name).read_bytes()) for name in (ARCS, LABELS)]
        return import_network(self.settings, *graphs)
