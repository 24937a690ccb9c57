"""Self-attention that does not see order, instead of the BiLSTM, by LAS across the bridge.

OMP_NUM_THREADS=1 python benchmarks/attention.py [-o FOLDER] [--refine] [--language fi --encoder …]

After Ahmad et al. (2019): a transformer whose only notion of place is how far two words are from
each other, cut off at ten, not on which side. What a BiLSTM learns of English order, this cannot
learn. FOLDER is that of `treebridge reproduce table1`: what is there is not made again.
TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

import math

import torch
from common.lab import lab_arguments, print_scores, real_lab
from torch import Tensor, nn

from treebridge.experiment.refining import Refined
from treebridge.experiment.transfer import Fitted
from treebridge.parse import folder, train
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.settings import ParserSettings

FARTHEST = 10
HEADS = 6


class Attention(nn.Module):
    """One layer: [batch, n, size] → [batch, n, 2·hidden], as of `BiLSTM`."""

    def __init__(self, size: int, hidden: int, dropout: float, signed: bool):
        super().__init__()
        wide = 2 * hidden
        self.signed = signed
        self.enter = nn.Linear(size, wide) if size != wide else nn.Identity()
        self.asks, self.offers, self.gives, self.out = (nn.Linear(wide, wide) for _ in range(4))
        places = 2 * FARTHEST + 1 if signed else FARTHEST + 1
        self.far = nn.Parameter(torch.zeros(places, wide // HEADS))  # of Shaw et al. (2018)
        self.before, self.between = nn.LayerNorm(wide), nn.LayerNorm(wide)
        self.think = nn.Sequential(
            nn.Linear(wide, 4 * wide), nn.GELU(), nn.Dropout(dropout), nn.Linear(4 * wide, wide)
        )
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Look at the other words, then think about what was seen."""
        x = self.enter(x)
        x = x + self.drop(self._attend(self.before(x), lengths.to(x.device)))
        return x + self.drop(self.think(self.between(x)))

    def _attend(self, x: Tensor, lengths: Tensor) -> Tensor:
        batch, n, wide = x.shape
        asked, offered, given = (
            layer(x).view(batch, n, HEADS, -1).transpose(1, 2)  # [batch, heads, n, size of a head]
            for layer in (self.asks, self.offers, self.gives)
        )
        place = torch.arange(n, device=x.device)
        apart = (place - place[:, None]).clamp(-FARTHEST, FARTHEST)  # [n, n]
        apart = apart + FARTHEST if self.signed else apart.abs()
        by_place = (asked @ self.far.T).gather(-1, apart.expand(batch, HEADS, n, n))
        scores = (asked @ offered.transpose(2, 3) + by_place) / math.sqrt(wide // HEADS)
        past = (place >= lengths[:, None])[:, None, None]  # [batch, 1, 1, n]
        weights = self.drop(scores.masked_fill(past, -1e9).softmax(-1))
        return self.out((weights @ given).transpose(1, 2).reshape(batch, n, wide))


class Stack(nn.ModuleList):
    """Layers of attention, which stand where the BiLSTM does; dropout is their own inside."""

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Through all of them."""
        for layer in self:
            x = layer(x, lengths)
        return x


def network(layers: int, signed: bool) -> type[Biaffine]:
    """A parser's network with such layers."""

    class Attentive(Biaffine):
        def __init__(self, settings: ParserSettings, dim: int, labels: int, tags: int):
            super().__init__(settings, dim, labels, tags)
            sizes = [self.lstm[0].input_size, *[2 * settings.hidden] * (layers - 1)]
            stack = Stack(Attention(size, settings.hidden, 0.1, signed) for size in sizes)
            self.lstm = nn.ModuleList([stack])

    return Attentive


def main() -> None:
    arguments = lab_arguments(__doc__)
    arguments.add_argument("--refine", action="store_true", help="score `refined`, too")
    arguments.add_argument("--layers", type=int, default=4)
    arguments.add_argument("--rate", type=float, default=1e-3)
    arguments.add_argument("--ways", nargs="+", default=["bilstm", "unsigned", "signed"])
    given = arguments.parse_args()
    table = given.output
    for way in given.ways:
        changes: dict[str, object] = {}
        given.output = table
        train.Biaffine = folder.Biaffine = Biaffine  # type: ignore[attr-defined]
        if way != "bilstm":
            made = network(given.layers, way == "signed")
            train.Biaffine = folder.Biaffine = made  # type: ignore[attr-defined,misc]
            changes["learning_rate"] = given.rate
            given.output = table / f"{way}-{given.layers}"
        lab, target = real_lab(given, **changes)
        parser = lab.parser("own", True, given.seed)
        start = Fitted()
        english = max(entry["LAS"] for entry in parser.history)
        print_scores(f"{way}, English {english:.2f}", lab, target,
                     start.cross(lab, target, "own", parser))  # fmt: skip
        if given.refine:
            print_scores(f"{way}, refined", lab, target,
                         Refined(start).cross(lab, target, "own", parser))  # fmt: skip


if __name__ == "__main__":
    main()
