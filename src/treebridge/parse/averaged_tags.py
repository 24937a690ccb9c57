"""A parser's own tags for many sentences, averaged by the forms of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from treebridge.corpus.sentence import Sentence
from treebridge.encode.store import encode_into_store
from treebridge.parse.distributions import distributions
from treebridge.parse.parser import Parser
from treebridge.parse.tag_prior import Distributions, TagPrior
from treebridge.progress import QUIET, Progress

ENOUGH = 6000  # sentences
AT_ONCE = 512


def with_tag_prior(
    parser: Parser,
    sentences: Sequence[Sequence[str]] = (),
    trees: Sequence[Sentence] = (),
    progress: Progress = QUIET,
) -> Parser:
    """The parser with what forms say of tags: averaged over sentences, then as in the trees.

    Without sentences there is nothing to average: an old prior is kept, and the trees change it.
    """
    if parser.settings.tags != "predicted":
        return parser
    prior = parser.tag_prior
    if sentences:
        prior = TagPrior.of(_tagged(parser, sentences[:ENOUGH], progress), len(parser.tags))
    if prior and trees:
        prior = prior.updated(trees, parser.tags)
    return replace(parser, tag_prior=prior)


def _tagged(
    parser: Parser, sentences: Sequence[Sequence[str]], progress: Progress
) -> Iterator[Distributions]:
    store = encode_into_store(parser.load_encoder(), list(sentences), progress=progress)
    into = parser.bridge.transform if parser.bridge else parser.space.transform
    for start in range(0, len(store), AT_ONCE):
        here = range(start, min(start + AT_ONCE, len(store)))
        rows = [into(store[i]).astype(np.float16) for i in here]
        for index, found in distributions(parser.biaffine, rows, None, parser.device):
            yield sentences[start + index], found.tags
