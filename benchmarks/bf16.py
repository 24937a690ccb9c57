"""What oneDNN's LSTM on padded sentences and bf16 gain in training, the default preset.

python benchmarks/bf16.py [--sentences 150]

One core, processor time, the ways in turns on the same batches of EWT with random vectors.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from common.shared import SHARED
from train import Ours, make_batches, timed

from treebridge import Treebank
from treebridge.parse import biaffine
from treebridge.parse.bilstm import BiLSTM
from treebridge.parse.settings import ParserSettings

WAYS: dict[str, tuple[torch.dtype | None, Callable[..., torch.Tensor]]] = {
    "fp32, packed": (None, BiLSTM.packed),
    "fp32, padded": (None, BiLSTM.padded),
    "bf16, packed": (torch.bfloat16, BiLSTM.packed),
    "bf16, padded": (torch.bfloat16, BiLSTM.padded),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=150)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    treebank = Treebank.read(SHARED / "data/ud-2.6/UD_English-EWT/en_ewt-ud-train.conllu")
    for dim in (256, 768):
        every = len(treebank) // options.sentences
        batches, labels, tags = make_batches(treebank, dim, ParserSettings(), every)
        words = sum(int(batch.lengths.sum()) for batch in batches)
        system = Ours(batches, list(labels), len(tags), ParserSettings())
        spent = dict.fromkeys(WAYS, 0.0)
        system.train(0)  # allocated
        for index in range(len(batches)):
            for name, (half, read) in WAYS.items():
                biaffine.half_precision = lambda *_, half=half: half  # type: ignore[assignment]
                BiLSTM.forward = read  # type: ignore[method-assign, assignment]
                spent[name] += timed(lambda: system.train(index))  # noqa: B023
        for name, seconds in spent.items():
            ratio = spent["fp32, packed"] / seconds
            print(f"{dim}-d, {name}: {words / seconds:,.0f} words/s, ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
