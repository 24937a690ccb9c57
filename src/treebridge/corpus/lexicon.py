"""A lexicon: what a speaker knows of words, one line each.

The columns are FORM, UPOS and, optionally, LEMMA, FEATS and DEPREL, separated by tabs; `_` leaves
one open. A line with these names may come first, and then they may be in any order. Several lines
with one form are a choice. A cell that starts with `#` begins a comment, and so does a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from treebridge.corpus.files import Source, name_of, read_lines
from treebridge.errors import TreebridgeError

UPOS = (
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)  # fmt: skip
COLUMNS = ("FORM", "UPOS", "LEMMA", "FEATS", "DEPREL")
OPEN = "_"
_FEATS = re.compile(r"[^=|\s]+=[^=|\s]+(\|[^=|\s]+=[^=|\s]+)*")
_DEPREL = re.compile(r"[a-z]+(:\S+)?")


class Entry(NamedTuple):
    """One line: a form, and what is known of it."""

    form: str
    upos: str = OPEN
    lemma: str = OPEN
    feats: str = OPEN
    deprel: str = OPEN
    line: int = 0  # of the file it was read from


class Lexicon:
    """Forms with their entries; a form that starts a sentence is also found in lower case.

    >>> Lexicon([Entry("se", "PRON")]).find("Se")
    [Entry(form='se', upos='PRON', lemma='_', feats='_', deprel='_', line=0)]
    """

    def __init__(self, entries: Iterable[Entry], name: str = "lexicon"):
        self.name = name
        self.entries: dict[str, list[Entry]] = {}
        for entry in entries:
            known = self.entries.setdefault(entry.form, [])
            if not any(entry[:5] == other[:5] for other in known):
                known.append(entry)

    @classmethod
    def read(cls, source: Source) -> Lexicon:
        """Read a file; a line that is not as it should be is an error."""
        found = cls(_read(read_lines(source), name_of(source)), name_of(source))
        if not found.entries:
            raise TreebridgeError(
                "found no words; expected lines like: casa<tab>NOUN", file=name_of(source)
            )
        return found

    def find(self, form: str) -> list[Entry]:
        """The entries of a form as written, otherwise of the form in lower case."""
        return self.entries.get(form) or self.entries.get(form.lower()) or []

    def __contains__(self, form: object) -> bool:
        return isinstance(form, str) and bool(self.find(form))

    def __iter__(self) -> Iterator[Entry]:
        for entries in self.entries.values():
            yield from entries

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"Lexicon({self.name}, {len(self)} forms)"

    def updated(self, other: Lexicon) -> Lexicon:
        """Both together; where both have a form, the other's entries replace ours."""
        kept = (entry for entry in self if entry.form not in other.entries)
        return Lexicon([*kept, *other], other.name)

    def to_tsv(self) -> str:
        """The lexicon as a file, with a header."""
        rows = ("\t".join(entry[:5]) for entry in self)
        return "\n".join(["\t".join(COLUMNS), *rows, ""])


def _read(lines: Iterable[tuple[int, str]], name: str) -> Iterator[Entry]:
    order: tuple[str, ...] = COLUMNS
    first = True
    for number, line in lines:
        cells = _cells(line)
        if not cells:
            continue
        header = tuple(cell.upper() for cell in cells)
        if first and {"FORM", "UPOS"} <= set(header):
            order, first = header, False
            if unknown := [cell for cell in header if cell not in COLUMNS]:
                raise TreebridgeError(
                    f"unknown column {unknown[0]}; use {', '.join(COLUMNS)}", file=name, line=number
                )
            continue
        first = False
        if problem := _problem(cells, order):
            raise TreebridgeError(problem, file=name, line=number)
        values: Mapping[str, str] = dict(zip(order, (cell or OPEN for cell in cells), strict=False))
        form, upos, lemma, feats, deprel = (values.get(column, OPEN) for column in COLUMNS)
        yield Entry(form, upos, lemma, feats, deprel, number)


def _cells(line: str) -> list[str]:
    """The cells of a line before a comment; the form may be # itself."""
    cells = [cell.strip() for cell in line.split("\t")]
    form_is_hash = cells[0] == "#" and len(cells) > 1 and cells[1] in (*UPOS, OPEN)
    for place, cell in enumerate(cells):
        if cell.startswith("#") and not (form_is_hash and place == 0):
            return cells[:place]
    return cells if any(cells) else []


def _problem(cells: list[str], order: tuple[str, ...]) -> str | None:
    """What is wrong with a line, in one sentence."""
    if len(cells) > len(order):
        return f"expected at most {len(order)} columns ({', '.join(order)}), found {len(cells)}"
    values = dict(zip(order, cells, strict=False))
    form, upos = values.get("FORM", ""), values.get("UPOS", "")
    feats, deprel = values.get("FEATS") or OPEN, values.get("DEPREL") or OPEN
    if not form or not upos:
        return "expected a form, a tab and its UPOS tag, like: casa<tab>NOUN"
    if upos not in (*UPOS, OPEN):
        return f"{upos!r} is not a UPOS tag; use one of {', '.join(UPOS)}"
    if feats != OPEN and not _FEATS.fullmatch(feats):
        return f"{feats!r} are not features; write them like Gender=Fem|Number=Sing"
    if deprel != OPEN and not _DEPREL.fullmatch(deprel):
        return f"{deprel!r} is not a label; write it like obl or nsubj:pass"
    return None
