"""The pieces of an encoder: WordPiece, as BERT has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from treebridge.errors import TreebridgeError

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PAD, UNK, CLS, SEP, MASK = range(5)
ENOUGH = 400_000_000  # characters of text that settle a vocabulary
LONGEST = 60  # letters in a word that is cut into pieces at all


def train_vocabulary(lines: Iterable[str], size: int, *, cased: bool) -> Tokenizer:
    """Learn pieces from text; accents stay, because languages mean something by them."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=LONGEST))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.BertNormalizer(lowercase=not cased, strip_accents=False)]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=SPECIAL, show_progress=False, limit_alphabet=1000
    )
    tokenizer.train_from_iterator(_enough(lines), trainer)
    if tokenizer.get_vocab_size() <= len(SPECIAL):
        raise TreebridgeError("there is no text to learn a vocabulary from; give other files")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _enough(lines: Iterable[str]) -> Iterator[str]:
    read = 0
    for line in lines:
        yield line
        read += len(line)
        if read > ENOUGH:
            return


def inside_words(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """Which pieces go on with a word that began before them."""
    flags = np.zeros(tokenizer.get_vocab_size(), bool)
    for piece, index in tokenizer.get_vocab().items():
        flags[index] = piece.startswith("##")
    return flags


def save_tokenizer(tokenizer: Tokenizer, folder: Path, length: int) -> None:
    """Write tokenizer.json and what `AutoTokenizer` needs beside it."""
    from transformers import PreTrainedTokenizerFast

    names: dict[str, Any] = dict(zip(["pad", "unk", "cls", "sep", "mask"], SPECIAL, strict=True))
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        model_max_length=length,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **{f"{name}_token": token for name, token in names.items()},
    ).save_pretrained(str(folder))
