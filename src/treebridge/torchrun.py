"""Several processes that train one model together, as `torchrun` starts them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TypeVar

import torch
from torch import Tensor, distributed

T = TypeVar("T")
PATIENCE = timedelta(hours=12)  # others wait while the first prepares the data


class TorchRun:
    """This process among its like; alone where nothing else was started."""

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
        """Whether this process is the one that writes."""
        return self.rank == 0

    def share(self, batches: Sequence[T]) -> list[T]:
        """This process's batches: as many as every other has, the first few twice if need be."""
        missing = -len(batches) % self.size
        return [*batches, *batches[:missing]][self.rank :: self.size]

    def mean_gradients(self, parameters: Iterable[Tensor], words: int) -> int:
        """Turn gradients of summed losses into the mean over the words of all; return those."""
        gradients = [p.grad for p in parameters if p.grad is not None]
        if self.size > 1:
            # One message instead of one for each parameter.
            flat = torch.cat([*(g.flatten() for g in gradients), gradients[0].new_tensor([words])])
            distributed.all_reduce(flat)
            words = int(flat[-1])
            sizes = [g.numel() for g in gradients]
            for gradient, total in zip(gradients, torch.split(flat[:-1], sizes), strict=True):
                gradient.copy_(total.view_as(gradient))
        torch._foreach_mul_(gradients, 1 / words)
        return words

    def agree(self, values: Sequence[float]) -> list[float]:
        """What the first process says, for all."""
        if self.size == 1:
            return list(values)
        message = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.broadcast(message, 0)
        return [float(value) for value in message]

    def wait(self) -> None:
        """Until all have come so far."""
        if self.size > 1:
            distributed.barrier()
