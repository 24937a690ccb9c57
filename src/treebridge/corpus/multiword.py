"""Contractions: written words that stand for several syntactic words, such as pt *do* → *de o*.

A table has two columns: the written word and its syntactic words. `*` at the beginning matches two
or more letters (`*arse`, `*ar se`); a word that maps to itself is exempt from these patterns.
Matching ignores case; the case of the written word is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files

from treebridge.corpus.files import Source, name_of, read_lines
from treebridge.corpus.sentence import FORM, ID, MISC, Sentence
from treebridge.corpus.tokens import REMEMBERED_LENGTH
from treebridge.errors import TreebridgeError

MIN_STEM = 2  # letters that `*` must match
REMEMBERED = 1 << 17  # cached words


class Contractions:
    """A table of contractions.

    >>> Contractions({"do": ("de", "o"), "*-se": ("*", "se")}).split("Trata-se")
    ('Trata', 'se')
    """

    def __init__(self, table: dict[str, tuple[str, ...]]):
        self.table = table
        self.whole = {word: parts for word, parts in table.items() if word[0] != "*"}
        self.endings = {word[1:]: parts for word, parts in table.items() if word[0] == "*"}
        self.longest = max(map(len, self.endings), default=0)
        self._known: dict[str, tuple[str, ...]] = {}

    @classmethod
    def of(cls, language: str | None) -> Contractions | None:
        """Return the built-in table of a language; None if there is none."""
        if not language or not language.isalpha():
            return None
        table = files(__package__).joinpath("contractions", f"{language.lower()}.tsv")
        if not table.is_file():
            return None
        lines = table.read_text(encoding="utf-8").split("\n")
        return cls(_read(enumerate(lines, 1), table.name))

    @classmethod
    def read(cls, path: Source) -> Contractions:
        """Read a table from a file."""
        found = cls(_read(read_lines(path), name_of(path)))
        if not found.whole and not found.endings:
            raise TreebridgeError(
                "found no contractions; expected lines like: do<tab>de o", file=name_of(path)
            )
        return found

    def split(self, form: str) -> tuple[str, ...]:
        """Return the syntactic words of a written word, usually just one."""
        words = self._known.get(form)
        if words is None:
            words = self._split(form)
            if len(self._known) < REMEMBERED and len(form) <= REMEMBERED_LENGTH:
                self._known[form] = words
        return words

    def _split(self, form: str) -> tuple[str, ...]:
        key = form.lower()
        parts = self.whole.get(key)
        if parts is None:
            for size in range(min(self.longest, len(key) - MIN_STEM), 0, -1):
                if found := self.endings.get(key[-size:]):
                    first = found[0].replace("*", key[:-size])
                    parts = (first, *found[1:])
                    break
        if parts is None or len(parts) == 1:
            return (form,)
        if form.isupper() and len(form) > 1:
            return tuple(part.upper() for part in parts)
        if form[0].isupper():
            return (parts[0][:1].upper() + parts[0][1:], *parts[1:])
        return parts

    def expand(self, sentence: Sentence) -> Sentence:
        """Split the contractions of a sentence into multi-word tokens with ranges (`3-4`)."""
        parts = [self.split(form) for form in sentence.forms]
        if all(len(words) == 1 for words in parts):
            return sentence
        ids, forms, misc, positions = [], [], [], []
        number = 0
        for form, words, note in zip(sentence.forms, parts, sentence.column(MISC), strict=True):
            if len(words) > 1:  # MISC, with its white space, belongs to the written word
                ids.append(f"{number + 1}-{number + len(words)}")
                forms.append(form)
                misc.append(note)
                note = "_"
            for word in words:
                number += 1
                positions.append(len(ids))
                ids.append(str(number))
                forms.append(word)
                misc.append(note)
        lines = [("_",) * len(ids)] * 10
        lines[ID], lines[FORM], lines[MISC] = tuple(ids), tuple(forms), tuple(misc)
        return Sentence(lines, positions, (None,) * number, sentence.comments)


def _read(lines: Iterable[tuple[int, str]], name: str) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for number, line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        written, tab, words = line.partition("\t")
        parts = tuple(words.split())
        key = written.strip().lower()
        problem = None
        if not tab or not parts or not key or "\t" in words:
            problem = "expected a written word, a tab and its syntactic words, like: do<tab>de o"
        elif "*" in key[1:] or key == "*" or any("*" in part for part in parts[1:]):
            problem = "* is only allowed at the start of the written word and of the first word"
        elif (key[0] == "*") != parts[0].startswith("*"):
            problem = "* must be in both columns or in neither"
        elif table.get(key, parts) != parts:
            problem = f"{written.strip()!r} already has other syntactic words above"
        if problem:
            raise TreebridgeError(problem, file=name, line=number)
        table[key] = parts
    return table
