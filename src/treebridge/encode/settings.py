"""Encoder settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treebridge.settings import check_choices

PrecisionName = Literal["auto", "fp32", "bf16", "fp16", "int8"]
BackendName = Literal["torch", "onnx"]


@dataclass(frozen=True)
class EncoderSettings:
    """Encoder settings; `layers` determines the vectors, the others how fast they are computed.

    Low precision (int8, bf16, fp16) changes vectors only a little: a parser trained with fp32
    vectors accepts them.
    """

    layers: str = "last4"  # lastN, or a list such as 9,10,-1; the layers are averaged
    precision: PrecisionName = "auto"  # auto: bf16 on a GPU
    backend: BackendName = "torch"
    device: str = "auto"  # cpu | cuda | mps
    batch_pieces: int = 0  # pieces per batch, including padding; 0 is chosen by device
    offline: bool = False

    def __post_init__(self) -> None:
        check_choices(self)


@dataclass(frozen=True)
class TuneSettings:
    """How an encoder learns together with a parser."""

    rate: float = 5e-4  # peak learning rate for 256 dimensions; less by the square for wider ones
    layer_decay: float = 1.0  # a layer's learning rate as a share of that of the layer above
    dropout: float = 0.1
