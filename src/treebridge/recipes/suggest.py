"""Suggest words for a lexicon: those whose tags a speaker should confirm first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.files import Source
from treebridge.corpus.input import Reading, is_text, text_source
from treebridge.corpus.punctuation import is_only_punctuation
from treebridge.corpus.sentence import Sentence
from treebridge.errors import TreebridgeError
from treebridge.parse.parsed import Parsed
from treebridge.parse.parser import Parser
from treebridge.progress import QUIET, Progress
from treebridge.recipes.parse import parse_files

SHOWN = 3  # tags of a word whose probabilities are shown
LEAST = 0.02  # probability of a tag that is shown
EXAMPLE = 60  # characters


class Suggestion(NamedTuple):
    """A form that is frequent and unsure, and the model's guesses."""

    form: str
    upos: str  # the likeliest tag over all occurrences
    tags: dict[str, float]  # tag → mean probability, the likeliest first
    times: int
    wrong: float  # expected number of occurrences with a wrong tag
    lemma: str
    feats: str
    example: str


@dataclass
class _Seen:
    """The occurrences of a form."""

    tags: NDArray[np.float64] | float = 0.0  # sum of distributions
    times: int = 0
    columns: Counter[tuple[str, str]] = field(default_factory=Counter)  # lemma and features
    example: tuple[float, str] = (2.0, "")  # the probability of its tag, and the least sure context


def suggest(
    parser: Parser,
    files: Sequence[Source],
    number: int = 50,
    *,
    reading: Reading | None = None,
    progress: Progress = QUIET,
) -> list[Suggestion]:
    """Parse texts and return the forms whose confirmation would help most, the best first.

    `files` are files of text or CoNLL-U, or texts of several words.
    """
    if parser.settings.tags != "predicted":
        raise TreebridgeError("suggesting words needs a model that predicts tags")
    sources = [text_source(x) if isinstance(x, str) and is_text(x) else x for x in files]
    parsed = parse_files(parser, sources, reading, progress=progress)
    found = suggest_from(parser, parsed, number)
    if not found:
        raise TreebridgeError("no words to suggest; give text, or more of it")
    return found


def suggest_from(parser: Parser, parsed: Iterable[Parsed], number: int = 50) -> list[Suggestion]:
    """The same from sentences that were parsed already."""
    seen: dict[str, _Seen] = defaultdict(_Seen)
    first: dict[str, _Seen] = defaultdict(_Seen)  # words of sentences, which have a capital
    for one in parsed:
        if one.tags is not None:
            _count(one, parser, seen, first)
    for form, words in first.items():
        is_name = form in seen and form.lower() not in seen
        _merge(seen[form if is_name else form.lower()], words)
    made = [_suggestion(form, words, parser) for form, words in seen.items()]
    made.sort(key=lambda one: (-one.wrong, -one.times, one.form))
    return made[:number]


def _count(one: Parsed, parser: Parser, seen: dict[str, _Seen], first: dict[str, _Seen]) -> None:
    assert one.tags is not None
    sentence = one.sentence
    columns = zip(sentence.forms, sentence.lemmas, sentence.feats, one.tags, strict=True)
    for place, (form, lemma, feats, tags) in enumerate(columns):
        known = parser.lexicon is not None and form in parser.lexicon
        if known or is_only_punctuation(form) or not any(c.isalpha() for c in form):
            continue
        words = seen[form] if place else first[form]
        words.tags = words.tags + tags.astype(np.float64)
        words.times += 1
        words.columns[lemma, feats] += 1
        sure = float(tags.max())
        if sure < words.example[0]:
            words.example = (sure, _context(sentence, place))


def _merge(into: _Seen, other: _Seen) -> None:
    into.tags = into.tags + other.tags
    into.times += other.times
    into.columns += other.columns
    into.example = min(into.example, other.example)


def _suggestion(form: str, words: _Seen, parser: Parser) -> Suggestion:
    mean = np.asarray(words.tags) / words.times
    order = np.argsort(-mean, kind="stable")[:SHOWN]
    tags = {parser.tags[i]: float(mean[i]) for i in order.tolist() if mean[i] >= LEAST}
    wrong = words.times * (1 - float(mean.max()))
    lemma, feats = words.columns.most_common(1)[0][0]
    best = parser.tags[int(order[0])]
    return Suggestion(form, best, tags, words.times, wrong, lemma, feats, words.example[1])


def _context(sentence: Sentence, place: int) -> str:
    """The words around one, which is in brackets."""
    forms = [f"[{form}]" if i == place else form for i, form in enumerate(sentence.forms)]
    first = max(0, place - 4)
    text = " ".join(forms[first : place + 5])
    before, after = "… " if first else "", " …" if place + 5 < len(forms) else ""
    return f"{before}{text}{after}".replace("\t", " ")


def suggestions_tsv(found: Sequence[Suggestion]) -> str:
    """The suggestions as a lexicon; guesses of the model are comments."""
    header = "FORM UPOS LEMMA FEATS".split()
    notes = ["# tags", "# times", "# lemma", "# features", "# in the text"]
    lines = ["\t".join([*header, *notes])]
    for one in found:
        tags = " ".join(f"{tag} {probability:.2f}" for tag, probability in one.tags.items())
        guesses = [tags, f"{one.times}", one.lemma, one.feats, one.example]
        lines.append("\t".join([one.form, one.upos, "_", "_", *(f"# {x}" for x in guesses)]))
    return "\n".join([*lines, ""])
