"""Edits of sentence boundaries."""

from __future__ import annotations

from collections.abc import Sequence

from treebridge.corpus.edit.graph import ROOT, Graph, Highlight, Node
from treebridge.corpus.edit.marks import ARC, LABEL, NOTE, SPACE, STATUS, item, unfix, without
from treebridge.corpus.edit.words import check_word
from treebridge.corpus.sentence import DEPREL, MISC, Sentence
from treebridge.errors import TreebridgeError


def split_sentence(sentence: Sentence, word: int, new_id: str | None) -> tuple[Sentence, Sentence]:
    """Split a sentence before a word; arcs between the parts become unknown (`_`).

    The first part keeps the comments. The second gets the id `new_id` if the sentence has one.
    """
    check_word(sentence, word)
    if word == 1:
        raise TreebridgeError("the sentence begins here already; choose a later word")
    graph = Graph.of(sentence)
    start = graph.word(word)
    token = graph.token_of(start)
    if token and token.span and token.span[0] is not start:
        raise TreebridgeError(f"word {word} is inside a multi-word token; dissolve it first")
    cut = graph.nodes.index(token or start)
    texts = _cut_text(sentence, word)
    parts = graph.nodes[:cut], graph.nodes[cut:]
    for part in parts:
        _detach(part)
    first: list[str | Highlight] = []
    second: list[str | Highlight] = []
    for comment in graph.comments:
        key = None if isinstance(comment, Highlight) else _key(comment)
        if key == "text":
            first.append(f"# text = {texts[0]}")
            second.append(f"# text = {texts[1]}")
        elif isinstance(comment, Highlight):
            first.append(_copy(comment))
            second.append(_copy(comment))
        elif key != STATUS:  # neither part is the sentence that was accepted
            first.append(comment)
            if key == "sent_id" and new_id:
                second.append(f"# sent_id = {new_id}")
    return Graph(first, parts[0]).sentence(), Graph(second, parts[1]).sentence()


def join_sentences(first: Sentence, second: Sentence) -> Sentence:
    """Join a sentence to the one before it; the head of the second root becomes unknown (`_`)."""
    if any(_key(line) in ("newdoc", "newdoc id") for line in second.comments):
        raise TreebridgeError("the next sentence begins a new document; it cannot be joined")
    one, two = Graph.of(first), Graph.of(second)
    for node in two.nodes:
        if node.is_word and node.head is ROOT:
            _release(node)
    comments = list(one.comments)
    keys = {_key(line): line for line in second.comments}
    for number, comment in enumerate(comments):
        key = None if isinstance(comment, Highlight) else _key(comment)
        if key == "text":
            *_, (_, _, _, misc) = first.tokens()
            gap = "" if item(misc, SPACE) == "No" else " "
            comments[number] = f"# text = {first.text}{gap}{second.text}"
        elif key == NOTE and key in keys:
            comments[number] = f"# {NOTE} = {first.comment(NOTE)} {second.comment(NOTE)}"
    comments = [c for c in comments if isinstance(c, Highlight) or _key(c) != STATUS]
    here = {_key(line) for line in first.comments}
    for comment in two.comments:
        if isinstance(comment, Highlight):
            _add_highlight(comments, comment)
            continue
        key = _key(comment)
        known = key in ("sent_id", "newpar", "newpar id", STATUS, "tree_score")
        if not known and not (key in ("text", NOTE) and key in here):
            comments.append(comment)
    return Graph(comments, [*one.nodes, *two.nodes]).sentence()


def _detach(nodes: Sequence[Node]) -> None:
    """Release the words whose head is not among these lines."""
    here = {id(node) for node in nodes} | {id(ROOT)}
    for node in nodes:
        if node.is_word and node.head is not None and id(node.head) not in here:
            _release(node)


def _release(node: Node) -> None:
    node.head = None
    node.cells[DEPREL] = "_"
    node.cells[MISC] = unfix(without(node.cells[MISC], ARC, LABEL), "HEAD", "DEPREL")


def _cut_text(sentence: Sentence, word: int) -> tuple[str, str]:
    """The raw text before and after the beginning of a word."""
    text, at = sentence.text, 0
    parts = ["", ""]
    for first, _, form, misc in sentence.tokens():
        if at >= 0:
            found = text.find(form, at)
            if first == word and found >= 0:
                return text[:found].rstrip(), text[found:]
            at = found + len(form) if found >= 0 else -1
        parts[first >= word] += form + ("" if item(misc, SPACE) == "No" else " ")
    return parts[0].strip(), parts[1].strip()  # the text is not that of the words


def _copy(comment: Highlight) -> Highlight:
    return Highlight(comment.text, comment.key, comment.ids, list(comment.nodes))


def _add_highlight(comments: list[str | Highlight], more: Highlight) -> None:
    for comment in comments:
        if isinstance(comment, Highlight) and comment.key == more.key:
            comment.nodes += more.nodes
            return
    comments.append(more)


def _key(line: str) -> str:
    """The key of `# key = value`, or the whole comment."""
    return line[1:].partition("=")[0].strip()
