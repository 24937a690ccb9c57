"""Which numbers to learn with: 16 bits where the machine is faster with them, else 32."""

from __future__ import annotations

from typing import Any

import torch

WIDE = 128  # dimensions from which on a CPU gains more by bf16 than it loses by converting


def half_precision(device: str, width: int) -> torch.dtype | None:
    """What to compute in where that is faster than 32 bits: on GPUs, and on some CPUs."""
    if device == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device == "cpu" and width >= WIDE:
        known: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
        if known.get("avx512_bf16") or known.get("amx_bf16"):
            return torch.bfloat16
    return None
