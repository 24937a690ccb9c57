"""Write XPOS, FEATS and LEMMA into parsed sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.feats import NONE, read_feats
from treebridge.corpus.lexicon import OPEN, Entry, Lexicon
from treebridge.corpus.sentence import Sentence
from treebridge.parse.columns.classifiers import NOTHING, Classifiers
from treebridge.parse.columns.columns import TREES, Columns
from treebridge.parse.padding import Rows
from treebridge.parse.vocab import Names


def fill_columns(
    parsed: Sequence[Sentence],
    given: Sequence[Sentence],
    rows: Sequence[Rows],
    columns: Columns | None,
    lexicon: Lexicon | None,
    tags: Names,
    *,
    wanted: Collection[str] | None = None,
    retag: bool = False,
) -> list[Sentence]:
    """Annotate parsed sentences with the further columns; what is given in the input stays.

    `rows` are the vectors of their words in the parser's space. With `retag`, columns of the input
    are replaced, by `_` where the parser does not predict them. `wanted` are the columns to write.
    """
    columns = columns or Columns()
    scores: NDArray[np.float32] | None = None
    if columns.heads and sum(map(len, rows)):
        numbers = [tags.numbers(s.upos) for s in parsed]
        scores = columns.heads.scores(rows, numbers, [s.forms for s in parsed])
    out, start = [], 0
    for sentence, source in zip(parsed, given, strict=True):
        part = None if scores is None else scores[start : start + len(sentence)]
        start += len(sentence)
        out.append(_filled(sentence, source, columns, part, lexicon, wanted, retag=retag))
    return out


def _filled(
    sentence: Sentence,
    source: Sentence,
    columns: Columns,
    scores: NDArray[np.float32] | None,
    lexicon: Lexicon | None,
    wanted: Collection[str] | None,
    *,
    retag: bool,
) -> Sentence:
    known = columns.heads.classifiers if columns.heads else Classifiers({})
    found: dict[str, list[str]] = {"xpos": [], "feats": [], "lemma": []}
    for index, (form, upos) in enumerate(zip(sentence.forms, sentence.upos, strict=True)):
        row = None
        if scores is not None:
            row = columns.verb_forms.settled(scores[index], upos, known)
        xpos, feats = known.read(row) if row is not None else (NOTHING, NONE)
        if upos == "PUNCT" and columns.origin != TREES:
            feats = NONE  # only trees of the language can say otherwise
        entry = _entry(lexicon, form, upos, known, row)
        if entry and entry.feats != OPEN:
            feats = entry.feats
        lemma = NOTHING
        if entry and entry.lemma != OPEN:
            lemma = entry.lemma
        elif columns.lemmatizer:
            lemma = columns.lemmatizer.lemma(form, upos, feats)
        for name, value in (("xpos", xpos), ("feats", feats), ("lemma", lemma)):
            found[name].append(value)
    new = {}
    for name, values in found.items():
        if wanted is not None and name not in wanted:
            continue
        old = {"xpos": source.xpos, "feats": source.feats, "lemma": source.lemmas}[name]
        pairs = zip(old, values, strict=True)
        new[name] = values if retag else [o if o != NOTHING else v for o, v in pairs]
    given = source.upos if wanted is not None and "upos" not in wanted else None
    return sentence.annotate(
        upos=given, xpos=new.get("xpos"), feats=new.get("feats"), lemmas=new.get("lemma")
    )


def _entry(
    lexicon: Lexicon | None,
    form: str,
    upos: str,
    known: Classifiers,
    scores: NDArray[np.float32] | None,
) -> Entry | None:
    """The entry of a form with this tag; of several, that with the likeliest features."""
    entries = [e for e in lexicon.find(form) if e.upos in (upos, OPEN)] if lexicon else []
    if len(entries) < 2 or scores is None:
        return entries[0] if entries else None
    return max(entries, key=lambda entry: _likelihood(entry.feats, known, scores))


def _likelihood(feats: str, known: Classifiers, scores: NDArray[np.float32]) -> float:
    """The sum of the scores of these features, against the best of each classifier."""
    given, total = read_feats(feats), 0.0
    for name in known.features:
        part, value = scores[known.places[name]], given.get(name, NOTHING)
        if value in known.values[name]:
            total += float(part[known.values[name].index(value)] - part.max())
    return total
