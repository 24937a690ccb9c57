"""The licence of a treebank, as the files beside it say."""

from __future__ import annotations

import re
from pathlib import Path

_FILES = ("README.md", "README.txt", "LICENSE.txt", "LICENSE", "LICENCE.txt")
_START = 4000  # characters; the name of a licence is at the beginning
_META = re.compile(r"(?im)^licen[sc]e:\s*(\S.*?)\s*$")  # in the README of a UD treebank
_ADDRESS = re.compile(r"(?i)creativecommons\.org/licenses/([a-z-]+)/([0-9.]+)")
_WORDS = re.compile(
    r"(?i)attribution((?:[- ](?:noncommercial|sharealike|noderiv\w*))*)[^0-9\n]{0,20}([0-9]\.[0-9])"
)
_GNU = re.compile(r"(?i)gnu (lesser )?general public license\s+version (\d)")
_SHORT = {"noncommercial": "NC", "sharealike": "SA", "noderiv": "ND"}


def licence_of(treebank: str | Path) -> str | None:
    """The licence named by the README or LICENSE file in a treebank's folder, if any is."""
    folder = Path(treebank).absolute().parent
    for name in _FILES:
        try:
            with (folder / name).open(encoding="utf-8", errors="replace") as stream:
                found = licence_in(stream.read(_START))
        except OSError:
            continue
        if found:
            return found
    return None


def licence_in(text: str) -> str | None:
    """The short name of the licence that a text names: `CC BY-SA 4.0`."""
    if found := _META.search(text):
        return found[1]
    if found := _GNU.search(text):
        return f"{'LGPL' if found[1] else 'GPL'} {found[2]}"
    if found := _ADDRESS.search(text):
        return f"CC {found[1].upper()} {found[2].rstrip('.')}"
    if found := _WORDS.search(text):
        terms = re.findall(r"[a-z]+", found[1].lower())
        short = [next(s for word, s in _SHORT.items() if term.startswith(word)) for term in terms]
        return f"CC {'-'.join(['BY', *short])} {found[2]}"
    return None
