"""Data-parallel training under `torchrun`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TypeVar

import torch
from torch import Tensor, distributed

T = TypeVar("T")
PATIENCE = timedelta(hours=12)  # the other processes wait while rank 0 prepares the data


class TorchRun:
    """This process's rank under torchrun; rank 0 of 1 without it."""

    def __init__(self, device: str):
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0")) if self.size > 1 else 0
        self.device = device
        if self.size > 1:
            if device == "cuda":
                torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
            if not distributed.is_initialized():
                backend = "nccl" if device == "cuda" else "gloo"
                distributed.init_process_group(backend, timeout=PATIENCE)

    @property
    def first(self) -> bool:
        """Whether this process is rank 0, the one that writes."""
        return self.rank == 0

    def share(self, batches: Sequence[T]) -> list[T]:
        """Return this process's batches; some are repeated so that every process gets as many."""
        missing = -len(batches) % self.size
        return [*batches, *batches[:missing]][self.rank :: self.size]

    def mean_gradients(self, parameters: Iterable[Tensor], words: int) -> int:
        """Average gradients of summed losses over the words of all processes; return how many."""
        gradients = [p.grad for p in parameters if p.grad is not None]
        if self.size > 1:
            # One message instead of one per parameter.
            flat = torch.cat([*(g.flatten() for g in gradients), gradients[0].new_tensor([words])])
            distributed.all_reduce(flat)
            words = int(flat[-1])
            sizes = [g.numel() for g in gradients]
            for gradient, total in zip(gradients, torch.split(flat[:-1], sizes), strict=True):
                gradient.copy_(total.view_as(gradient))
        torch._foreach_mul_(gradients, 1 / words)
        return words

    def agree(self, values: Sequence[float]) -> list[float]:
        """Broadcast the values of rank 0 to all processes."""
        if self.size == 1:
            return list(values)
        message = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.broadcast(message, 0)
        return [float(value) for value in message]

    def wait(self) -> None:
        """Wait for all processes."""
        if self.size > 1:
            distributed.barrier()
