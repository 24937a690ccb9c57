"""Edits of a sentence's words: split them, join them, make and dissolve multi-word tokens.

The raw text of the sentence never changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from treebridge.corpus.edit.graph import Graph, Node
from treebridge.corpus.edit.marks import ARC, FIXED, LABEL, SPACE, item, with_item, without
from treebridge.corpus.edit.words import check_cell, check_word
from treebridge.corpus.sentence import FORM, LEMMA, MISC, Sentence
from treebridge.errors import TreebridgeError

AFTER = (SPACE, "SpacesAfter")  # MISC items about the space after a token


def split_word(sentence: Sentence, word: int, parts: Sequence[str]) -> Sentence:
    """Split a word into several; the first keeps the annotation, the others have none yet.

    Together the parts must be written like the word, except inside a multi-word token.
    """
    graph, node = _find(sentence, word, parts)
    token, form = graph.token_of(node), node.cells[FORM]
    if token is None and _bare("".join(parts)) != _bare(form):
        raise TreebridgeError(
            f"“{' '.join(parts)}” is not written like “{form}”; make a multi-word token instead"
        )
    news = _divide(graph, node, parts)
    if token is None:
        _set_spaces([node, *news], form)
    return graph.sentence()


def expand_word(sentence: Sentence, word: int, parts: Sequence[str]) -> Sentence:
    """Turn a written word into a multi-word token of these words (del → de el)."""
    graph, node = _find(sentence, word, parts)
    if graph.token_of(node):
        raise TreebridgeError(
            f"word {word} is part of a multi-word token already; split it instead"
        )
    form, misc = node.cells[FORM], node.cells[MISC]
    news = _divide(graph, node, parts)
    token = Node(["", form, *["_"] * 7, with_item("_", SPACE, item(misc, SPACE))])
    token.deps = [(None, "_")]
    for one in (node, *news):
        one.cells[MISC] = with_item(one.cells[MISC], SPACE, None)
    token.span = node, news[-1]
    graph.nodes.insert(graph.nodes.index(node), token)
    return graph.sentence()


def join_words(sentence: Sentence, first: int, last: int) -> Sentence:
    """Join neighbouring words into one, which keeps the annotation of the highest of them.

    A whole multi-word token becomes the word that is written.
    """
    graph, words = _neighbours(sentence, first, last)
    top = _highest(words)
    tokens = [token for word in words if (token := graph.token_of(word))]
    token = tokens[0] if tokens else None
    if token and (len(tokens) < len(words) or any(one is not token for one in tokens)):
        raise TreebridgeError(
            "these words belong to different tokens; dissolve the multi-word token first"
        )
    whole = token is not None and graph.between(*(token.span or (top, top))) == words
    lemmas = [word.cells[LEMMA] for word in words]
    written = not token
    lemma = "_" if "_" in lemmas else _join(words, LEMMA, spaces=written)
    if token is not None and whole:
        form, end = token.cells[FORM], token
        graph.nodes.remove(token)
    else:
        form, end = _join(words, FORM, spaces=written), words[-1]
    cells = list(top.cells)
    cells[FORM], cells[LEMMA] = form, lemma
    others = [word for word in (*words, end) if word is not top]
    cells[MISC] = _merge(top.cells[MISC], [word.cells[MISC] for word in others])
    for key in AFTER:
        cells[MISC] = with_item(cells[MISC], key, item(end.cells[MISC], key))
    joined = Node(cells, top.head, list(top.deps))
    at = graph.nodes.index(words[0])
    inside = graph.nodes[at : graph.nodes.index(words[-1]) + 1]
    empty = [node for node in inside if node.empty]  # they stand after the joined word
    graph.nodes[at : at + len(inside)] = [joined, *empty]
    graph.replace(words, joined)
    return graph.sentence()


def group_words(sentence: Sentence, first: int, last: int) -> Sentence:
    """Make a multi-word token of neighbouring words, written as they are in the text."""
    graph, words = _neighbours(sentence, first, last)
    if any(graph.token_of(word) for word in words):
        raise TreebridgeError("these words are part of a multi-word token already")
    _add_token(graph, words, _join(words, FORM, spaces=True))
    return graph.sentence()


def ungroup(sentence: Sentence, word: int) -> Sentence:
    """Dissolve the multi-word token of a word: its words become tokens of their own."""
    check_word(sentence, word)
    graph = Graph.of(sentence)
    token = graph.token_of(graph.word(word))
    if token is None or token.span is None:
        raise TreebridgeError(f"word {word} is not part of a multi-word token")
    words, form = graph.between(*token.span), token.cells[FORM]
    parts = [one.cells[FORM] for one in words]
    if _bare("".join(parts)) != _bare(form):
        raise TreebridgeError(
            f"“{form}” is not written “{' '.join(parts)}”; join the words into one instead"
        )
    words[0].cells[MISC] = _merge(words[0].cells[MISC], [without(token.cells[MISC], *AFTER)])
    _move_space(token, words[-1])
    _set_spaces(words, form)
    graph.nodes.remove(token)
    return graph.sentence()


def _find(sentence: Sentence, word: int, parts: Sequence[str]) -> tuple[Graph, Node]:
    check_word(sentence, word)
    if len(parts) < 2:
        raise TreebridgeError("name at least two parts")
    for part in parts:
        check_cell(FORM, part.strip())
    graph = Graph.of(sentence)
    return graph, graph.word(word)


def _neighbours(sentence: Sentence, first: int, last: int) -> tuple[Graph, list[Node]]:
    check_word(sentence, first)
    check_word(sentence, last)
    if first >= last:
        raise TreebridgeError("name two words or more, from left to right")
    graph = Graph.of(sentence)
    return graph, graph.between(graph.word(first), graph.word(last))


def _divide(graph: Graph, node: Node, parts: Sequence[str]) -> list[Node]:
    """Shorten a word to its first part and insert the others after it; return those."""
    same = node.cells[LEMMA] == node.cells[FORM]
    token = graph.token_of(node)
    node.cells[FORM] = parts[0]
    node.cells[LEMMA] = parts[0] if same else "_"
    news = []
    for part in parts[1:]:
        lemma = part if same else "_"
        news.append(Node(["", part, lemma, *["_"] * 7], deps=[(None, "_")]))
    _move_space(node, news[-1])
    at = graph.nodes.index(node) + 1
    graph.nodes[at:at] = news
    if token and token.span and token.span[1] is node:
        token.span = token.span[0], news[-1]
    return news


def _add_token(graph: Graph, words: Sequence[Node], form: str) -> None:
    """Put a multi-word token above its words; the space after them belongs to it."""
    token = Node(["", form, *["_"] * 8], deps=[(None, "_")], span=(words[0], words[-1]))
    _move_space(words[-1], token)
    for word in words:
        word.cells[MISC] = without(word.cells[MISC], *AFTER)
    graph.nodes.insert(graph.nodes.index(words[0]), token)


def _move_space(source: Node, target: Node) -> None:
    for key in AFTER:
        target.cells[MISC] = with_item(target.cells[MISC], key, item(source.cells[MISC], key))
        source.cells[MISC] = with_item(source.cells[MISC], key, None)


def _set_spaces(words: Sequence[Node], form: str) -> None:
    """Mark the words but the last that no space follows in the written form."""
    at = 0
    for word in words[:-1]:
        for char in _bare(word.cells[FORM]):
            at = form.index(char, at) + 1
        space = None if form[at : at + 1] == " " else "No"
        word.cells[MISC] = with_item(without(word.cells[MISC], *AFTER), SPACE, space)


def _bare(form: str) -> str:
    return form.replace(" ", "")


def _join(words: Sequence[Node], column: int, *, spaces: bool) -> str:
    """The cells of words, with the spaces between them that the text has."""
    text = ""
    for word in words:
        text += word.cells[column]
        if spaces and word is not words[-1] and item(word.cells[MISC], SPACE) != "No":
            text += " "
    return text


def _merge(misc: str, others: Sequence[str]) -> str:
    """A MISC cell with what others have in addition, except marks of single words."""
    for cell in others:
        for one in without(cell, *AFTER, ARC, LABEL, FIXED).split("|"):
            key, equals, value = one.partition("=")
            if equals and item(misc, key) is None:
                misc = with_item(misc, key, value)
            elif not equals and one != "_" and one not in misc.split("|"):
                misc = one if misc == "_" else f"{misc}|{one}"
    return misc


def _highest(words: Sequence[Node]) -> Node:
    """A word below none of the others, with a head if possible."""

    def is_below(word: Node) -> bool:
        seen: list[Node] = []
        node = word.head
        while node is not None and node not in seen:
            if node in words and node is not word:
                return True
            seen.append(node)
            node = node.head
        return False

    return min(words, key=lambda word: (is_below(word), word.head is None))
