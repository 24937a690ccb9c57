"""Edit scripts: how a form becomes its lemma, so that other forms can do likewise.

A script sets the case of a form, cuts something off either end and adds something there:
*Gemacht* → *machen* is lower case, −ge, −t, +en. Scripts invert: applied to the form that it was
made from, a script gives the lemma.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import SequenceMatcher
from typing import NamedTuple

LITERAL = "is"  # in place of a case: the lemma has nothing in common with the form
CASES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "keep": lambda form: form,
    "title": lambda form: form[:1].upper() + form[1:].lower(),
    "upper": str.upper,
}


class Script(NamedTuple):
    """One way to turn forms into lemmas."""

    case: str
    cut_start: str = ""
    add_start: str = ""
    cut_end: str = ""
    add_end: str = ""  # of a literal script: the lemma

    def apply(self, form: str) -> str | None:
        """The lemma, or None where the form lacks what is to be cut off."""
        if self.case == LITERAL:
            return self.add_end
        base = CASES[self.case](form)
        end = len(base) - len(self.cut_end)
        fits = base.startswith(self.cut_start) and base.endswith(self.cut_end)
        if not fits or end < len(self.cut_start):
            return None
        return self.add_start + base[len(self.cut_start) : end] + self.add_end or None

    @property
    def length(self) -> int:
        """How many characters it cuts and adds."""
        return sum(map(len, self[1:]))


def script(form: str, lemma: str) -> Script:
    """The shortest script from a form to its lemma; of equal ones, the first in CASES."""
    found = [_script(case, CASES[case](form), lemma) for case in CASES]
    return min(found, key=lambda made: (made.case == LITERAL, made.length))


def _script(case: str, base: str, lemma: str) -> Script:
    """Keep the longest part that both have in common."""
    if base == lemma:
        return Script(case)
    i, j, size = SequenceMatcher(None, base, lemma, autojunk=False).find_longest_match()
    if not size:
        return Script(LITERAL, add_end=lemma)
    return Script(case, base[:i], lemma[:j], base[i + size :], lemma[j + size :])
