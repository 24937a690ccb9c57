"""The parser's network: BiLSTM and biaffine attention after Dozat & Manning (2017).

It sees vectors of a space, never words; what a tag is, it learns from the same vectors.
Index 0 of a head is the root, which is a learned vector behind the BiLSTM.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from treebridge.parse.bilstm import BiLSTM
from treebridge.parse.network import Floats, Numbers, Scored
from treebridge.parse.settings import ParserSettings
from treebridge.precision import half_precision
from treebridge.torch_threads import threads_for


class Batch(NamedTuple):
    """Sentences side by side, longest first; what pads is 0 for vectors and −1 for the rest."""

    vectors: Tensor  # [batch, n, dim], in the parser's space
    lengths: Tensor  # [batch], on the CPU
    tags: Tensor  # [batch, n], −1 where it is not known
    heads: Tensor  # [batch, n], 0 is the root
    labels: Tensor  # [batch, n], −1 where it is not known
    added: Tensor | None = None  # [batch, n, tags], to be added to the scores of tags


class States(NamedTuple):
    """What the network makes of a batch, before any arc is chosen."""

    arcs: Tensor  # [batch, n, n+1], a score for each dependent and head; −inf past the end
    dependents: Tensor  # [batch, n, label]
    heads: Tensor  # [batch, n+1, label]
    tags: Tensor | None  # [batch, n, tags], scores, where the parser predicts them


class Biaffine(nn.Module):
    """Vectors in; scores of tags, arcs and labels out."""

    def __init__(
        self,
        settings: ParserSettings,
        dim: int,
        labels: int,
        tags: int,
        *,
        initialize: bool = True,  # False where weights are loaded: orthogonal ones take long
    ):
        super().__init__()
        self.settings = settings
        wide = 2 * settings.hidden
        # A unit vector has small components: bring them to the size that the layers expect.
        self.scale = dim**0.5
        if settings.tags == "predicted":
            self.tagger = nn.Sequential(
                nn.Linear((1 + 2 * settings.neighbours) * dim, settings.tagger),
                nn.GELU(),
                nn.Dropout(settings.dropout),
                nn.Linear(settings.tagger, tags),
            )
        if settings.tags != "none":
            self.tag_vectors = nn.Parameter(torch.randn(tags, settings.tag))
            dim += settings.tag
        sizes = [dim, *[wide] * (settings.layers - 1)]
        self.lstm = nn.ModuleList(BiLSTM(size, settings.hidden) for size in sizes)
        self.root = nn.Parameter(torch.zeros(wide))
        self.arc_dependent = nn.Linear(wide, settings.arc)
        self.arc_head = nn.Linear(wide, settings.arc)
        self.label_dependent = nn.Linear(wide, settings.label)
        self.label_head = nn.Linear(wide, settings.label)
        self.arc_weight = nn.Parameter(torch.zeros(settings.arc + 1, settings.arc))
        self.label_weight = nn.Parameter(
            torch.zeros(settings.label + 1, labels, settings.label + 1)
        )
        if initialize:
            self._initialize()

    def _initialize(self) -> None:
        for lstm in self.lstm:
            for name, weight in lstm.named_parameters():
                if "weight" in name:
                    for gate in weight.chunk(4):
                        nn.init.orthogonal_(gate)
                else:
                    nn.init.zeros_(weight)

    def forward(self, batch: Batch, known: Tensor | None = None) -> States:
        """Scores of a batch; labels are left to `label_scores`, for chosen arcs only.

        `known` tags [batch, n] replace predicted ones where they are not −1.
        """
        with self._precision():
            return self._states(batch, known)

    def _states(self, batch: Batch, known_tags: Tensor | None) -> States:
        x = batch.vectors * self.scale  # [batch, n, dim]
        tags = None
        if self.settings.tags == "predicted":
            tags = self.tagger(_with_neighbours(x, self.settings.neighbours)).float()
            tags = tags if batch.added is None else tags + batch.added
            x = torch.cat([x, self.tag_input(tags, known_tags)], -1)
        elif self.settings.tags == "gold":
            known = (batch.tags >= 0).unsqueeze(-1)
            x = torch.cat([x, self.tag_vectors[batch.tags.clamp(min=0)] * known], -1)
        for lstm in self.lstm:
            x = lstm(self._drop(x), batch.lengths)  # [batch, n, 2·hidden]
        root = self.root.to(x.dtype).expand(len(x), 1, -1)
        with_root = self._drop(torch.cat([root, x], 1))  # [batch, n+1, 2·hidden]
        x = with_root[:, 1:]
        dependents = self._layer(self.arc_dependent, x)  # [batch, n, arc]
        heads = self._layer(self.arc_head, with_root)  # [batch, n+1, arc]
        arcs = _with_one(dependents) @ self.arc_weight @ heads.transpose(1, 2)  # [batch, n, n+1]
        impossible = _impossible(batch.lengths, x.shape[1]).to(arcs.device)
        return States(
            arcs.float().masked_fill(impossible, -torch.inf),
            self._layer(self.label_dependent, x),
            self._layer(self.label_head, with_root),
            tags,
        )

    at_once, batch_words = 1, 1500  # torch uses all processors for one batch

    @torch.inference_mode()
    def score(
        self, vectors: Floats, lengths: Numbers, tags: Numbers, added: Floats | None = None
    ) -> Scored:
        """Score a padded batch of arrays, longest sentence first."""
        self.eval()
        nothing = torch.full(tags.shape, -1)
        known = torch.from_numpy(tags)
        batch = Batch(torch.from_numpy(vectors), torch.from_numpy(lengths), known, nothing, nothing)
        if added is not None:
            batch = batch._replace(added=torch.from_numpy(added))
        with threads_for(tags.size):
            there = to_device(batch, self.device)
            states = self(there, there.tags)

        @torch.inference_mode()
        def labels(heads: Numbers) -> Floats:
            chosen = torch.from_numpy(heads).to(states.heads.device)
            return self.label_scores(states, chosen).cpu().numpy()

        found = None if states.tags is None else states.tags.cpu().numpy()
        return Scored(states.arcs.cpu().numpy(), found, labels)

    @property
    def device(self) -> str:
        """Where it computes."""
        return str(self.root.device)

    def tag_input(self, tags: Tensor, known: Tensor | None = None) -> Tensor:
        """What the BiLSTM is told of the tags: [batch, n, tags] → [batch, n, tag]."""
        # Tags are learned from tags alone: what arcs want of them would not be tags.
        told = tags.detach().softmax(-1) @ self.tag_vectors
        if known is None:
            return told
        return torch.where((known >= 0)[..., None], self.tag_vectors[known.clamp(min=0)], told)

    def label_scores(self, states: States, heads: Tensor) -> Tensor:
        """Scores of all labels for one head of each word: [batch, n] → [batch, n, labels]."""
        chosen = heads.clamp(min=0).unsqueeze(-1)  # [batch, n, 1]
        chosen = states.heads.gather(1, chosen.expand(-1, -1, states.heads.shape[-1]))
        ends = _with_one(states.dependents), self.label_weight, _with_one(chosen)
        with self._precision():
            return torch.einsum("bna,alc,bnc->bnl", *ends).float()

    def loss(self, batch: Batch) -> Tensor:
        """Cross-entropy of arcs, of labels on gold heads and of tags, summed over words."""
        states = self(batch)
        labels = self.label_scores(states, batch.heads)
        total = _summed(states.arcs, batch.heads) + _summed(labels, batch.labels)
        return total if states.tags is None else total + _summed(states.tags, batch.tags)

    @property
    def learns_in_half(self) -> bool:
        """Whether it computes with 16 bits in training; it always parses with 32."""
        return half_precision(self.root.device.type, self.settings.hidden) == torch.bfloat16

    def _precision(self) -> torch.autocast:
        half = self.training and self.learns_in_half
        return torch.autocast(self.root.device.type, torch.bfloat16, enabled=half)

    def _layer(self, layer: nn.Linear, x: Tensor) -> Tensor:
        return self._drop(nn.functional.leaky_relu(layer(x), 0.1))

    def _drop(self, x: Tensor) -> Tensor:
        """Variational dropout: one mask for all words of a sentence."""
        keep = 1 - self.settings.dropout
        if not self.training or keep == 1:
            return x
        return x * (x.new_empty(len(x), 1, x.shape[-1]).bernoulli_(keep) / keep)


def to_device(batch: Batch, device: str) -> Batch:
    """The batch on a device; lengths stay on the CPU, where packing wants them."""
    if device == "cpu":
        return batch
    moved = {
        name: part.to(device)
        for name, part in batch._asdict().items()
        if name != "lengths" and part is not None
    }
    return batch._replace(**moved)


def _with_neighbours(x: Tensor, number: int) -> Tensor:
    """Each word in a row with those around it: [batch, n, dim] → [batch, n, (1 + 2·number)·dim]."""
    n = x.shape[1]
    padded = nn.functional.pad(x, (0, 0, number, number))
    return torch.cat([padded[:, k : k + n] for k in range(1 + 2 * number)], -1)


def _with_one(x: Tensor) -> Tensor:
    return torch.cat([x, x.new_ones(*x.shape[:-1], 1)], -1)


def _impossible(lengths: Tensor, longest: int) -> Tensor:
    """Arcs to what pads and from a word to itself: [batch, n, n+1]."""
    heads = torch.arange(longest + 1)
    past = heads[None, None, :] > lengths[:, None, None]
    itself = heads[None, :] == heads[1:, None]
    return past | itself


def _summed(scores: Tensor, gold: Tensor) -> Tensor:
    return cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=-1, reduction="sum")
