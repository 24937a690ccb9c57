"""Refining: a bridged parser goes on learning, from trees carried over the links of a bitext.

No target tree is read, unless the user has a few. Early stopping is on held-out projections.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from treebridge.parse.batches import Examples, Indices, Rows, cut_batches, make_batch
from treebridge.parse.biaffine import Batch, Biaffine
from treebridge.parse.checkpoint import Checkpoint, Metrics, copy_weights, read_checkpoint
from treebridge.parse.predict import to_device
from treebridge.parse.projection import Soft
from treebridge.parse.settings import ParserSettings
from treebridge.parse.train import Watcher

Step = tuple["Examples | None", Indices]  # a batch of trees, or of projections where None
HELD_OUT = 20  # one projected sentence in so many says when to stop


@dataclass(frozen=True)
class RefineSettings:
    """How long and how fast a parser learns from projected trees."""

    epochs: int = 3
    learning_rate: float = 5e-4
    source_share: float = 0.5  # of the words of an epoch that come from source trees
    trees_times: int = 5  # how often an epoch sees each of the user's own trees
    patience: int = 2  # epochs without a lower held-out loss
    seed: int = 1


@dataclass
class Projected:
    """Target sentences: vectors in the parser's space, and what is believed of each."""

    vectors: list[Rows]
    soft: list[Soft]

    def __len__(self) -> int:
        return len(self.soft)

    @property
    def lengths(self) -> Indices:
        """Words of each sentence."""
        return np.array([len(rows) for rows in self.vectors], np.int64)

    def digest(self) -> str:
        """A hash of all of it."""
        digest = hashlib.sha256()
        for rows, soft in zip(self.vectors, self.soft, strict=True):
            for part in (rows, *soft):
                digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()

    def batch(self, indices: Indices) -> tuple[Batch, Soft]:
        """Sentences side by side, and their beliefs padded with zeros."""
        soft = [self.soft[i] for i in indices]
        given = [part.best_tags() for part in soft] if soft[0].tags.shape[1] else None
        batch = make_batch([self.vectors[i] for i in indices], given)
        longest = int(batch.lengths.max())
        padded = [
            np.zeros((len(soft), longest, longest + 1 if k == 0 else soft[0][k].shape[1]), "f4")
            for k in range(3)
        ]
        for row, sentence in enumerate(soft):
            for k in range(3):
                part = sentence[k]
                padded[k][row, : part.shape[0], : part.shape[1]] = part
        return batch, Soft(*padded)


def soft_loss(model: Biaffine, batch: Batch, soft: Soft) -> Tensor:
    """Cross-entropy against distributions, summed over words; empty rows count nothing."""
    states = model(batch)
    arcs, labels, tags = (torch.from_numpy(part).to(states.arcs.device) for part in soft)
    logs = states.arcs.log_softmax(-1).masked_fill(arcs == 0, 0)  # −inf · 0 would be no number
    total: Tensor = -(arcs * logs).sum()
    scores = model.label_scores(states, arcs.argmax(-1))
    total = total - (labels * scores.log_softmax(-1)).sum()
    if states.tags is not None:
        total = total - (tags * states.tags.log_softmax(-1)).sum()
    return total


@dataclass
class Refining:
    """One run: a copy of the model learns; `run` gives its best weights and the history."""

    model: Biaffine
    projected: Projected
    source: Examples | None  # source trees, so that it does not forget
    trees: Examples | None  # target trees of the user
    settings: RefineSettings
    watcher: Watcher = field(default_factory=Watcher)
    device: str = "cpu"
    work: Path | None = None  # for checkpoints

    def run(self) -> tuple[Biaffine, list[Metrics]]:
        """Train until the epochs are over or held-out projections are learned no better.

        An interrupted run of the same goes on where it stopped.
        """
        model = copy.deepcopy(self.model).to(self.device)
        held, learn = self._split()
        optimizer = torch.optim.Adam(model.parameters(), self.settings.learning_rate, (0.9, 0.95))
        key = self.key() if self.work else ""
        state = read_checkpoint(self.work, key) if self.work else None
        if state:
            model.load_state_dict(state.weights)
            optimizer.load_state_dict(state.optimizer)
            self.watcher.say(f"going on after epoch {len(state.history) - 1}")
        else:
            weights = copy_weights(model)
            before: Metrics = {"epoch": 0, "held_out": self._held_out(model, held)}
            state = Checkpoint(key, weights, optimizer.state_dict(), weights, [before])
        with torch.random.fork_rng(devices=[]):
            while not self._finished(state.history, held):
                epoch = len(state.history) - 1
                loss = self._epoch(model, optimizer, learn, epoch)
                held_out = self._held_out(model, held)
                if not len(held) or held_out < min(e["held_out"] for e in state.history):
                    state.best = copy_weights(model)
                state.history.append({"epoch": epoch + 1, "loss": loss, "held_out": held_out})
                state.weights, state.optimizer = model.state_dict(), optimizer.state_dict()
                if self.work:
                    state.write(self.work)
                self.watcher.say(
                    f"epoch {epoch + 1}: loss {loss:.3f}, on held-out projections {held_out:.3f}"
                )
        model.load_state_dict(state.best)
        return model.eval(), state.history

    def key(self) -> str:
        """A hash of settings, data and the weights that it begins with."""
        examples = [part.digest() if part else None for part in (self.source, self.trees)]
        content = [asdict(self.settings), self.model.settings.config(), *examples]
        digest = hashlib.sha256(json.dumps([*content, self.projected.digest()]).encode())
        for weight in copy_weights(self.model).values():
            digest.update(weight.numpy().tobytes())
        return digest.hexdigest()

    def _finished(self, history: list[Metrics], held: Indices) -> bool:
        if len(history) > self.settings.epochs:
            return True
        losses = [entry["held_out"] for entry in history]
        waited = len(losses) - 1 - losses.index(min(losses))
        return bool(len(held)) and waited >= self.settings.patience

    def _split(self) -> tuple[Indices, Indices]:
        index = np.argsort(self.projected.lengths, kind="stable")
        held = np.arange(len(index)) % HELD_OUT == HELD_OUT - 1
        return index[held], index[~held]

    def _epoch(
        self, model: Biaffine, optimizer: torch.optim.Optimizer, learn: Indices, epoch: int
    ) -> float:
        model.train()
        torch.manual_seed((self.settings.seed << 40) + epoch)
        rng = np.random.default_rng([self.settings.seed, epoch])
        steps = self._plan(model.settings, learn, rng, epoch)
        loss, words, start = 0.0, 0, time.perf_counter()
        for done, step in enumerate(steps):
            share = (epoch + done / len(steps)) / self.settings.epochs
            warm = min(1.0, (done + 1) / 100) if epoch == 0 else 1.0
            rate = self.settings.learning_rate * warm * (1 + math.cos(math.pi * share)) / 2
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad()
            value, count = self._loss(model, step)
            value.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), model.settings.max_norm)
            optimizer.step()
            loss, words = loss + float(value.detach()), words + count
            seconds = time.perf_counter() - start
            left = seconds / (done + 1) * (len(steps) * (self.settings.epochs - epoch) - done - 1)
            self.watcher.step(share, float(value.detach()) / count, words / seconds, left)
        return loss / max(1, words)

    def _plan(
        self, settings: ParserSettings, learn: Indices, rng: np.random.Generator, epoch: int
    ) -> list[Step]:
        """The steps of an epoch, shuffled: projections, source trees and the user's trees."""
        lengths = self.projected.lengths
        order = learn[np.argsort(lengths[learn] * rng.uniform(0.9, 1.1, len(learn)))]
        steps: list[Step] = [(None, here) for here in cut_batches(lengths, order, settings)]
        if self.source is not None and self.settings.source_share:
            words = self.source.lengths
            batches = self.source.epoch(settings, epoch)
            wanted = self.settings.source_share * float(lengths[learn].sum() or words.sum())
            ends = np.cumsum([words[here].sum() for here in batches])
            steps += [(self.source, here) for here in batches[: np.searchsorted(ends, wanted) + 1]]
        if self.trees is not None:
            for again in range(self.settings.trees_times):
                batches = self.trees.epoch(settings, 1000 * epoch + again)
                steps += [(self.trees, here) for here in batches]
        return [steps[i] for i in rng.permutation(len(steps))]

    def _loss(self, model: Biaffine, step: Step) -> tuple[Tensor, int]:
        examples, indices = step
        if examples is None:
            batch, soft = self.projected.batch(indices)
            loss = soft_loss(model, to_device(batch, self.device), soft)
        else:
            (batch,) = examples.batches([indices])
            loss = model.loss(to_device(batch, self.device))
        return loss, int(batch.lengths.sum())

    def _held_out(self, model: Biaffine, held: Indices) -> float:
        """The mean loss a word on projections that are not learned from."""
        model.eval()
        loss, words = 0.0, 0
        with torch.inference_mode():
            for indices in cut_batches(self.projected.lengths, held, model.settings):
                value, count = self._loss(model, (None, indices))
                loss, words = loss + float(value), words + count
        return loss / max(1, words)
