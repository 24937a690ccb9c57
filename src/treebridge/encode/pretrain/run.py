"""The training loop of pre-training, with evaluation and checkpoints."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from treebridge.checksums import sha256_of
from treebridge.encode.pretrain.corpus import Corpus
from treebridge.encode.pretrain.inheritance import can_inherit, inherit
from treebridge.encode.pretrain.initialization import give_start
from treebridge.encode.pretrain.lessons import Lessons, Teaching
from treebridge.encode.pretrain.network import (
    Rows,
    count_right,
    lesson_loss,
    new_matcher,
    new_network,
    summed_loss,
)
from treebridge.encode.pretrain.rows import held_out_batches, training_batches
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.errors import warn_damaged
from treebridge.precision import half_precision
from treebridge.progress import QUIET, Progress
from treebridge.state import fits, optimizer_fits, read_state, write_state
from treebridge.torchrun import TorchRun

CHECKS = (4, 20)  # evaluations on held-out text: one per minute, within these limits
SAVE_EVERY = 60.0  # seconds between two checkpoints
Metrics = dict[str, float]
STAGE = "pre-training"


@dataclass
class Done:
    """Training progress, as saved in checkpoints."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    history: list[Metrics] = field(default_factory=list)  # one entry per evaluation


class Pretraining:
    """A training run; `run` trains the network until the budget is used up."""

    def __init__(
        self,
        corpus: Corpus,
        settings: PretrainSettings,
        workers: TorchRun,
        work: Path | None = None,
        progress: Progress = QUIET,
        lessons: Lessons | None = None,
        teaching: Teaching | None = None,
    ):
        self.corpus, self.settings, self.workers, self.work = corpus, settings, workers, work
        self.lessons = lessons
        self.teaching = teaching
        self.progress = progress
        self.done = Done()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            self.network: nn.Module = new_network(settings, corpus.tokenizer.get_vocab_size())
            if lessons is not None:
                new_matcher(self.network, settings.hidden, lessons.dim)
        self._half = half_precision(workers.device, settings.hidden)
        self._scaler = torch.amp.GradScaler(enabled=self._half == torch.float16)

    def run(self) -> list[Metrics]:
        """Train until the budget is used up, resuming an interrupted run."""
        state = self._read()
        if state is None and self.settings.start == "informed":
            self.progress.say("counting word co-occurrences for the initialization")
            if self.teaching and self.inherits:
                inherit(self.network, self.corpus, self.settings, self.teaching)
            else:
                give_start(self.network, self.corpus, self.settings)
        self.network.to(self.workers.device)
        optimizer = self._optimizer()
        if state is not None:
            self.network.load_state_dict(state["weights"])
            optimizer.load_state_dict(state["optimizer"])
            self._scaler.load_state_dict(state["scaler"])
            self.done = Done(**state["progress"])
            self.progress.say(f"resuming after {self.done.tokens:,} pieces")
        try:
            self._train(optimizer)
        finally:
            self.progress.done(STAGE)
        if self.lessons is not None:
            del self.network.matcher  # of no use without the teacher
        return self.done.history

    @property
    def inherits(self) -> bool:
        """Whether it starts from the teacher's layers."""
        return (
            self.teaching is not None
            and self.settings.start == "informed"
            and can_inherit(self.teaching.teacher, self.settings)
        )

    def _train(self, optimizer: torch.optim.Optimizer) -> None:
        done, rank, size = self.done, self.workers.rank, self.workers.size
        before, began = done.seconds, time.perf_counter()
        start = (done.tokens, began, self._share())
        saved, loss = began, float("nan")
        for batch in training_batches(
            self.corpus, self.settings, done.step, rank, size, self.lessons
        ):
            share = self.workers.agree([self._share()])[0]
            if share * self._checks() >= len(done.history) or share >= 1:
                self._check(share, loss)
                if share >= 1:
                    break
            last = self._step(batch, optimizer, share)
            loss = last if loss != loss else 0.98 * loss + 0.02 * last
            done.step += 1
            done.tokens += size * batch.ids.size
            now = time.perf_counter()
            done.seconds = before + now - began
            if self.work and self.workers.first and now - saved > SAVE_EVERY:
                saved = now
                self._write(optimizer)
            passed, gone = now - start[1], self._share() - start[2]
            left = passed / max(gone, 1e-9) * max(1 - self._share(), 0)
            speed = (done.tokens - start[0]) / passed
            self.progress.advance(STAGE, share, loss=loss, tokens_per_second=speed, left=left)
        if self.work and self.workers.first:
            self._write(optimizer)

    def _share(self) -> float:
        """The share of the budget that is used up."""
        if self.settings.tokens:
            return self.done.tokens / self.settings.tokens
        return self.done.seconds / (60 * self.settings.minutes)

    def _checks(self) -> int:
        fewest, most = CHECKS
        wanted = self.settings.tokens / 200_000 if self.settings.tokens else self.settings.minutes
        return int(min(max(fewest, wanted), most))

    def _step(self, batch: Any, optimizer: torch.optim.Optimizer, share: float) -> float:
        self.network.train()
        settings = self.settings
        rate = settings.learning_rate * min(share / settings.warm_up + 0.01, 1 - share)
        for group in optimizer.param_groups:
            group["lr"] = min(rate, settings.learning_rate)
        optimizer.zero_grad()
        rows = Rows(batch, self.workers.device)
        with torch.autocast(self.workers.device, self._half, enabled=self._half is not None):
            if self.lessons is not None and len(batch.aligned):
                loss = lesson_loss(self.network, rows, batch, self.lessons)
            else:
                loss = summed_loss(self.network, rows)
        self._scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        self.workers.mean_gradients(self.network.parameters(), len(batch.masked))
        self._scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), settings.max_norm)
        self._scaler.step(optimizer)
        self._scaler.update()
        return float(loss.detach()) / len(batch.masked)

    def _optimizer(self) -> torch.optim.Optimizer:
        """Create AdamW without weight decay for biases and normalization."""
        parameters = list(self.network.parameters())
        decaying = [p for p in parameters if p.ndim > 1]
        groups = [
            {"params": decaying, "weight_decay": self.settings.weight_decay},
            {"params": [p for p in parameters if p.ndim == 1], "weight_decay": 0.0},
        ]
        fused = self.workers.device in ("cpu", "cuda")
        return torch.optim.AdamW(
            groups, self.settings.learning_rate, self.settings.betas, eps=1e-6, fused=fused
        )

    def _check(self, share: float, loss: float) -> None:
        """Evaluate on held-out text in rank 0 and broadcast the result."""
        right, summed, places = 0, 0.0, 0
        self.network.eval()
        if self.workers.first:
            for batch in held_out_batches(self.corpus, self.settings):
                found, lost = count_right(self.network, Rows(batch, self.workers.device))
                right, summed, places = right + found, summed + lost, places + len(batch.masked)
        accuracy, held_out = self.workers.agree([right / max(places, 1), summed / max(places, 1)])
        metrics = {
            "share": share,
            "tokens": self.done.tokens,
            "seconds": self.done.seconds,
            "loss": loss,
            "held_out_loss": held_out,
            "accuracy": accuracy,
        }
        self.done.history.append(metrics)
        self.progress.measured(STAGE, metrics)

    def _key(self) -> str:
        content = [self.corpus.key, self.settings.identity(), self.workers.size, str(self._half)]
        if self.lessons is not None:
            content += [self.lessons.corpus.key, self.inherits]
        return sha256_of([json.dumps(content).encode()])

    def _write(self, optimizer: torch.optim.Optimizer) -> None:
        assert self.work
        content = {
            "key": self._key(),
            "weights": self.network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scaler": self._scaler.state_dict(),
            "progress": vars(self.done),
        }
        write_state(self.work / "last.pt", content)

    def _read(self) -> dict[str, Any] | None:
        """Read the checkpoint of this training run; None if it is missing or damaged."""
        content = read_state(self.work / "last.pt") if self.work else None
        if content is None or content.get("key") != self._key():
            return None
        if not self._fits(content):
            assert self.work
            warn_damaged(self.work / "last.pt", "it is not a checkpoint of this network")
            return None
        return content

    def _fits(self, content: dict[str, Any]) -> bool:
        try:
            Done(**content["progress"])
            self._scaler.load_state_dict(content["scaler"])
            return fits(content["weights"], self.network) and optimizer_fits(
                content["optimizer"], self._optimizer()
            )
        except (KeyError, TypeError, RuntimeError):
            return False
