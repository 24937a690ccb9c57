"""Features of source words, projected over links to the words of target sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treebridge.corpus.bitext import Pair
from treebridge.corpus.feats import read_feats, write_feats
from treebridge.corpus.sentence import Sentence
from treebridge.encode.store import encode_into_store
from treebridge.parse.columns.classifiers import NOTHING, Classifiers
from treebridge.parse.columns.contrasts import ADDED, KEPT, UNKNOWN, Contrasts, with_agreement
from treebridge.parse.columns.learn import Lesson
from treebridge.parse.parser import Parser
from treebridge.parse.project.projection import LinkArray
from treebridge.progress import QUIET, Progress

MOST_PAIRS = 6000  # teach all that links can
AT_ONCE = 512


@dataclass(frozen=True)
class ProjectedColumns:
    """What links say of features, and of words that both languages have."""

    lesson: Lesson
    kept: dict[str, list[str]]  # tag → features that target forms show
    same: dict[str, int]  # words linked to a word of the same form, and how often


def project_columns(
    pairs: Sequence[tuple[Pair, LinkArray]],
    teacher: Parser,
    bridged: Parser,
    classifiers: Classifiers,
    progress: Progress = QUIET,
) -> ProjectedColumns:
    """Parse both sides and give target words the features of the words they are linked to.

    Words count if both sides have the same tag. A feature counts if target forms tell its values
    apart, whether it is the source word's own or that of a word that it could agree with.
    """
    pairs = pairs[:MOST_PAIRS]
    sources = _parsed(teacher, [pair.source for pair, _ in pairs], progress)
    targets = _parsed(bridged, [pair.target for pair, _ in pairs], progress)
    names = classifiers.features
    own, agreeing = Contrasts(), Contrasts()
    found: list[dict[int, tuple[str, dict[str, str], dict[str, str]]]] = []
    same: dict[str, int] = {}
    for (_, links), (source, _), (target, _) in zip(pairs, sources, targets, strict=True):
        agreed = with_agreement(source, {int(i) for i in links[:, 0]})
        here = {}
        for i, j in links.tolist():
            form, upos = target.forms[j], target.upos[j]
            if form == source.forms[i]:
                same[form] = same.get(form, 0) + 1
            if upos != source.upos[i]:
                continue
            feats = read_feats(source.feats[i])
            own.add(form, upos, feats, names)
            agreeing.add(form, upos, agreed[i], names)
            here[j] = (upos, feats, agreed[i])
        found.append(here)
    tags = sorted({upos for upos, _ in own.counts})
    both = {u: {n for n in names if agreeing.told(u, n) >= ADDED} for u in tags}
    alone = {u: {n for n in names if own.told(u, n) >= KEPT} - both[u] for u in tags}
    vectors, numbers, rows, forms = [], [], [], []
    for here, (target, words) in zip(found, targets, strict=True):
        if not here:
            continue
        new_feats, new_tags = [NOTHING] * len(target), [NOTHING] * len(target)
        unknown: list[tuple[int, str]] = []
        for j, (tag, plain, agreed_feats) in here.items():
            kept = {n: x for n, x in agreed_feats.items() if n in both[tag]}
            kept |= {n: x for n, x in plain.items() if n in alone[tag]}
            unknown += [(j, name) for name, value in kept.items() if value == UNKNOWN]
            new_feats[j], new_tags[j] = write_feats(kept), tag
        vectors.append(words)
        numbers.append(bridged.tags.numbers(target.upos))
        told = classifiers.targets(target.annotate(upos=new_tags, feats=new_feats), names)
        for j, name in unknown:
            told[j, classifiers.places[name]] = 0
        rows.append(told)
        forms.append(target.forms)
    kept_names = {tag: [n for n in names if n in both[tag] | alone[tag]] for tag in tags}
    return ProjectedColumns(Lesson(vectors, numbers, rows, forms), kept_names, same)


def _parsed(
    parser: Parser, sentences: Sequence[Sequence[str]], progress: Progress
) -> list[tuple[Sentence, np.ndarray]]:
    """Parsed sentences, and the vectors of their words in the parser's space, in fp16."""
    store = encode_into_store(parser.load_encoder(), list(sentences), progress=progress)
    into = parser.bridge.transform if parser.bridge else parser.space.transform
    out = []
    for start in range(0, len(store), AT_ONCE):
        here = range(start, min(start + AT_ONCE, len(store)))
        given = [Sentence.from_words(sentences[i]) for i in here]
        rows = [np.asarray(store[i], np.float32) for i in here]
        trees = parser.parse_vectors(given, rows)
        out += [
            (one.sentence, into(part).astype(np.float16))
            for one, part in zip(trees, rows, strict=True)
        ]
    return out
