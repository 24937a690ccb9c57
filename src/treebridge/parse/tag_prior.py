"""What the form of a word says of its tag, whatever the sentence: p(tag | form) / p(tag).

A tagger over vectors hardly sees capitals and endings, and errs differently on each occurrence of a
word. So its own tags are averaged over many sentences, for each word, for words with the same
ending, and for words that look alike (capitals, digits). If context and form say different things
about a word, p(tag | context) · p(tag | form) / p(tag) joins them; the logarithm of the ratio is
added to the tagger's scores. Trees of one's own overrule the average for the words in them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treebridge.artefact import read_tensors, write_tensors
from treebridge.corpus.sentence import Sentence
from treebridge.records import names, read_record

Floats = NDArray[np.float32]
Distributions = tuple[Sequence[str], NDArray[np.floating]]  # words, probabilities [n, tags]
FILE, TENSORS = "tag-prior.json", "tag-prior.safetensors"
ENDING = 3  # characters
SMOOTHING = 3.0  # how many words the next wider group of words counts for
LEAST = 3  # occurrences of a word or an ending
MOST = 12_000  # keys
SMALL = 1e-4  # no tag is impossible


def keys_of(forms: Sequence[str]) -> list[tuple[str, str, str]]:
    """The groups of each word of a sentence, from wide to narrow: look, ending, word.

    The first word of a sentence may have a capital for that alone.
    """
    found, first = [], True
    for form in forms:
        lower = form.lower()
        look = ("^" if first else " ") + _look(form[:1])
        word = lower if first else form
        found.append((f"0{look}", f"1{look}{lower[-ENDING:]}", f"2{look}{word}"))
        first = first and not any(map(str.isalnum, form))
    return found


def _look(letter: str) -> str:
    if letter.isalpha():
        return "a" if letter == letter.lower() else "A"
    return "0" if letter.isdigit() else "."


def _width(key: str) -> str:
    return key[0]


@dataclass(frozen=True)
class TagPrior:
    """Probabilities of tags for groups of words; the last row is for all words."""

    keys: dict[str, int]
    table: NDArray[np.float16]  # [keys + 1, tags]

    @classmethod
    def of(cls, tagged: Iterable[Distributions], tags: int) -> TagPrior:
        """Average the tags that a parser gave to the words of many sentences."""
        counts, wider = _counts(tagged, tags)
        shapes = [row for key, row in counts.items() if key not in wider]
        every = sum(shapes, np.full(tags, SMALL))
        frequent = sorted(counts, key=lambda key: (-counts[key].sum(), key))[:MOST]
        rows: dict[str, NDArray[np.float64]] = {"": every / every.sum()}
        # A group is at least as frequent as those in it, so the wider one is never left out.
        for key in sorted(frequent, key=_width):
            if key not in wider or counts[key].sum() >= LEAST:
                rows[key] = _smoothed(counts[key], rows[wider.get(key, "")])
        return cls._from_rows(rows)

    def updated(self, trees: Iterable[Sentence], tags: Sequence[str]) -> TagPrior:
        """Learn from trees: what they say of a group of words overrules what was averaged."""
        numbers = {name: number for number, name in enumerate(tags)}
        told = ((tree.forms, _one_hot(tree.upos, numbers)) for tree in trees)
        counts, wider = _counts(told, len(tags))
        rows = {key: self.table[row].astype(np.float64) for key, row in self.keys.items()}
        rows[""] = self.table[-1].astype(np.float64)
        for key in sorted(counts, key=_width):
            rows[key] = _smoothed(counts[key], rows.get(key, rows[wider.get(key, "")]))
        return self._from_rows(rows)

    @classmethod
    def _from_rows(cls, rows: dict[str, NDArray[np.float64]]) -> TagPrior:
        keys = [key for key in rows if key]
        table = np.stack([rows[key] for key in [*keys, ""]]).astype(np.float16)
        return cls({key: number for number, key in enumerate(keys)}, table)

    @cached_property
    def ratios(self) -> Floats:
        """Logarithms of p(tag | group) / p(tag), and of 1 for words of no group."""
        logs = np.log(np.maximum(self.table.astype(np.float32), SMALL))
        return np.asarray(logs - logs[-1], np.float32)

    def added(self, sentences: Sequence[Sequence[str]], longest: int) -> Floats:
        """What to add to the scores of tags of padded sentences: [batch, longest, tags]."""
        out = np.zeros((len(sentences), longest, self.table.shape[1]), np.float32)
        for row, forms in zip(out, sentences, strict=True):
            row[: len(forms)] = self.ratios[[self._row(keys) for keys in keys_of(forms)]]
        return out

    def _row(self, keys: Sequence[str]) -> int:
        """The row of the narrowest group that is known."""
        return next((self.keys[key] for key in reversed(keys) if key in self.keys), -1)

    def save(self, folder: Path) -> None:
        """Write it into a parser's folder."""
        text = json.dumps({"keys": list(self.keys)}, ensure_ascii=False, separators=(",", ":"))
        (folder / FILE).write_text(text + "\n", encoding="utf-8")
        write_tensors(folder / TENSORS, {"table": self.table})

    @classmethod
    def load(cls, folder: Path, tags: int) -> TagPrior | None:
        """Read it; None if the parser has none."""
        path = folder / FILE
        if not path.exists():
            return None
        keys = names(read_record(path), "keys", path)
        table = read_tensors(folder / TENSORS, {"table": (len(keys) + 1, tags)})["table"]
        return cls({key: number for number, key in enumerate(keys)}, table.astype(np.float16))


def _counts(
    tagged: Iterable[Distributions], tags: int
) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    """Sums of probabilities by group, and the next wider group of each but the widest."""
    counts: dict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros(tags))
    wider: dict[str, str] = {}
    for forms, rows in tagged:
        for (look, ending, word), row in zip(keys_of(forms), rows, strict=True):
            if not row.any():
                continue
            for key in (look, ending, word):
                counts[key] += row
            wider[ending], wider[word] = look, ending
    return counts, wider


def _smoothed(counts: NDArray[np.float64], wider: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((counts + SMOOTHING * wider) / (counts.sum() + SMOOTHING))


def _one_hot(upos: Sequence[str], numbers: dict[str, int]) -> NDArray[np.float64]:
    rows = np.zeros((len(upos), len(numbers)))
    for row, tag in zip(rows, upos, strict=True):
        if tag in numbers:
            row[numbers[tag]] = 1
    return rows
