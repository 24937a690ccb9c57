"""Lemmas by edit scripts, chosen by form, tag and features with back-off; a matter of seconds.

Without anything to learn from, the lemma is the form in lower case; names, numbers and symbols
keep their case, as is the habit in Universal Dependencies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from treebridge.corpus.sentence import FEATS, LEMMA, Sentence
from treebridge.errors import TreebridgeError
from treebridge.parse.columns.scripts import CASES, LITERAL, Script, script
from treebridge.records import FIX
from treebridge.records import field as record_field

KEEP_CASE = frozenset({"PROPN", "NUM", "PUNCT", "SYM", "X"})
LONGEST = 5  # characters of an ending
ANY = "*"  # in a key: whatever the features are


class Example(NamedTuple):
    """A word of a tree or of a lexicon."""

    form: str
    upos: str
    feats: str
    lemma: str


def default_lemma(form: str, upos: str) -> str:
    """The lemma of a word of which nothing is known."""
    return form if upos in KEEP_CASE else form.lower()


def examples_of(trees: Iterable[Sentence]) -> Iterable[Example]:
    """The words of trees that have a lemma."""
    for tree in trees:
        columns = (tree.forms, tree.upos, tree.column(FEATS), tree.column(LEMMA))
        for form, upos, feats, lemma in zip(*columns, strict=True):
            if lemma != "_" or form == "_":
                yield Example(form, upos, feats, lemma)


@dataclass(frozen=True)
class Lemmatizer:
    """Whole words first, then the longest known ending; keys are `ending upos feats`."""

    words: Mapping[str, str] = field(default_factory=dict)  # key → lemma
    endings: Mapping[str, Script] = field(default_factory=dict)  # key → script

    @classmethod
    def learn(cls, examples: Iterable[Example]) -> Lemmatizer:
        """Learn from words with lemmas; what endings predict is not stored as a word."""
        seen = Counter(examples)
        by_ending: dict[str, Counter[Script]] = defaultdict(Counter)
        by_word: dict[str, Counter[str]] = defaultdict(Counter)
        for word, times in seen.items():
            made = script(word.form, word.lemma)
            for key in _word_keys(word.form, word.upos, word.feats):
                by_word[key][word.lemma] += times
            if made.case == LITERAL:
                continue
            for key in _ending_keys(word.form, word.upos, word.feats):
                by_ending[key][made] += 1  # types: a frequent word says no more of others
        rules = cls(endings={key: _most_common(scripts) for key, scripts in by_ending.items()})
        words: dict[str, str] = {}
        for word in seen:
            for key in reversed(list(_word_keys(word.form, word.upos, word.feats))):
                lemma = _most_common(by_word[key])
                if cls(words, rules.endings).lemma(word.form, word.upos, word.feats) != lemma:
                    words[key] = lemma
        return cls(words, rules._pruned())

    def lemma(self, form: str, upos: str, feats: str = "_") -> str:
        """The lemma of a form with this tag and these features."""
        for key in _word_keys(form, upos, feats):
            if key in self.words:
                return self.words[key]
        for key in _ending_keys(form, upos, feats):
            if key in self.endings and (lemma := self.endings[key].apply(form)) is not None:
                return lemma
        return default_lemma(form, upos)

    @property
    def is_taught(self) -> bool:
        """Whether it learned from words with lemmas, rather than from words that look alike."""
        return bool(self.endings) or any(not key.endswith(f" {ANY}") for key in self.words)

    def with_words(self, lemmas: Mapping[str, str]) -> Lemmatizer:
        """Add words that have one lemma whatever their tag; what is known stays."""
        return Lemmatizer({**{_key(form, ANY): x for form, x in lemmas.items()}, **self.words},
                          self.endings)  # fmt: skip

    def _pruned(self) -> dict[str, Script]:
        """The endings that differ from the next shorter one with the same tag and features."""
        kept = {}
        for key, made in self.endings.items():
            ending, upos, *feats = key.split(" ")
            shorter = _key(ending[1:], upos, *feats)
            if not ending or self.endings.get(shorter) != made:
                kept[key] = made
        return kept

    def config(self) -> dict[str, Any]:
        """As saved in JSON; each script is written once."""
        scripts = {made: number for number, made in enumerate(dict.fromkeys(self.endings.values()))}
        return {
            "words": dict(self.words),
            "scripts": [list(made) for made in scripts],
            "endings": {key: scripts[made] for key, made in self.endings.items()},
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], file: Any) -> Lemmatizer:
        """Restore what `config` gave."""
        words = record_field(config, "words", dict, file)
        scripts = record_field(config, "scripts", list, file)
        endings = record_field(config, "endings", dict, file)
        numbers = range(len(scripts))
        whole = all(map(_is_script, scripts)) and all(isinstance(x, str) for x in words.values())
        if not whole or any(type(x) is not int or x not in numbers for x in endings.values()):
            raise TreebridgeError(f"damaged: the edit scripts are invalid; {FIX}", file=file)
        made = [Script(*parts) for parts in scripts]
        return cls(words, {key: made[number] for key, number in endings.items()})


def _is_script(parts: Any) -> bool:
    whole = isinstance(parts, list) and len(parts) == len(Script._fields)
    return whole and all(isinstance(part, str) for part in parts) and parts[0] in (*CASES, LITERAL)


def _word_keys(form: str, upos: str, feats: str) -> Iterable[str]:
    yield _key(form, upos, feats)
    yield _key(form, upos)
    if upos not in KEEP_CASE and form != (lower := form.lower()):
        yield _key(lower, upos, feats)
        yield _key(lower, upos)
    yield _key(form, ANY)


def _ending_keys(form: str, upos: str, feats: str) -> Iterable[str]:
    """From the longest ending to none; with the features before without them."""
    lower = form.lower()
    for size in range(min(LONGEST, len(lower)), -1, -1):
        ending = lower[len(lower) - size :]
        yield _key(ending, upos, feats)
        if size:
            yield _key(ending, upos)


def _key(part: str, *of: str) -> str:
    return " ".join([part.replace(" ", "\u00a0"), *of])


def _most_common(counts: Counter[Any]) -> Any:
    """The most frequent item; of equally frequent ones the first in order, for stable bytes."""
    return min(counts, key=lambda item: (-counts[item], item))
