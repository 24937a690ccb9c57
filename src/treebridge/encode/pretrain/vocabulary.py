"""The WordPiece vocabulary of an encoder, as in BERT."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
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
ENOUGH = 400_000_000  # characters of text that suffice for a vocabulary
MAX_LETTERS = 1000  # distinct ones; rarer ones are unknown
LONGEST = 60  # letters; longer words are unknown


def train_vocabulary(read: Callable[[], Iterable[str]], size: int, *, cased: bool) -> Tokenizer:
    """Learn a vocabulary from text, which is read twice; accents are kept.

    The trainer numbers the letters inside words (`##a`) in the order of a randomly seeded hash and
    breaks ties between merges by these numbers, so every run would learn another vocabulary.
    Numbering the letters beforehand makes it deterministic.
    """
    tokenizer = _untrained({}, cased=cased)
    alphabet = _alphabet(_enough(read()), tokenizer)
    if not alphabet:
        raise TreebridgeError("found no text to learn a vocabulary from; choose other files")
    inside = [f"##{letter}" for letter in alphabet if _joins(letter, tokenizer)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=[*SPECIAL, *inside],  # with fixed numbers
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_enough(read()), trainer)
    tokenizer = _untrained(tokenizer.get_vocab(), cased=cased)  # ##a is no longer special
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _untrained(pieces: dict[str, int], *, cased: bool) -> Tokenizer:
    model = models.WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=LONGEST)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.BertNormalizer(lowercase=not cased, strip_accents=False)]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _alphabet(lines: Iterable[str], tokenizer: Tokenizer) -> list[str]:
    """The most frequent letters after normalization, sorted."""
    counts = np.zeros(sys.maxunicode + 1, np.int64)
    lines = iter(lines)
    while chunk := "\n".join(islice(lines, 4096)):
        composed = unicodedata.normalize("NFC", chunk).encode("utf-32-le", "surrogatepass")
        counts += np.bincount(np.frombuffer(composed, "<u4"), minlength=len(counts))
    letters: Counter[str] = Counter()
    for code in np.flatnonzero(counts).tolist():
        for letter in tokenizer.normalizer.normalize_str(chr(code)):
            if not letter.isspace():
                letters[letter] += int(counts[code])
    return sorted(sorted(letters, key=lambda letter: (-letters[letter], letter))[:MAX_LETTERS])


def _joins(letter: str, tokenizer: Tokenizer) -> bool:
    """Whether a letter can continue a word; punctuation and Chinese characters cannot."""
    word = tokenizer.normalizer.normalize_str(f"a{letter}a")
    return len(tokenizer.pre_tokenizer.pre_tokenize_str(word)) == 1


def _enough(lines: Iterable[str]) -> Iterator[str]:
    read = 0
    for line in lines:
        yield line
        read += len(line)
        if read > ENOUGH:
            return


def inside_words(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """Which pieces continue a word."""
    flags = np.zeros(tokenizer.get_vocab_size(), bool)
    for piece, index in tokenizer.get_vocab().items():
        flags[index] = piece.startswith("##")
    return flags


def save_tokenizer(tokenizer: Tokenizer, folder: Path, length: int) -> None:
    """Write tokenizer.json and the other files that `AutoTokenizer` needs."""
    from transformers import PreTrainedTokenizerFast

    names: dict[str, Any] = dict(zip(["pad", "unk", "cls", "sep", "mask"], SPECIAL, strict=True))
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        model_max_length=length,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **{f"{name}_token": token for name, token in names.items()},
    ).save_pretrained(str(folder))
