"""Refining: train a bridged parser further on trees projected over the links of a bitext.

The map and its translation are trained too: a rotation of anchors does not capture everything a
parser needs to know about a word. The encoder can be, as well: a small one knows little syntax, and
projected trees teach it. No target trees are needed, but the user's own can be added. The best
epoch is the one that agrees best with held-out source trees or, where there are no links to carry
those, the one with the lowest loss on held-out projections.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from treebridge.encode.learning import peaks
from treebridge.parse.agreement import Agreement, Trial
from treebridge.parse.batches import Examples
from treebridge.parse.biaffine import to_device
from treebridge.parse.checkpoint import Checkpoint, copy_weights, resume
from treebridge.parse.learner import Learner
from treebridge.parse.metrics import Metrics
from treebridge.parse.padding import Indices, cut_batches
from treebridge.parse.parser import Parser
from treebridge.parse.project.projected import Projected, soft_loss
from treebridge.parse.settings import ParserSettings, RefineSettings
from treebridge.progress import QUIET, Progress

Step = tuple["Examples | None", Indices]  # examples (None: projections) and a batch of indices
STAGE = "refining"
HELD_OUT = 20  # one projected sentence in 20 is held out for early stopping


@dataclass
class Refining:
    """One refining run on a copy of the parser."""

    parser: Parser  # across a bridge
    projected: Projected
    source: Examples | None  # source trees, to prevent forgetting
    trees: Examples | None  # the user's target trees
    settings: RefineSettings
    progress: Progress = QUIET
    work: Path | None = None  # for checkpoints
    trial: Trial | None = None  # held-out source trees to agree with
    tune: bool = False  # whether the encoder learns, too

    def run(self) -> tuple[Parser, list[Metrics]]:
        """Train to the last epoch or until the parser stops improving.

        Returns the best parser and the history; if refining made it clearly worse, the parser as it
        was. An interrupted run resumes.
        """
        self.train(self.settings.epochs)
        learner, _, state = self._running
        learner.load_state_dict(state.best)
        refined = learner.frozen(self.parser)
        if self.trial is not None:
            _, _, high = self.agreement().gain_over(self.trial.judge(self.parser))
            if high < 0:
                self.progress.say("refining made the parser worse, so it stays as it was")
                return self.parser, state.history
        return refined, state.history

    def train(self, until: int) -> None:
        """Train until this epoch has ended, or until the parser stops improving."""
        learner, optimizer, state = self._running
        held, learn = self._split()
        with torch.random.fork_rng(devices=[]):
            while len(state.history) <= until and not self._finished(state.history, held):
                epoch = len(state.history) - 1
                if epoch and self.settings.refill and self.projected.filling:
                    vectors = learner.vectors(self.projected)
                    self.projected = self.projected.filled(
                        learner.model, vectors, self.parser.device
                    )
                loss = self._epoch(learner, optimizer, learn, epoch)
                entry: Metrics = {"epoch": epoch + 1, "loss": loss, **self._judge(learner, held)}
                rivals = self._rivals(state.history, held)
                if not rivals or self._merit(entry) > max(map(self._merit, rivals)):
                    state.best = copy_weights(learner)
                state.history.append(entry)
                state.weights, state.optimizer = learner.state_dict(), optimizer.state_dict()
                if self.work:
                    state.write(self.work)
                self.progress.measured(STAGE, state.history[-1])

    def agreement(self) -> Agreement:
        """How far the parser as it is now agrees with held-out source trees."""
        assert self.trial is not None
        learner = self._running[0]
        return learner.trial(self.trial).judge(learner.merged_into(self.parser))

    @cached_property
    def _running(self) -> tuple[Learner, torch.optim.Optimizer, Checkpoint]:
        """What learns, and how far it is: at the beginning, or as the last checkpoint says."""
        learner = Learner(self.parser, self.settings, tune=self.tune)
        optimizer = torch.optim.Adam(learner.groups(self.learning_rate), betas=(0.9, 0.95))
        self._peaks = peaks(optimizer)
        key = self.key() if self.work else ""
        state = resume(self.work, key, learner, optimizer, judged_by=self.judged_by)
        if state:
            self.progress.say(f"resuming after epoch {len(state.history) - 1}")
        else:
            weights = copy_weights(learner)
            before: Metrics = {"epoch": 0, **self._judge(learner, self._split()[0])}
            state = Checkpoint(key, weights, optimizer.state_dict(), weights, [before])
        return learner, optimizer, state

    def key(self) -> str:
        """A hash of settings, data and initial weights."""
        examples = [part.digest() if part else None for part in (self.source, self.trees)]
        trial = self.trial and self.trial.digest()
        encoder = self.parser.load_encoder().fingerprint if self.tune else None
        content = [asdict(self.settings), self.parser.settings.config(), trial, encoder, *examples]
        digest = hashlib.sha256(json.dumps([*content, self.projected.digest()]).encode())
        assert self.parser.bridge is not None
        for array in (self.parser.bridge.w, self.parser.bridge.translation):
            digest.update(array.tobytes())
        for weight in copy_weights(self.parser.biaffine).values():
            digest.update(weight.numpy().tobytes())
        return digest.hexdigest()

    @property
    def is_safe(self) -> bool:
        """Whether trees can be learned fast: source trees are there, so nothing is forgotten."""
        return self.source is not None and not len(self.projected)

    @property
    def learning_rate(self) -> float:
        """The peak."""
        return self.settings.trees_rate if self.is_safe else self.settings.learning_rate

    @property
    def judged_by(self) -> str:
        """The metric that chooses the best epoch."""
        return "agreement" if self.trial is not None else "held_out"

    def _merit(self, entry: Metrics) -> float:
        return entry["agreement"] if self.trial is not None else -entry["held_out"]

    def _rivals(self, history: list[Metrics], held: Indices) -> list[Metrics]:
        """The epochs that the next one must surpass; none if nothing can judge them.

        Agreement is measured on few arcs, so chance must not keep the parser as it was: `run`
        returns that only if refining made it clearly worse.
        """
        if self.trial is not None:
            return history[1:]
        return history if len(held) else []

    def _judge(self, learner: Learner, held: Indices) -> Metrics:
        """The loss on held-out projections and, if there is a trial, the agreement (LAS)."""
        measured = {"held_out": self._held_out(learner, held)}
        if self.trial is not None:
            trial = learner.trial(self.trial)
            measured["agreement"] = trial.judge(learner.merged_into(self.parser)).las
        return measured

    def _finished(self, history: list[Metrics], held: Indices) -> bool:
        if len(history) > self.settings.epochs:
            return True
        merits = [self._merit(entry) for entry in self._rivals(history, held)]
        return (
            bool(merits) and len(merits) - 1 - merits.index(max(merits)) >= self.settings.patience
        )

    def _split(self) -> tuple[Indices, Indices]:
        index = np.argsort(self.projected.lengths, kind="stable")
        held = np.arange(len(index)) % HELD_OUT == HELD_OUT - 1
        return index[held], index[~held]

    def _epoch(
        self, learner: Learner, optimizer: torch.optim.Optimizer, learn: Indices, epoch: int
    ) -> float:
        learner.train()
        torch.manual_seed((self.settings.seed << 40) + epoch)
        rng = np.random.default_rng([self.settings.seed, epoch])
        steps = self._plan(self.parser.settings, learn, rng, epoch)
        loss, words, start = 0.0, 0, time.perf_counter()
        for done, step in enumerate(steps):
            share = (epoch + done / len(steps)) / self.settings.epochs
            warm = min(1.0, (done + 1) / 100) if epoch == 0 else 1.0
            for group, peak in zip(optimizer.param_groups, self._peaks, strict=True):
                group["lr"] = peak * warm * (1 + math.cos(math.pi * share)) / 2
            optimizer.zero_grad()
            value, count = self._loss(learner, step)
            value.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(learner.parameters(), self.parser.settings.max_norm)
            optimizer.step()
            loss, words = loss + float(value.detach()), words + count
            seconds = time.perf_counter() - start
            left = seconds / (done + 1) * (len(steps) * (self.settings.epochs - epoch) - done - 1)
            mean, speed = float(value.detach()) / count, words / seconds
            self.progress.advance(STAGE, share, loss=mean, words_per_second=speed, left=left)
        return loss / max(1, words)

    def _plan(
        self, settings: ParserSettings, learn: Indices, rng: np.random.Generator, epoch: int
    ) -> list[Step]:
        """Shuffled steps of an epoch: projections, source trees and the user's trees."""
        lengths = self.projected.lengths
        order = learn[np.argsort(lengths[learn] * rng.uniform(0.9, 1.1, len(learn)))]
        steps: list[Step] = [(None, here) for here in cut_batches(lengths, order, *settings.limits)]
        words = int(lengths[learn].sum())
        if self.trees is not None:
            most_times = self.settings.trees_enough // max(self.trees.arcs, 1)
            times = max(1, min(self.settings.trees_times, most_times))
            words += times * self.trees.arcs
            most = self.settings.trees_words if self.is_safe else settings.batch_words
            limited = replace(settings, batch_words=most)
            for again in range(times):
                batches = self.trees.epoch(limited, 1000 * epoch + again)
                steps += [(self.trees, here) for here in batches]
        if self.source is not None and self.settings.source_share:
            batches = self.source.epoch(settings, epoch)
            ends = np.cumsum([self.source.lengths[here].sum() for here in batches])
            enough = np.searchsorted(ends, self.settings.source_share * words) + 1
            steps += [(self.source, here) for here in batches[:enough]]
        return [steps[i] for i in rng.permutation(len(steps))]

    def _loss(self, learner: Learner, step: Step) -> tuple[Tensor, int]:
        examples, indices = step
        if examples is None:
            batch, soft = self.projected.batch(indices)
            there = to_device(batch, self.parser.device)
            words = [self.projected.words[i] for i in indices]
            loss = soft_loss(learner.model, learner.read(there, words), soft)
        else:
            (batch,) = examples.batches([indices])
            there = to_device(batch, self.parser.device)
            if examples is not self.source:
                there = learner.read(there, [examples.words[i] for i in indices])
            loss = learner.model.loss(there)
        return loss, int(batch.lengths.sum())

    def _held_out(self, learner: Learner, held: Indices) -> float:
        """Mean loss per word on held-out projections."""
        learner.eval()
        loss, words = 0.0, 0
        with torch.inference_mode():
            limits = self.parser.settings.limits
            for indices in cut_batches(self.projected.lengths, held, *limits):
                value, count = self._loss(learner, (None, indices))
                loss, words = loss + float(value), words + count
        return loss / max(1, words)
