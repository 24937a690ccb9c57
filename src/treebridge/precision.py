"""The precision to train with: 16 bits where the hardware is faster with them, else 32."""

from __future__ import annotations

from typing import Any

import torch

WIDE = 128  # dimensions from which bf16 on a CPU gains more than its conversions cost


def half_precision(device: str, width: int) -> torch.dtype | None:
    """Return the 16-bit type to train in; None where 32 bits are as fast."""
    if device == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if device == "cpu" and width >= WIDE:
        known: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
        if known.get("avx512_bf16") or known.get("amx_bf16"):
            return torch.bfloat16
    return None
