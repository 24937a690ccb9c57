"""Streaming, strict CoNLL-U reader and writer; a round trip preserves every byte."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, overload

from treebridge.corpus.files import Source, name_of, read_text, write_text
from treebridge.corpus.sentence import (
    COLUMNS,
    DEPREL,
    DEPS,
    FEATS,
    HEAD,
    ID,
    UPOS,
    XPOS,
    Sentence,
)
from treebridge.corpus.trees import given_heads, partial_problem, tree_problem
from treebridge.errors import TreebridgeError

Trees = Literal["free", "checked", "partial", "required"]
MAX_SENTENCE = 1 << 22  # characters; a longer block is not CoNLL-U
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY = re.compile(r"(0|[1-9][0-9]*)\.([1-9][0-9]*)")
# Columns in which CoNLL-U allows no white space; ID and HEAD are checked as numbers.
_NAMES = (UPOS, XPOS, FEATS, DEPREL, DEPS)
JOINERS = "\u200c\u200d"  # in the Persian and Indic words of enhanced dependencies


class _Problem(Exception):
    """A problem in a line of the current block."""

    def __init__(self, line: int, message: str):
        self.line = line  # 0 is the block's first line
        self.message = message


class _Heads(dict[str, int | None]):
    """Parsed HEAD cells; the common ones cost one look-up."""

    def __missing__(self, cell: str) -> int:
        if not _NUMBER.fullmatch(cell):
            raise ValueError(cell)
        return int(cell)


_IDS = tuple(str(i) for i in range(1, 513))
_HEADS = _Heads({"_": None, "0": 0, **{cell: int(cell) for cell in _IDS}})


def read_conllu(
    source: Source,
    *,
    trees: Trees = "free",
    on_problem: Callable[[TreebridgeError], None] | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of a path, `-` (standard input) or binary stream, plain or compressed.

    Heads and tags may be `_`. With `trees="required"` every sentence must be a tree with one root,
    with "checked" every sentence whose heads are all given; with "partial" the heads that are given
    must be part of such a tree. A malformed sentence raises an error with file and line, or is
    passed to `on_problem` and skipped.
    """
    name = name_of(source)
    for number, block in _blocks(source, name):
        try:
            sentence, first_word = _parse(block)
            if trees == "required" or (trees == "checked" and None not in sentence.heads):
                _check_tree(sentence, first_word, tree_problem(sentence.heads))
            elif trees == "partial":
                _check_tree(sentence, first_word, partial_problem(given_heads(sentence)))
        except _Problem as problem:
            error = TreebridgeError(problem.message, file=name, line=number + problem.line)
            if on_problem is None:
                raise error from None
            on_problem(error)
        else:
            yield sentence


def _check_tree(sentence: Sentence, first_word: int, problem: tuple[int, str] | None) -> None:
    if not len(sentence):
        raise _Problem(first_word - 1, "comments without words; a sentence needs at least one word")
    if problem:
        raise _Problem(first_word + sentence.positions[problem[0]], problem[1])


def _blocks(source: Source, name: str) -> Iterator[tuple[int, str]]:
    """Yield (first line number, text) of each block between blank lines."""
    number, rest = 1, ""
    for _, text in read_text(source):
        # Lines of only white space count as blank.
        if "\n " in text or "\n\t" in text or text[0] in " \t":
            text = re.sub(r"(?m)^[ \t]+$", "", text)
        *whole, rest = (rest + text).split("\n\n")
        for block in whole:
            body = block.lstrip("\n")
            if body:
                yield number + len(block) - len(body), body
            number += block.count("\n") + 2
        if len(rest) > MAX_SENTENCE:
            raise TreebridgeError(
                f"no blank line in {MAX_SENTENCE} characters; is this CoNLL-U?",
                file=name,
                line=number,
            )
    body = rest.strip("\n")
    if body:
        yield number + len(rest) - len(rest.lstrip("\n")), body


def _parse(block: str) -> tuple[Sentence, int]:
    """Return the sentence of a block and the number of comment lines above its words."""
    lines, first = block.split("\n"), 0
    while first < len(lines) and lines[first].startswith("#"):
        first += 1
    comments, lines = lines[:first], lines[first:]
    if not lines:
        return Sentence(((),) * 10, (), (), comments), first
    try:
        columns = tuple(zip(*[line.split("\t") for line in lines], strict=True))
    except ValueError:
        columns = ()
    if len(columns) != 10:
        raise _wrong_columns(lines, first)
    _check_cells(block, columns, first)
    positions: Sequence[int] = range(len(lines))
    cells = columns[HEAD]
    if columns[ID] != _IDS[: len(lines)]:
        positions = _word_lines(columns[ID], first)
        cells = tuple(cells[i] for i in positions)
    return Sentence(columns, positions, _heads(cells, positions, first), comments), first


def _check_cells(block: str, columns: Sequence[tuple[str, ...]], first: int) -> None:
    """Refuse empty cells, and white space or invisible characters in columns without them."""
    if "\t\t" in block or "\t\n" in block or block[-1] == "\t":  # may also be in a comment
        for name, cells in zip(COLUMNS, columns, strict=True):
            if "" in cells:
                raise _Problem(first + cells.index(""), f"{name} is empty; write _ for no value")
    together = "".join(["".join(columns[index]) for index in _NAMES])
    if together.isprintable() and " " not in together:
        return
    for index in _NAMES:
        for line, cell in enumerate(columns[index]):
            for char in cell:
                if char == " " or not (char.isprintable() or char in JOINERS):
                    message = f"{COLUMNS[index]} has the character U+{ord(char):04X}; remove it"
                    raise _Problem(first + line, message)


def _heads(cells: Sequence[str], positions: Sequence[int], first: int) -> tuple[int | None, ...]:
    try:
        heads = tuple(map(_HEADS.__getitem__, cells))
    except ValueError as error:
        cell = str(error.args[0])
        message = f"HEAD {cell!r} is not a number from 0 to {len(cells)} (or _)"
        raise _Problem(first + positions[cells.index(cell)], message) from None
    n = len(heads)
    for index, head in enumerate(heads):
        if head is not None and head > n:
            message = f"HEAD {head} is out of range: the sentence has {n} words"
            raise _Problem(first + positions[index], message)
    return heads


def _word_lines(ids: Sequence[str], first: int) -> list[int]:
    """Find the lines of syntactic words among multi-word tokens and empty nodes."""
    positions: list[int] = []
    seen: set[str] = set()
    covered = 0  # the last word inside a multi-word token
    for line, cell in enumerate(ids):
        expected = len(positions) + 1
        if cell == str(expected):
            positions.append(line)
        elif cell in seen:
            raise _Problem(first + line, f"ID {cell} occurs twice in the sentence")
        elif match := _RANGE.fullmatch(cell):
            start, end = int(match[1]), int(match[2])
            if start != expected or end <= start or start <= covered:
                message = f"multi-word token {cell} must come right before its first word"
                raise _Problem(first + line, message)
            covered = end
        elif match := _EMPTY.fullmatch(cell):
            previous = f"{match[1]}.{int(match[2]) - 1}"
            if int(match[1]) != expected - 1 or (match[2] != "1" and previous not in seen):
                message = f"empty node {cell} is out of place after word {expected - 1}"
                raise _Problem(first + line, message)
        elif _NUMBER.fullmatch(cell):
            raise _Problem(first + line, f"expected ID {expected}, found {cell}")
        else:
            message = f"ID {cell!r} is not a number, a range (3-4) or an empty node (5.1)"
            raise _Problem(first + line, message)
        seen.add(cell)
    if covered > len(positions):
        message = f"a multi-word token ends at {covered}: the sentence has {len(positions)} words"
        raise _Problem(first + len(ids) - 1, message)
    return positions


def _wrong_columns(lines: list[str], first: int) -> _Problem:
    """Describe the first line that does not have ten columns."""
    for index, line in enumerate(lines):
        count = line.count("\t") + 1
        if line.startswith("#"):
            return _Problem(first + index, "a comment between words; move it above the sentence")
        if count != 10:
            hint = "; columns are separated by tabs, not spaces" if count == 1 else ""
            return _Problem(first + index, f"expected 10 columns, found {count}{hint}")
    raise AssertionError("every line has ten columns")


def write_conllu(sentences: Iterable[Sentence], path: str | Path) -> None:
    """Write a CoNLL-U file atomically."""
    with write_text(path) as stream:
        stream.writelines(sentence.to_conllu() for sentence in sentences)


class Treebank(Sequence[Sentence]):
    """Sentences with trees, in memory."""

    def __init__(self, sentences: Iterable[Sentence]):
        self.sentences = list(sentences)

    @classmethod
    def read(cls, source: Source, *, trees: bool = True) -> Treebank:
        """Read a CoNLL-U file; every sentence must be a tree unless `trees` is false."""
        return cls(read_conllu(source, trees="required" if trees else "free"))

    def write(self, path: str | Path) -> None:
        """Write a CoNLL-U file atomically."""
        write_conllu(self.sentences, path)

    def __len__(self) -> int:
        return len(self.sentences)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> Treebank: ...
    def __getitem__(self, index: int | slice) -> Sentence | Treebank:
        if isinstance(index, slice):
            return Treebank(self.sentences[index])
        return self.sentences[index]

    def __repr__(self) -> str:
        return f"Treebank({len(self)} sentences)"
