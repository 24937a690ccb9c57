"""Train the classifiers, after the parser and apart from it: its trees and tags do not change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from treebridge.parse.columns.classifiers import Classifiers
from treebridge.parse.columns.heads import SIDES, Heads, Weights, with_neighbours
from treebridge.parse.padding import Indices, Rows
from treebridge.progress import QUIET, Progress

STAGE = "learning columns"
BATCH_WORDS = 1000  # at most
BATCHES = 16  # of an epoch, at least
WORDS, LEAST_EPOCHS, MOST_EPOCHS = 400_000, 4, 30  # words in all epochs together
DROPOUT = 0.33
UNTAGGED = 0.2  # share of words whose tag is hidden in training, because tags may be wrong


@dataclass
class Lesson:
    """Sentences to learn from: vectors in the parser's space, tags and soft targets."""

    vectors: Sequence[Rows]  # [n, dim]
    tags: Sequence[Indices]  # −1 where they are not known
    targets: Sequence[NDArray[np.floating]]  # [n, width]; rows of 0 say nothing
    forms: Sequence[Sequence[str]]

    def batches(self, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Batches of sentences in random order; few sentences make small batches."""
        enough = min(BATCH_WORDS, sum(map(len, self.vectors)) // BATCHES)
        batch, words = [], 0
        for index in rng.permutation(len(self.vectors)).tolist():
            batch.append(index)
            words += len(self.vectors[index])
            if words >= enough:
                yield np.array(batch)
                batch, words = [], 0
        if words:
            yield np.array(batch)


class Network(nn.Module):
    """The heads in torch."""

    def __init__(self, heads: Heads):
        super().__init__()
        given = heads.weights
        self.vectors, self.tags, self.bias, self.out, self.out_bias = (
            nn.Parameter(torch.from_numpy(np.array(part, np.float32)))
            for part in (given.vectors, given.tags, given.bias, given.out, given.out_bias)
        )
        self.spelling = heads.spelling
        if heads.spelling:
            self.votes = nn.Parameter(torch.from_numpy(np.array(heads.spelling.votes)))

    def forward(self, rows: Tensor, tags: Tensor, keys: Tensor, words: Tensor) -> Tensor:
        """Scores [words, width] of words with their neighbours [words, 3·dim].

        `keys` are those of the spelling, `words` which word each belongs to.
        """
        seen = (tags >= 0).unsqueeze(-1)
        if self.training:
            seen = seen & (torch.rand(len(tags), 1) >= UNTAGGED)
        hidden = rows @ self.vectors + self.bias + self.tags[tags.clamp(min=0)] * seen
        hidden = nn.functional.dropout(hidden.relu(), DROPOUT, self.training)
        scores = hidden @ self.out + self.out_bias
        if self.spelling:
            votes = self.votes[keys]
            if self.training:
                votes = votes * (torch.rand(len(keys), 1) >= DROPOUT) / (1 - DROPOUT)
            scores = scores.index_add(0, words, votes)
        return scores

    def heads(self, classifiers: Classifiers) -> Heads:
        """What was learned, for numpy."""
        parts = (self.vectors, self.tags, self.bias, self.out, self.out_bias)
        weights = Weights(*(part.detach().numpy().copy() for part in parts))
        spelling = self.spelling
        if spelling:
            spelling = replace(spelling, votes=self.votes.detach().numpy().copy())
        return Heads(classifiers, weights, spelling)


def new_heads(classifiers: Classifiers, dim: int, tags: int, hidden: int, seed: int) -> Heads:
    """Heads that have learned nothing yet."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> NDArray[np.float32]:
        return np.asarray(rng.normal(0, shape[0] ** -0.5, shape), np.float32)

    weights = Weights(
        normal(SIDES * dim, hidden),
        np.asarray(rng.normal(0, 0.5, (max(1, tags), hidden)), np.float32),
        np.zeros(hidden, np.float32),
        normal(hidden, classifiers.width),
        np.zeros(classifiers.width, np.float32),
    )
    return Heads(classifiers, weights)


def learn(
    heads: Heads,
    lesson: Lesson,
    *,
    rate: float,
    seed: int,
    progress: Progress = QUIET,
) -> Heads:
    """Train heads further, with a falling learning rate; few words are repeated more often."""
    words = sum(map(len, lesson.vectors))
    epochs = min(MOST_EPOCHS, max(LEAST_EPOCHS, WORDS // max(1, words)))
    network = Network(heads)
    optimizer = torch.optim.Adam(network.parameters(), rate, (0.9, 0.95))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for epoch in range(epochs):
            rng = np.random.default_rng([seed, epoch])
            steps = list(lesson.batches(rng))
            for done, batch in enumerate(steps):
                share = (epoch + done / len(steps)) / epochs
                for group in optimizer.param_groups:
                    group["lr"] = rate * (1 - share)
                loss = _loss(network, heads.classifiers, lesson, batch)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                if done % 20 == 0:
                    progress.advance(STAGE, share, loss=float(loss.detach()))
    progress.done(STAGE)
    return network.eval().heads(heads.classifiers)


def _loss(
    network: Network, classifiers: Classifiers, lesson: Lesson, batch: NDArray[np.int64]
) -> Tensor:
    """Cross-entropy of all classifiers, per word."""
    rows = torch.from_numpy(with_neighbours([lesson.vectors[i] for i in batch]))
    numbers = [lesson.tags[i] for i in batch]
    tags = torch.from_numpy(np.concatenate(numbers))
    keys = words = torch.zeros(0, dtype=torch.long)
    if network.spelling:
        found = network.spelling.numbers([lesson.forms[i] for i in batch], numbers)
        keys, words = (torch.from_numpy(part) for part in found)
    wanted = np.concatenate([lesson.targets[i] for i in batch]).astype(np.float32)
    targets = torch.from_numpy(wanted)
    scores = network(rows, tags, keys, words)
    total: Tensor = scores.new_zeros(())
    for place in classifiers.places.values():
        total = total - (targets[:, place] * scores[:, place].log_softmax(-1)).sum()
    return total / len(tags)
