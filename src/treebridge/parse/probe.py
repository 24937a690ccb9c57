"""What would a treebank teach about a target? A short lesson, judged on carried arcs.

A copy of the parser learns from the treebank for a minute; the question is how many more of the
arcs that links carry to held-out target sentences it then finds.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from treebridge.corpus.sentence import Sentence
from treebridge.encode.store import encode_into_store
from treebridge.parse.agreement import Agreement, Trial
from treebridge.parse.batches import Examples
from treebridge.parse.biaffine import to_device
from treebridge.parse.new_labels import with_labels
from treebridge.parse.padding import Indices
from treebridge.parse.parser import Parser
from treebridge.parse.several import Mixture, Source
from treebridge.progress import QUIET, Progress

WORDS = 40_000  # of the treebank
RATE = 5e-4
WARM = 20  # steps
STAGE = "probing"


@dataclass(frozen=True)
class Gain:
    """How many more carried arcs are found, in percent, with its 95 % interval."""

    gain: float
    low: float
    high: float


def probe(
    parser: Parser,
    source: Source,
    trial: Trial,
    before: Agreement,
    first: Sequence[Sentence] = (),
    progress: Progress = QUIET,
) -> Gain:
    """Teach a copy of a bridged parser some trees of a source, and judge it on the trial.

    As many words of the trees `first`, of the parser's own treebank, keep it from forgetting.
    """
    taught = _taught(parser, source, first, progress)
    return Gain(*trial.judge(taught).gain_over(before))


def _taught(
    parser: Parser, source: Source, first: Sequence[Sentence], progress: Progress
) -> Parser:
    parser = with_labels(parser, (label for tree in source.trees for label in tree.deprels))
    names = parser.labels, parser.tags
    parts = [source.examples(*names, progress)]
    if first:
        unbridged = replace(parser, bridge=None, encoder=None, encoder_at=None)
        store = encode_into_store(unbridged.load_encoder(), [tree.forms for tree in first])
        parts.insert(0, Examples.of(first, store, parser.space, *names))
    # As many words of each as there are in the smaller one.
    sizes = [int(part.lengths.sum()) for part in parts]
    words = min(WORDS, *sizes)
    mixed = Mixture(parts, [words / size for size in sizes])
    model = copy.deepcopy(parser.biaffine).train()
    optimizer = torch.optim.Adam(model.parameters(), RATE, parser.settings.betas)
    plan: list[Indices] = mixed.epoch(parser.settings, 0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(parser.settings.seed)
        for done, batch in enumerate(mixed.batches(plan)):
            left = 1 - done / len(plan)
            optimizer.param_groups[0]["lr"] = RATE * min(1.0, (done + 1) / WARM, 2 * left)
            optimizer.zero_grad()
            loss = model.loss(to_device(batch, parser.device)) / int(np.sum(batch.lengths.numpy()))
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), parser.settings.max_norm)
            optimizer.step()
            progress.advance(STAGE, (done + 1) / len(plan), loss=float(loss.detach()))
    progress.done(STAGE)
    return replace(parser, model=model.eval())
