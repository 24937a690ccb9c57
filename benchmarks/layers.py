"""Which layers of an encoder know syntax, and what mix of them a parser would choose.

python benchmarks/layers.py --encoder FOLDER [--sentences 4000] [--dev 1000] [--epochs 4] [--seed 1]

A probe without a BiLSTM (bilinear arcs, linear labels and tags) learns from the first sentences of
English EWT train and is scored on those of dev: over each layer, over the means that `--layers`
knows, and over all layers with weights that it learns (after Peters et al. 2018, softmax). The
learned mix is printed as a list for `--layers`, where a layer counts as often as it is named.
With `--parsers last4 last1 …` small parsers are trained instead, one for each choice.
TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from common.shared import SHARED
from torch import nn

from treebridge.corpus.conllu import Treebank, read_conllu
from treebridge.corpus.sentence import Sentence
from treebridge.encode.encoder import Encoder
from treebridge.encode.models import choose_layers
from treebridge.encode.settings import EncoderSettings
from treebridge.encode.transformer import TransformerEncoder
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings

TREES = SHARED / "data" / "ud-2.6" / "UD_English-EWT"
PARTS = 10  # the learned weights are rounded to tenths


@dataclass
class Probed:
    """A sentence: vectors of every layer, and what is to be told from them."""

    layers: torch.Tensor  # [layers, words, dim]
    heads: torch.Tensor  # [words], 0 the root
    labels: torch.Tensor
    tags: torch.Tensor


class Probe(nn.Module):
    """Arcs, labels and tags straight from mixed vectors."""

    def __init__(self, layers: int, dim: int, labels: int, tags: int, weights: torch.Tensor | None):
        super().__init__()
        self.fixed = weights
        self.mix = nn.Parameter(torch.zeros(layers))
        self.root = nn.Parameter(torch.zeros(dim))
        self.dependent, self.head = nn.Linear(dim, 128), nn.Linear(dim, 128)
        self.label, self.tag = nn.Linear(2 * dim, labels), nn.Linear(dim, tags)

    def weights(self) -> torch.Tensor:
        """How much each layer counts, learned or given."""
        return self.mix.softmax(0) if self.fixed is None else self.fixed

    def forward(self, one: Probed) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Scores of heads, labels (at the right heads) and tags."""
        words = torch.einsum("l,lwd->wd", self.weights(), one.layers)
        words = nn.functional.normalize(words, dim=-1) * words.shape[-1] ** 0.5
        heads = torch.cat([self.root[None], words])
        arcs = self.dependent(words) @ self.head(heads).T / 128**0.5
        pairs = torch.cat([words, heads[one.heads]], dim=-1)
        return arcs, self.label(pairs), self.tag(words)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--encoder", default=str(SHARED / "encoders" / "en-marian-tiny"))
    arguments.add_argument("--sentences", type=int, default=4000)
    arguments.add_argument("--dev", type=int, default=1000)
    arguments.add_argument("--epochs", type=int, default=4)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--parsers", nargs="+", metavar="LAYERS", help="instead, small parsers")
    given = arguments.parse_args()
    if not TREES.exists():
        sys.exit(f"no treebank in {TREES}: name the folder of real data in TREEBRIDGE_SHARED")
    if given.parsers:
        small_parsers(given)
        return
    train, dev = (
        list(read_conllu(TREES / f"en_ewt-ud-{part}.conllu"))[:count]
        for part, count in (("train", given.sentences), ("dev", given.dev))
    )
    encoder = TransformerEncoder.from_name(given.encoder, EncoderSettings(offline=True))
    learn, judge, sizes, lengths = prepared(encoder, train, dev)
    count = len(lengths) - 1
    choices = {str(layer): [layer] for layer in range(count + 1)}
    choices |= {f"last{n}": choose_layers(f"last{n}", count) for n in range(2, count + 1)}
    print(f"{'layers':28} UAS    labels UPOS")
    for name, chosen in choices.items():
        weights = torch.zeros(count + 1)
        weights[chosen] = lengths[chosen]
        report(name, trained(learn, sizes, weights / weights.sum(), given), judge)
    mixed = trained(learn, sizes, None, given)
    found = mixed.weights().detach()
    report("learned", mixed, judge)
    print("weights", " ".join(f"{weight:.2f}" for weight in found))
    shares = found / lengths  # what is named is the mean of raw vectors, these were of one length
    parts = torch.round(shares / shares.sum() * PARTS).int().tolist()
    named = ",".join(str(layer) for layer, times in enumerate(parts) for _ in range(times))
    print(f"--layers={named}")


def small_parsers(given: argparse.Namespace) -> None:
    """What parsers of 1 500 sentences, with predicted tags, make of each choice."""
    train, dev = (Treebank.read(TREES / f"en_ewt-ud-{part}.conllu") for part in ("train", "dev"))
    settings = ParserSettings.preset(
        "small", layers=1, hidden=100, epochs=3, batch_words=300, seed=given.seed
    )
    for layers in given.parsers:
        encoder = Encoder.load(given.encoder, EncoderSettings(layers, offline=True))
        some = train[:: len(train) // 1500][:1500]
        best = Parser.train(some, encoder, dev[::4], settings).scores
        print(f"{layers:28} LAS {best['LAS']:.2f}  UPOS {best['UPOS']:.2f}", flush=True)


def prepared(
    encoder: TransformerEncoder, train: list[Sentence], dev: list[Sentence]
) -> tuple[list[Probed], list[Probed], tuple[int, int, int], torch.Tensor]:
    """Both parts with the vectors of every layer, each layer centred and of length one."""
    model = encoder.model
    sentences = [one.forms for one in (*train, *dev)]
    ids, real = np.arange(5, 105)[None], np.ones((1, 100), np.int64)
    layers, lengths = [], []
    for layer in range(model.network.config.num_hidden_layers + 1):
        model.layers = [layer]
        rows = [torch.from_numpy(one.vectors) for one in encoder.encode(sentences)]
        middle = torch.cat(rows[: len(train)]).mean(0)
        layers.append([row - middle for row in rows])
        with torch.inference_mode():
            lengths.append(float(model.hidden(ids, real).norm(dim=-1).mean()))
    labels = numbered(one.deprels for one in train)
    tags = numbered(one.upos for one in train)
    probed = [
        Probed(
            torch.stack(vectors),
            torch.tensor([head or 0 for head in one.heads]),
            torch.tensor([labels.get(label, 0) for label in one.deprels]),
            torch.tensor([tags.get(tag, 0) for tag in one.upos]),
        )
        for one, *vectors in zip((*train, *dev), *layers, strict=True)
    ]
    sizes = (encoder.dim, len(labels), len(tags))
    return probed[: len(train)], probed[len(train) :], sizes, torch.tensor(lengths)


def numbered(names: Iterable[Sequence[str]]) -> dict[str, int]:
    return {name: number for number, name in enumerate(sorted({n for some in names for n in some}))}


def trained(
    learn: list[Probed], sizes: tuple[int, int, int], weights: torch.Tensor | None,
    given: argparse.Namespace,
) -> Probe:  # fmt: skip
    torch.manual_seed(given.seed)
    probe = Probe(len(learn[0].layers), *sizes, weights)
    fast = [{"params": [probe.mix], "lr": 0.05}]
    slow = [{"params": [p for n, p in probe.named_parameters() if n != "mix"], "lr": 2e-3}]
    optimizer = torch.optim.Adam(slow + fast)
    loss_of = nn.functional.cross_entropy
    for _ in range(given.epochs):
        order = torch.randperm(len(learn)).tolist()
        for start in range(0, len(order), 16):
            loss = torch.zeros(())
            for index in order[start : start + 16]:
                one = learn[index]
                arcs, labels, tags = probe(one)
                loss = loss + loss_of(arcs, one.heads, reduction="sum")
                loss = loss + loss_of(labels, one.labels, reduction="sum")
                loss = loss + loss_of(tags, one.tags, reduction="sum")
            optimizer.zero_grad()
            (loss / 200).backward()
            optimizer.step()
    return probe.eval()


@torch.inference_mode()
def report(name: str, probe: Probe, judge: list[Probed]) -> None:
    right, words = np.zeros(3), 0
    for one in judge:
        golds = (one.heads, one.labels, one.tags)
        for n, (scores, gold) in enumerate(zip(probe(one), golds, strict=True)):
            right[n] += int((scores.argmax(-1) == gold).sum())
        words += len(one.heads)
    print(f"{name:28} " + "  ".join(f"{value:.2f}" for value in 100 * right / words), flush=True)


if __name__ == "__main__":
    main()
