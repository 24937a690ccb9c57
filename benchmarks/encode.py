"""Encoding: our batches against the authors' way, the overhead around the model, int8, the store.

OMP_NUM_THREADS=1 python benchmarks/encode.py [bitext.tsv.xz] [--sentences 2000] [--onnx]

The network is a BERT of 12 × 768 with random weights: its speed is that of the real one. Times are
processor time, so that a busy machine does not change the ratios. The ratio to the authors' way
depends on how long the sentences are, so that it is measured on all of them and on long ones.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
import torch
import transformers as hf
from common.shared import SHARED
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from treebridge import Bitext
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.encode.store import encode_into_store

AUTHORS_BATCH, AUTHORS_LENGTH = 128, 150
LONG = 12  # words
VOCABULARY_FROM = 40_000  # sentences: with fewer, no word would be cut into pieces


def make_bert(folder: Path, sentences: list[list[str]]) -> None:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=30000, special_tokens=special, show_progress=False
    )
    tokenizer.train_from_iterator((" ".join(words) for words in sentences), trainer)
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    names = dict(zip(("pad", "unk", "cls", "sep", "mask"), special, strict=True))
    hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{f"{name}_token": token for name, token in names.items()}
    ).save_pretrained(folder)
    torch.manual_seed(1)
    hf.BertModel(hf.BertConfig(vocab_size=len(names) + 30000)).save_pretrained(folder)


def authors_sentences_per_second(folder: Path, sentences: list[list[str]]) -> float:
    """Input order, 128 sentences a batch, everything padded to 150 pieces."""
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    model = hf.AutoModel.from_pretrained(folder).eval()
    start = time.process_time()
    with torch.inference_mode():
        for first in range(0, len(sentences), AUTHORS_BATCH):
            inputs = tokenizer(
                sentences[first : first + AUTHORS_BATCH],
                is_split_into_words=True,
                padding="max_length",
                max_length=AUTHORS_LENGTH,
                truncation=True,
                return_tensors="pt",
            )
            states = model(**inputs, output_hidden_states=True).hidden_states
            torch.stack(states[-4:]).sum(0)
    return len(sentences) / (time.process_time() - start)


def ours(folder: Path, sentences: list[list[str]], **settings: str) -> tuple[float, float, list]:
    """Words per second, the share of time inside the network, and the vectors."""
    encoder = Encoder.load(folder, EncoderSettings(**settings))  # type: ignore[arg-type]
    model = encoder.model  # type: ignore[attr-defined]
    inside, hidden = 0.0, model.hidden

    def timed(*inputs):
        nonlocal inside
        start = time.thread_time()  # not that of the thread that cuts words into pieces meanwhile
        result = hidden(*inputs)
        inside += time.thread_time() - start
        return result

    model.hidden = timed
    start = time.process_time()
    vectors = [item.vectors for item in encoder.encode(sentences)]
    spent = time.process_time() - start
    return sum(map(len, sentences)) / spent, inside / spent, vectors


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("bitext", nargs="?", default=str(SHARED / "data/bitext/en-pt.tsv.xz"))
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--onnx", action="store_true", help="measure ONNX Runtime too")
    options = parser.parse_args()
    if not Path(options.bitext).exists():
        sys.exit(f"{options.bitext} is not here: give a bitext as argument")
    torch.set_num_threads(1)
    text = [pair.source for pair in islice(Bitext.read(options.bitext), VOCABULARY_FROM)]
    sentences = text[: options.sentences]
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TREEBRIDGE_CACHE"] = scratch
        folder = Path(scratch) / "bert"
        make_bert(folder, text)
        words, exact = compare_with_authors(folder, sentences)
        measure_store(folder, sentences)
        kinds = [("torch", "int8"), *([("onnx", "fp32"), ("onnx", "int8")] if options.onnx else [])]
        for backend, precision in kinds:
            speed, _, vectors = ours(folder, sentences, backend=backend, precision=precision)
            cosine = np.concatenate([(a * b).sum(1) for a, b in zip(exact, vectors, strict=True)])
            print(
                f"{backend} {precision}: {speed:.0f} words/s; ratio to torch fp32 "
                f"{speed / words:.2f}; cosine {cosine.mean():.4f}, worst {cosine.min():.4f}",
                flush=True,
            )


def compare_with_authors(folder: Path, sentences: list[list[str]]) -> tuple[float, list]:
    """Print ratios for all sentences and for long ones; our words per second, and the vectors."""
    sample = sentences[:AUTHORS_BATCH]  # whatever is in a batch costs the same: one tells
    authors = authors_sentences_per_second(folder, sample)
    long = [words for words in sentences if len(words) >= LONG][: len(sample)]
    for name, some in ((f"{LONG} words or more", long), ("all lengths", sentences)):
        mean = np.mean([len(words) for words in some])
        speed, inside, vectors = ours(folder, some)
        print(
            f"{name} ({mean:.1f} words on average): ours {speed:.0f} words/s, {inside:.1%} of the "
            f"time inside the network; authors' way {authors * mean:.0f} words/s; "
            f"ratio {speed / (authors * mean):.1f}",
            flush=True,
        )
    return speed, vectors


def measure_store(folder: Path, sentences: list[list[str]]) -> None:
    """Time to read a batch of about 5 000 words against a training step of a small BiLSTM on it."""

    class Ready(type(Encoder.load(folder))):  # type: ignore[misc]
        """Hands out random vectors at once."""

        def encode(self, sentences):
            from treebridge.encode.encoder import Encoded

            for words in sentences:
                shape = (len(words), self.dim)
                yield Encoded(np.random.rand(*shape).astype(np.float32), np.ones(len(words), bool))

    encoder = Encoder.load(folder)
    encoder.__class__ = Ready
    store = encode_into_store(encoder, sentences)
    per_batch = max(1, round(5000 / np.mean([len(s) for s in sentences])))
    order = np.random.default_rng(1).permutation(len(store))
    batches = [order[i : i + per_batch] for i in range(0, len(order), per_batch)][:5]
    start = time.process_time()
    for batch in batches:
        inputs = store.batch(batch)
    reading = (time.process_time() - start) / len(batches)
    lstm = torch.nn.LSTM(store.dim, 200, 3, bidirectional=True, batch_first=True)
    start = time.process_time()
    lstm(torch.from_numpy(inputs))[0].sum().backward()
    step = time.process_time() - start
    words = sum(len(store[index]) for index in batch)
    print(
        f"store: a batch of {words:,} words ({store.dim}-d) read in {1000 * reading:.0f} ms, "
        f"{reading / step:.1%} of a training step of a 3 × 200 BiLSTM ({step:.1f} s)",
        flush=True,
    )


if __name__ == "__main__":
    main()
