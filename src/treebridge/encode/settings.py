"""How an encoder computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treebridge.settings import check_choices

PrecisionName = Literal["auto", "fp32", "bf16", "fp16", "int8"]
BackendName = Literal["torch", "onnx"]


@dataclass(frozen=True)
class EncoderSettings:
    """How an encoder computes; the first field decides what comes out, the others how fast.

    Coarse numbers (int8, bf16, fp16) move vectors a little and are still the same encoder: a
    parser trained with it in fp32 accepts them.
    """

    layers: str = "last4"  # lastN, or a list of layers such as 9,10,-1; their mean is taken
    precision: PrecisionName = "auto"  # auto: bf16 on a GPU
    backend: BackendName = "torch"
    device: str = "auto"  # cpu | cuda | mps
    batch_pieces: int = 0  # pieces in a batch, padding included; 0 fits the device
    offline: bool = False

    def __post_init__(self) -> None:
        check_choices(self)
