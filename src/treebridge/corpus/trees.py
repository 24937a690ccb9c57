"""Tree checks on lists of heads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treebridge.corpus.sentence import Sentence
from treebridge.keys import key_of_bytes


def tree_problem(heads: Sequence[int | None]) -> tuple[int, str] | None:
    """Explain as (word index, problem) why heads are not a single-root tree; None if they are."""
    roots = [i for i, head in enumerate(heads) if head == 0]
    if None in heads:
        return heads.index(None), "HEAD is _, but a tree is required"
    if not roots:
        return 0, "no word has HEAD 0; a tree needs a root"
    if len(roots) > 1:
        return roots[1], f"{len(roots)} words have HEAD 0; a tree has exactly one root"
    safe = [False] * len(heads)  # known to reach the root
    safe[roots[0]] = True
    for start in range(len(heads)):
        path = []
        node = start
        while not safe[node]:
            path.append(node)
            node = (heads[node] or 0) - 1
            if len(path) > len(heads):
                return start, "the heads from this word run into a cycle, not to the root"
        for node in path:
            safe[node] = True
    return None


def partial_problem(heads: Sequence[int | None]) -> tuple[int, str] | None:
    """Explain as (word index, problem) why no single-root tree has these heads; None is unknown."""
    if None not in heads:
        return tree_problem(heads)
    roots = [i for i, head in enumerate(heads) if head == 0]
    if len(roots) > 1:
        return roots[1], f"{len(roots)} words have HEAD 0; a tree has exactly one root"
    for start in range(len(heads)):
        node, steps = start, 0
        while (head := heads[node]) is not None and head:
            node, steps = head - 1, steps + 1
            if node == start:
                return start, "the heads from this word run into a cycle; set one of them to _"
            if steps > len(heads):
                break  # a cycle further up, which starts at another word
    return None


def given_heads(sentence: Sentence) -> list[int | None]:
    """The heads that a sentence has; a word with the label `root` has head 0 even if it says _."""
    return [
        0 if head is None and label.partition(":")[0] == "root" else head
        for head, label in zip(sentence.heads, sentence.deprels, strict=True)
    ]


def has_annotation(sentence: Sentence) -> bool:
    """Whether any word has a head or a tag."""
    tagged = any(tag != "_" for tag in sentence.upos)
    return tagged or any(head is not None for head in given_heads(sentence))


def is_projective(heads: Sequence[int]) -> bool:
    """Whether no two arcs of the tree cross."""
    arcs = [(min(i, h), max(i, h)) for i, h in enumerate(heads, 1)]
    arcs.sort(key=lambda arc: (arc[0], -arc[1]))  # the outer one of two with the same start first
    open_until: list[int] = []  # right ends of the arcs over the current position
    for left, right in arcs:
        while open_until and open_until[-1] <= left:
            open_until.pop()
        if open_until and open_until[-1] < right:
            return False
        open_until.append(right)
    return True


def digest_trees(trees: Iterable[Sentence]) -> str:
    """Hash words, tags and trees."""
    return key_of_bytes(tree.to_conllu().encode("utf-8", "surrogatepass") for tree in trees)
