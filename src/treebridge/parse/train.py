"""Train a parser on vectors on disk; keep the best epoch on dev; resume if interrupted."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn

from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.sides import common_words
from treebridge.bridge.space import Space
from treebridge.corpus.sentence import Sentence
from treebridge.encode.encoder import Encoder
from treebridge.encode.learning import peaks
from treebridge.encode.models import choose_device
from treebridge.encode.store import encode_into_store
from treebridge.errors import TreebridgeError
from treebridge.parse.batches import Examples
from treebridge.parse.biaffine import Batch, Biaffine, to_device
from treebridge.parse.checkpoint import Checkpoint, Weights, copy_weights, resume
from treebridge.parse.columns.columns import Columns
from treebridge.parse.columns.make import columns_of_trees
from treebridge.parse.given import Given
from treebridge.parse.metrics import Metrics
from treebridge.parse.padding import Indices, batches_by_length
from treebridge.parse.predict import annotated, predict
from treebridge.parse.reader import Reader
from treebridge.parse.score import Scores, score
from treebridge.parse.settings import ParserSettings
from treebridge.parse.several import Mixture, Source, names_in, with_others
from treebridge.parse.start import grown, settings_from, start_from
from treebridge.parse.ud_rules import Rules
from treebridge.parse.vocab import Names
from treebridge.progress import QUIET, Progress
from treebridge.torchrun import TorchRun

if TYPE_CHECKING:
    from treebridge.parse.parser import Parser

STAGE = "training"
HELD_OUT = 20  # one sentence in 20 is held out as dev if none is given


@dataclass
class Training:
    """One training run; `run` returns the best weights and one entry of metrics per epoch."""

    model: Biaffine
    settings: ParserSettings
    train: Examples
    dev: Examples
    gold: Sequence[Sentence]  # the dev trees
    labels: Names
    tags: Names
    workers: TorchRun
    work: Path | None = None  # for checkpoints
    progress: Progress = QUIET
    reader: Reader | None = None  # an encoder that learns with the parser
    start: str = ""  # a hash of the weights to start from, if they are not random

    def run(self) -> tuple[Weights, list[Metrics]]:
        """Train to the end, resuming an interrupted run."""
        settings, fused = self.settings, self.workers.device in ("cpu", "cuda")
        groups: list[dict[str, Any]] = [
            {"params": list(self.model.parameters()), "lr": settings.learning_rate}
        ]
        if self.reader is not None:
            groups += self.reader.groups()
        optimizer = torch.optim.Adam(groups, betas=settings.betas, fused=fused)
        self._peaks = peaks(optimizer)
        state = resume(self.work, self.key(), self.learner, optimizer, judged_by="LAS")
        if state:
            self.progress.say(f"resuming after epoch {len(state.history)}")
        else:
            weights = copy_weights(self.learner)
            state = Checkpoint(self.key(), weights, optimizer.state_dict(), weights)
        self._since = (time.perf_counter(), len(state.history) / settings.epochs)
        # Do not disturb the caller's random state.
        devices = [torch.cuda.current_device()] if self.workers.device == "cuda" else []
        with torch.random.fork_rng(devices):
            while not self._finished(state.history):
                metrics = self._epoch(len(state.history), optimizer)
                if not state.history or metrics["LAS"] > max(e["LAS"] for e in state.history):
                    state.best = copy_weights(self.learner)
                state.history.append(metrics)
                state.weights, state.optimizer = self.learner.state_dict(), optimizer.state_dict()
                if self.work and self.workers.first:
                    state.write(self.work)
                self.progress.measured(STAGE, metrics)
        return state.best, state.history

    @property
    def learner(self) -> nn.Module:
        """All that learns."""
        return self.model if self.reader is None else nn.ModuleList([self.model, self.reader])

    def key(self) -> str:
        """A hash of settings and data."""
        names = list(self.labels), list(self.tags), *([self.start] if self.start else [])
        how = self.settings.config(), self.workers.size, self.model.learns_in_half
        examples = self.train.digest(), self.dev.digest()
        return hashlib.sha256(json.dumps([*names, *how, *examples]).encode()).hexdigest()

    def _finished(self, history: list[Metrics]) -> bool:
        if len(history) >= self.settings.epochs:
            return True
        scores = [entry["LAS"] for entry in history]
        waited = len(scores) - 1 - scores.index(max(scores)) if scores else 0
        return 0 < self.settings.patience <= waited

    def _epoch(self, epoch: int, optimizer: torch.optim.Optimizer) -> Metrics:
        self.learner.train()
        # Seed every epoch, so that a resumed run gives the same result.
        torch.manual_seed((self.settings.seed << 40) + (epoch << 16) + self.workers.rank)
        start = time.perf_counter()
        plan = self.workers.share(self.train.epoch(self.settings, epoch))
        loss, own, words = 0.0, 0, 0  # own: words of this process; words: of all processes
        for done, batch in enumerate(self.train.batches(plan)):
            for group, peak in zip(optimizer.param_groups, self._peaks, strict=True):
                group["lr"] = self._learning_rate(peak, epoch + done / len(plan))
            summed, count = self._step(batch, plan[done], optimizer)
            size = int(batch.lengths.sum())
            loss, own, words = loss + summed, own + size, words + count
            share = (epoch + (done + 1) / len(plan)) / self.settings.epochs
            speed = words / (time.perf_counter() - start)
            self.progress.advance(
                STAGE, share, loss=summed / size, words_per_second=speed, left=self._left(share)
            )
        seconds = time.perf_counter() - start
        scores = self.score_dev().values if self.workers.first else {}
        names = ("UAS", "LAS", "UPOS")
        agreed = self.workers.agree([loss / own, *(scores.get(name, 0.0) for name in names)])
        return {
            "epoch": epoch + 1,
            "loss": agreed[0],
            **dict(zip(names, agreed[1:], strict=True)),
            "words_per_second": words / seconds,
            "seconds": time.perf_counter() - start,
        }

    def _step(
        self, batch: Batch, indices: Indices, optimizer: torch.optim.Optimizer
    ) -> tuple[float, int]:
        """Take one step; return this process's summed loss and the words of all processes."""
        optimizer.zero_grad()
        there = to_device(batch, self.workers.device)
        if self.reader is not None:
            there = self.reader.read(there, [self.train.words[i] for i in indices])
        loss = self.model.loss(there)
        loss.backward()  # type: ignore[no-untyped-call]
        weights = [weight for weight in self.learner.parameters() if weight.grad is not None]
        words = self.workers.mean_gradients(weights, int(batch.lengths.sum()))
        torch.nn.utils.clip_grad_norm_(weights, self.settings.max_norm)
        optimizer.step()
        return float(loss.detach()), words

    def _learning_rate(self, peak: float, epoch: float) -> float:
        if self.settings.schedule == "constant":
            return peak
        warm = min(1.0, (epoch + 0.02) / 0.5)  # warm up for half an epoch
        share = epoch / self.settings.epochs
        return peak * warm * (1 + math.cos(math.pi * share)) / 2

    def _left(self, share: float) -> float:
        start, before = self._since
        return (time.perf_counter() - start) / max(share - before, 1e-9) * (1 - share)

    def score_dev(self) -> Scores:
        """Score the current weights on dev."""
        self.model.eval()
        plan = batches_by_length(self.dev.lengths, *self.settings.limits)
        trees = list(self.gold)
        rules = Rules.of(self.labels, self.tags)
        dev = self.dev if self.reader is None else self.reader.reread(self.dev)
        for indices, batch in zip(plan, dev.batches(plan), strict=True):
            vectors, lengths, tags = (part.numpy() for part in batch[:3])
            if self.settings.tags != "gold":
                tags.fill(-1)  # those that are predicted are scored
            given = Given.of([self.gold[i] for i in indices], self.labels, self.tags)
            found = predict(self.model, vectors, lengths, tags, rules, given)
            for row, index in enumerate(indices):
                trees[index] = annotated(
                    self.gold[index], found, row, self.labels, self.tags, retag=True
                )
        return score(self.gold, trees)


class Trained(NamedTuple):
    """The result of training: the parts of a parser."""

    model: Biaffine
    space: Space
    labels: Names
    tags: Names
    history: list[Metrics]
    about: dict[str, Any]
    encoder: Encoder  # as it is after training
    columns: Columns | None  # learned from the same trees, after the parser


def train_on(
    treebank: Sequence[Sentence],
    encoder: Encoder,
    dev: Sequence[Sentence] | None,
    settings: ParserSettings,
    device: str,
    work: Path | None,
    progress: Progress,
    also: Sequence[Source] = (),
    weights: Sequence[float] | None = None,
    start: Parser | None = None,
) -> Trained:
    """Encode a treebank (or load it from the cache), fit its isotropy and train a parser.

    The trees of `also` join through their bridges; `weights` say how often each treebank, the
    first included, is seen in an epoch. Training starts from the weights of `start`, if given.
    """
    if dev is None:
        dev = [s for i, s in enumerate(treebank) if i % HELD_OUT == HELD_OUT - 1]
        treebank = [s for i, s in enumerate(treebank) if i % HELD_OUT != HELD_OUT - 1]
    _check_trees(treebank, "training")
    _check_trees(dev, "dev")
    for source in also:
        _check_trees(source.trees, source.name)
    if also and settings.tune == "encoder":
        raise TreebridgeError(
            "further treebanks cannot join while the encoder learns: their bridges lead into the "
            "space as it was; tune a parser first, fit the bridges into it and continue from it"
        )
    workers = TorchRun(choose_device(device))
    if not workers.first:
        workers.wait()  # the first process encodes for all
    train_store = encode_into_store(encoder, [s.forms for s in treebank], progress=progress)
    dev_store = encode_into_store(encoder, [s.forms for s in dev], progress=progress)
    for source in also:
        source.store(progress)
    if workers.first:
        workers.wait()
    if start is None:
        isotropy = Isotropy.fit(train_store.vectors, settings.isotropy)
        space = Space.of(encoder, isotropy, common_words(s.forms for s in treebank))
    else:
        start.space.check(encoder)
        space, settings = start.space, settings_from(start, settings)
    for source in also:
        source.check(space)
    labels, tags = names_in([treebank, *(source.trees for source in also)])
    if start is not None:
        labels, tags = grown(start, labels, tags)
    if settings.tags != "none" and not tags:
        raise TreebridgeError("the treebank has no UPOS tags; set tags to none")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        model = Biaffine(settings, space.dim, len(labels), len(tags))
    begun = start_from(model, start, labels) if start is not None else ""
    first = Examples.of(treebank, train_store, space, labels, tags)
    examples = with_others(first, also, (labels, tags), weights, progress) if also else first
    reader = Reader(encoder, space).to(workers.device) if settings.tune == "encoder" else None
    training = Training(
        model.to(workers.device),
        settings,
        examples,
        Examples.of(dev, dev_store, space, labels, tags),
        dev,
        labels,
        tags,
        workers,
        work,
        progress,
        reader,
        begun,
    )
    try:
        best, history = training.run()
    finally:
        progress.done(STAGE)
    training.learner.load_state_dict(best)
    if reader is not None:
        encoder = reader.encoder.frozen()
        space = space.tuned(encoder)
        train_store = encode_into_store(encoder, [s.forms for s in treebank], progress=progress)
    words = int(train_store.offsets[-1])
    about: dict[str, Any] = {"sentences": len(treebank), "words": words, "workers": workers.size}
    if isinstance(examples, Mixture):
        about |= examples.describe(also)
    if reader is not None:
        about["tuned"] = True
    columns = columns_of_trees(treebank, train_store, space, tags, settings, progress)
    return Trained(model.eval(), space, labels, tags, history, about, encoder, columns)


def _check_trees(sentences: Sequence[Sentence], what: str) -> None:
    if not any(len(sentence) for sentence in sentences):
        raise TreebridgeError(f"no {what} sentences; give a treebank with trees")
    for number, sentence in enumerate(sentences, 1):
        if None in sentence.heads:
            raise TreebridgeError(f"{what} sentence {number} has words without HEAD")
