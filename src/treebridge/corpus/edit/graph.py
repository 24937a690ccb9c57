"""A sentence as lines that point to each other, numbered again when it is written.

Words can be added and removed without renumbering anything: heads, enhanced dependencies (DEPS),
multi-word tokens and highlighted words refer to lines, not to numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from treebridge.corpus.sentence import DEPS, HEAD, ID, Sentence

_ENHANCED = re.compile(r"((?:0|[1-9][0-9]*)(?:\.[1-9][0-9]*)?)(:.*)", re.DOTALL)
_HIGHLIGHT = re.compile(r"(#\s*highlight\s+(?:tokens|deprels)\s*=)(.*)", re.DOTALL)


@dataclass(eq=False)
class Node:
    """A line: a syntactic word, an empty node or, with a span, a multi-word token."""

    cells: list[str]
    head: Node | None = None  # of a word; ROOT for 0, None for _
    deps: list[tuple[Node | None, str]] = field(default_factory=list)  # None: text kept as it is
    span: tuple[Node, Node] | None = None  # first and last word of a multi-word token
    empty: bool = False

    @property
    def is_word(self) -> bool:
        """Whether it is a syntactic word."""
        return self.span is None and not self.empty


ROOT = Node(["0"])


@dataclass
class Highlight:
    """A comment that lists words by number, which ConlluEditor shows in colour."""

    text: str
    key: str
    ids: list[str]
    nodes: list[Node]


@dataclass
class Graph:
    """The comments and lines of a sentence."""

    comments: list[str | Highlight]
    nodes: list[Node]

    @classmethod
    def of(cls, sentence: Sentence) -> Graph:
        """Resolve the numbers of a sentence."""
        nodes = [Node(list(cells)) for cells in zip(*sentence.lines, strict=True)]
        by_id = {node.cells[ID]: node for node in nodes}
        for node in nodes:
            first, dash, last = node.cells[ID].partition("-")
            if dash:
                node.span = by_id[first], by_id[last]
            node.empty = "." in first
        by_id["0"] = ROOT
        for node in nodes:
            if node.is_word:
                node.head = by_id.get(node.cells[HEAD])
            node.deps = [_enhanced(item, by_id) for item in node.cells[DEPS].split("|")]
        return cls([_comment(line, by_id) for line in sentence.comments], nodes)

    @property
    def words(self) -> list[Node]:
        """The syntactic words."""
        return [node for node in self.nodes if node.is_word]

    def word(self, number: int) -> Node:
        """The word with this number, counted from 1."""
        return self.words[number - 1]

    def token_of(self, word: Node) -> Node | None:
        """The multi-word token that contains a word, or None."""
        for node in self.nodes:
            if node.span and word in self.between(*node.span):
                return node
        return None

    def between(self, first: Node, last: Node) -> list[Node]:
        """The words from one to another."""
        words = self.words
        return words[words.index(first) : words.index(last) + 1]

    def replace(self, old: Sequence[Node], new: Node) -> None:
        """Let everything that points to one of the old lines point to the new one."""
        for node in self.nodes:
            if node.head in old and node.head is not None:
                node.head = new
            if any(head in old for head, _ in node.deps):
                deps = ((new if head in old else head, rest) for head, rest in node.deps)
                node.deps = [one for one in dict.fromkeys(deps) if one[0] is not node]
            if node.span:
                first, last = (new if end in old else end for end in node.span)
                node.span = first, last
        for comment in self.comments:
            if isinstance(comment, Highlight):
                comment.nodes = [new if node in old else node for node in comment.nodes]

    def sentence(self) -> Sentence:
        """Number the lines and write them as a sentence."""
        ids = self._ids()
        rows, positions, heads = [], [], []
        for line, node in enumerate(self.nodes):
            cells = list(node.cells)
            cells[ID] = ids[node]
            if node.is_word:
                positions.append(line)
                known = node.head if node.head in ids else None
                cells[HEAD] = "_" if known is None else ids[known]
                heads.append(None if known is None else int(ids[known]))
            cells[DEPS] = _deps(node, ids)
            rows.append(tuple(cells))
        comments = (_rendered(comment, ids) for comment in self.comments)
        kept = [comment for comment in comments if comment is not None]
        return Sentence(list(zip(*rows, strict=True)), positions, tuple(heads), kept)

    def _ids(self) -> dict[Node, str]:
        ids = {ROOT: "0"}
        word = empty = 0
        for node in self.nodes:
            if node.empty:
                empty += 1
                ids[node] = f"{word}.{empty}"
            elif node.is_word:
                word, empty = word + 1, 0
                ids[node] = str(word)
        for node in self.nodes:
            if node.span:
                ids[node] = "-".join(ids[end] for end in node.span)
        return ids


def _enhanced(item: str, by_id: dict[str, Node]) -> tuple[Node | None, str]:
    found = _ENHANCED.fullmatch(item)
    return (by_id[found[1]], found[2]) if found and found[1] in by_id else (None, item)


def _deps(node: Node, ids: dict[Node, str]) -> str:
    """DEPS without arcs to lines that are gone."""
    items = [
        rest if head is None else ids[head] + rest
        for head, rest in node.deps
        if head is None or head in ids
    ]
    return "|".join(items) or "_"


def _comment(line: str, by_id: dict[str, Node]) -> str | Highlight:
    found = _HIGHLIGHT.fullmatch(line)
    if not found:
        return line
    ids = found[2].split()
    if not ids or not all(one in by_id for one in ids):
        return line
    return Highlight(line, found[1], ids, [by_id[one] for one in ids])


def _rendered(comment: str | Highlight, ids: dict[Node, str]) -> str | None:
    if isinstance(comment, str):
        return comment
    now = list(dict.fromkeys(ids[node] for node in comment.nodes if node in ids))
    if now == comment.ids:
        return comment.text
    return f"{comment.key} {' '.join(now)}" if now else None
