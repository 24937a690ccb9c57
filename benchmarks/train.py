"""Training and parsing: against SuPar, against a frozen BERT in every epoch, and by preset.

python benchmarks/train.py [treebank.conllu] [--sentences 1000] [--only supar bert presets]

Sizes are SuPar's (BiLSTM 3 × 400, arc 500, label 100) or a preset's, vectors random: they cost what
real ones cost. One core, processor time, both on the same batches in turns. SuPar 1.1.4 (MIT) is no
dependency of ours; it takes part if it can be imported.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common.shared import SHARED

from encode import authors_sentences_per_second, make_bert
from treebridge import Treebank
from treebridge.bridge.isotropy import Isotropy
from treebridge.encode.encoder import Encoder
from treebridge.parse.batches import make_batch
from treebridge.parse.biaffine import Batch, Biaffine
from treebridge.parse.given import Given
from treebridge.parse.mst import decode_batch
from treebridge.parse.padding import Indices, cut_batches
from treebridge.parse.predict import predict
from treebridge.parse.settings import PRESETS, ParserSettings
from treebridge.parse.ud_rules import Rules
from treebridge.parse.vocab import Names

SIZES = ParserSettings(tags="gold", hidden=400, arc=500, label=100, batch_words=3000)


def timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def step(loss: torch.Tensor, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()


class Peer:
    """SuPar's biaffine model, with our vectors as its frozen embeddings."""

    def __init__(self, batches: list[Batch], labels: int, tags: int):
        from supar.models.dep import BiaffineDependencyModel

        dim = batches[0].vectors.shape[-1]
        rows = [torch.zeros(2, dim)]  # padding, and the root that SuPar sends through its BiLSTM
        self.inputs, size = [], 2
        for batch in batches:
            mask = torch.arange(batch.vectors.shape[1]) < batch.lengths[:, None]
            words = torch.zeros_like(batch.tags)
            words[mask] = torch.arange(size, size + int(mask.sum()))
            size += int(mask.sum())
            rows.append(batch.vectors[mask])
            columns = [words, batch.tags.clamp(min=0), batch.heads, batch.labels]
            words, *rest = (torch.nn.functional.pad(column, (1, 0), value=1) for column in columns)
            mask = words > 1
            self.inputs.append((words, *rest, mask))
        self.model = BiaffineDependencyModel(
            n_words=2, n_rels=labels, n_tags=tags, feat=["tag"], n_embed=dim, n_pretrained=dim
        )
        self.model.word_embed = torch.nn.Embedding.from_pretrained(torch.cat(rows), freeze=True)
        trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(trained, 2e-3, (0.9, 0.9))

    def train(self, index: int) -> None:
        """One step on a batch."""
        words, tags, heads, labels, mask = self.inputs[index]
        scores = self.model(words, [tags])
        step(self.model.loss(*scores, heads, labels, mask), self.model, self.optimizer)

    def parse(self, index: int) -> None:
        """Trees of a batch."""
        words, tags, _, _, mask = self.inputs[index]
        with torch.inference_mode():
            self.model.decode(*self.model(words, [tags]), mask, tree=True)


def make_batches(
    treebank: Treebank, dim: int, settings: ParserSettings = SIZES, every: int = 1
) -> tuple[list[Batch], Names, Names]:
    """Each so-many-th batch of an epoch."""
    labels = Names.collect(label for s in treebank for label in s.deprels)
    tags = Names.collect(tag for s in treebank for tag in s.upos)
    lengths = np.array([len(s) for s in treebank])
    rng = np.random.default_rng(1)
    plan: list[Indices] = cut_batches(lengths, lengths.argsort(kind="stable"), *settings.limits)
    out = []
    for indices in plan[every // 2 :: every]:
        vectors = [rng.normal(size=(lengths[i], dim)) / dim**0.5 for i in indices]
        chosen = [treebank[int(i)] for i in indices]
        out.append(
            make_batch(
                vectors,
                [tags.numbers(s.upos) for s in chosen],
                [np.array(s.heads) for s in chosen],
                [labels.numbers(s.deprels) for s in chosen],
            )
        )
    return out, labels, tags


def nothing_given(batch: Batch) -> Given:
    """Sentences of words without marks and without annotation."""
    unknown = np.full(batch.tags.shape, -1)
    return Given(unknown > 0, unknown < 0, unknown, unknown, unknown)


class Ours:
    """Our model at the same sizes."""

    def __init__(
        self, batches: list[Batch], labels: list[str], tags: int, settings: ParserSettings
    ):
        self.batches = batches
        self.rules = Rules.of(labels, [f"tag {i}" for i in range(tags)])
        self.given = [nothing_given(batch) for batch in batches]
        self.model = Biaffine(settings, batches[0].vectors.shape[-1], len(labels), tags)
        self.optimizer = torch.optim.Adam(self.model.parameters(), 2e-3, (0.9, 0.9), fused=True)
        self.decoding = 0.0

    def train(self, index: int) -> None:
        """One step on a batch."""
        batch = self.batches[index]
        loss = self.model.loss(batch) / int(batch.lengths.sum())
        step(loss, self.model, self.optimizer)

    def parse(self, index: int) -> None:
        """Trees of a batch."""
        vectors, lengths, tags = (part.numpy() for part in self.batches[index][:3])
        predict(self.model, vectors, lengths, tags, self.rules, self.given[index])

    def decode(self, index: int) -> None:
        """Add up what spanning trees cost."""
        batch = self.batches[index]
        with torch.inference_mode():
            arcs = self.model(batch).arcs.log_softmax(-1)
        square = torch.nn.functional.pad(arcs, (0, 0, 1, 0)).numpy()
        self.decoding += timed(lambda: decode_batch(square, batch.lengths.numpy()))


def against_supar(treebank: Treebank) -> None:
    batches, labels, tags = make_batches(treebank, 256)
    words = sum(int(batch.lengths.sum()) for batch in batches)
    systems: dict[str, Any] = {"ours": Ours(batches, list(labels), len(tags), SIZES)}
    try:
        systems["SuPar"] = Peer(batches, len(labels), len(tags))
    except ImportError as error:
        print(f"SuPar left out: {error}")
    for what in ("train", "parse"):
        spent = dict.fromkeys(systems, 0.0)
        for system in systems.values():
            system.model.train(what == "train")
            getattr(system, what)(0)  # compiled, allocated
        for index in range(len(batches)):
            for name, system in systems.items():
                spent[name] += timed(lambda: getattr(system, what)(index))  # noqa: B023
        for name, seconds in spent.items():
            each = f"{words / seconds:,.0f} words/s, {len(treebank) / seconds:,.0f} sentences/s"
            print(f"{what}, {name}: {each}", flush=True)
        if "SuPar" in spent:
            print(f"{what}, ratio: {spent['SuPar'] / spent['ours']:.2f}", flush=True)
    for index in range(len(batches)):
        systems["ours"].decode(index)
    print(f"decoding: {systems['ours'].decoding / spent['ours']:.2%} of parsing", flush=True)


def against_frozen_bert(treebank: Treebank, every: int) -> None:
    """An epoch on vectors from the disk, and one that runs the encoder: words per second."""
    isotropy = Isotropy(np.zeros((5, 768)))
    rates = {}
    for name, settings in (("3 × 400", SIZES), ("default preset", ParserSettings())):
        batches, labels, tags = make_batches(treebank, 768, settings, every)
        words = sum(int(batch.lengths.sum()) for batch in batches)
        system = Ours(batches, list(labels), len(tags), settings)
        system.train(0)
        halves = [batch.vectors.numpy().astype(np.float16) for batch in batches]
        reading = timed(lambda: [isotropy.transform(rows) for rows in halves])  # noqa: B023
        training = timed(lambda: [system.train(i) for i in range(len(batches))])  # noqa: B023
        rates[name] = words / (training + reading)
        share = reading / (training + reading)
        how = "bf16" if system.model.learns_in_half else "fp32"
        print(
            f"cached, {name}, {how}: {rates[name]:,.0f} words/s, isotropy {share:.1%}", flush=True
        )
    # Whole sentences in the order of the treebank, of which a few batches tell.
    sentences = [list(s.forms) for s in treebank]
    sample = sentences[:: max(1, len(sentences) // 128)][:128]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "bert"
        make_bert(folder, sentences)
        encoder = Encoder.load(folder)
        count = sum(map(len, sample))
        frozen = {
            "in batches without padding to spare": count
            / timed(lambda: [item.vectors for item in encoder.encode(sample)]),
            "in batches of 128 padded to 150 pieces": 0.0,
        }
        half = sample[:64]
        rate = authors_sentences_per_second(folder, half)
        frozen["in batches of 128 padded to 150 pieces"] = rate * sum(map(len, half)) / len(half)
    for how, rate in frozen.items():
        print(f"frozen BERT {how}: {rate:,.0f} words/s", flush=True)
        for name, cached in rates.items():
            print(f"  epoch of {name}, ratio: {1 + cached / rate:.1f}", flush=True)


def by_preset(treebank: Treebank, every: int) -> None:
    """What an epoch of each preset takes, measured on some of its batches."""
    whole = sum(map(len, treebank))
    for name, settings in PRESETS.items():
        batches, labels, tags = make_batches(treebank, 256, settings, every)
        words = sum(int(batch.lengths.sum()) for batch in batches)
        system = Ours(batches, list(labels), len(tags), settings)
        system.train(0)
        rate = words / timed(lambda: [system.train(i) for i in range(len(batches))])  # noqa: B023
        how = "bf16" if system.model.learns_in_half else "fp32"
        each = f"{rate:,.0f} words/s, {whole / rate / 60:.1f} minutes an epoch of {whole:,} words"
        print(f"preset {name}, {how}: {each}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    default = SHARED / "data/ud-2.6/UD_English-EWT/en_ewt-ud-train.conllu"
    parser.add_argument("treebank", nargs="?", default=str(default))
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--only", nargs="+", default=["supar", "bert", "presets"])
    options = parser.parse_args()
    if not Path(options.treebank).exists():
        sys.exit(f"{options.treebank} is not here: give a treebank as argument")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    treebank = Treebank.read(options.treebank)
    every = max(1, len(treebank) // options.sentences)
    print(f"about {options.sentences:,} sentences of {Path(options.treebank).name}")
    if "supar" in options.only:
        against_supar(Treebank(list(treebank)[::every]))
    if "bert" in options.only:
        against_frozen_bert(treebank, every)
    if "presets" in options.only:
        by_preset(treebank, every)


if __name__ == "__main__":
    main()
