"""Parse sentences whose words are encoded: the trees, columns and probabilities of a parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treebridge.corpus.sentence import Sentence
from treebridge.errors import TreebridgeError
from treebridge.onnx_session import side_by_side
from treebridge.parse.columns.fill import fill_columns
from treebridge.parse.given import Given
from treebridge.parse.lexical import BatchLimits, lexicon_limits
from treebridge.parse.padding import Indices, batches_by_length, pad_numbers, pad_vectors
from treebridge.parse.parsed import Floats, Parsed
from treebridge.parse.predict import annotated, predict
from treebridge.parse.ud_rules import Rules

if TYPE_CHECKING:
    from treebridge.parse.parser import Parser


def parse_vectors(
    parser: Parser,
    sentences: Sequence[Sentence],
    vectors: Sequence[Floats],
    *,
    retag: bool = False,
    keep_heads: bool = False,
    keep_tags: bool = False,
) -> list[Parsed]:
    """Parse in batches of similar length; what a sentence gets does not depend on the others."""
    if retag and keep_tags:
        raise TreebridgeError("tags can be kept or replaced, not both")
    told = keep_tags or parser.settings.tags == "gold"
    labels, upos = parser.labels, parser.tags
    rules = Rules.of(labels, upos)
    lengths = np.array([len(s) for s in sentences], np.int64)
    nothing = np.zeros(0, np.float32)
    out = [Parsed(s, nothing, nothing) for s in sentences]
    carry = parser.bridge.transform if parser.bridge else parser.space.transform
    heat = parser.temperatures

    def parse_batch(indices: Indices) -> None:
        rows = carry(np.concatenate([vectors[i] for i in indices]))
        ends = np.cumsum(lengths[indices])[:-1]
        padded = pad_vectors(np.split(rows, ends))
        some = [sentences[i] for i in indices]
        tags = [upos.numbers(s.upos) for s in some] if told else None
        known = pad_numbers(tags, padded.shape[:2])
        given = Given.of(some, labels, upos, keep_heads=keep_heads, keep_tags=told or not retag)
        limits = _limits(parser, some, padded.shape[1])
        forms = [s.forms for s in some]
        prior = parser.tag_prior.added(forms, padded.shape[1]) if parser.tag_prior else None
        found = predict(
            parser.model, padded, lengths[indices], known, rules, given, heat, limits, prior
        )
        trees = [
            annotated(sentence, found, row, labels, upos, retag=retag, relabel=not keep_heads)
            for row, sentence in enumerate(some)
        ]
        if parser.columns or parser.lexicon or parser.writes or retag:
            trees = fill_columns(
                trees, some, np.split(rows, ends), parser.columns, parser.lexicon, upos,
                wanted=parser.writes, retag=retag,
            )  # fmt: skip
        for row, index in enumerate(indices):
            n = lengths[index]
            out[index] = Parsed(
                trees[row],
                found.arc_probabilities[row, :n],
                found.label_probabilities[row, :n],
                None if found.tag_probabilities is None else found.tag_probabilities[row, :n],
            )

    plan = batches_by_length(lengths, parser.model.batch_words)
    for _ in side_by_side(parse_batch, plan, parser.model.at_once):
        pass
    return out


def check_tags(parser: Parser, sentences: Sequence[Sentence], before: int) -> None:
    """Refuse words without tags if the parser needs them; `before` counts earlier sentences."""
    if parser.settings.tags != "gold":
        return
    for number, sentence in enumerate(sentences, before + 1):
        if "_" in sentence.upos:
            raise TreebridgeError(
                f"sentence {number} has words without UPOS, and this parser was trained with "
                "gold tags; tag the text first, or train with predicted tags"
            )


def _limits(parser: Parser, sentences: Sequence[Sentence], longest: int) -> BatchLimits | None:
    """What the lexicon allows the words of a batch."""
    if parser.lexicon is None:
        return None
    limits = lexicon_limits(parser.lexicon, parser.tags, parser.labels)
    return limits.batch([sentence.forms for sentence in sentences], longest)
