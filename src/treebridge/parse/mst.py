"""The best tree for a matrix of arc scores: exactly one root, always, in O(n²).

`scores[dependent, head]` are log-probabilities, head 0 is the root; row 0 and the diagonal are
never looked at, and `-inf` forbids an arc. Heads come out as in CoNLL-U: one for each word,
counted from 1, 0 for the root.

Most sentences of a good parser are done by the arg-max. The others go through Chu-Liu-Edmonds in
the dense form of Tarjan (1977): grow a path of best heads backwards from any word, contract
whatever closes a cycle, stop at what is known to hang from the root.

One root. The usual trick subtracts n·(max − min) + 1 from the root arcs, which leaves few digits
for the scores themselves (50 001 for 500 words and log-probabilities down to −100: float32 keeps
two decimals). But the algorithm only adds, subtracts and compares, so pairs in lexicographic order
do as well: an arc weighs (rank, score), and ranks count root arcs and, below them, forbidden arcs.
A root arc costs what no score can buy, ranks are exact, and scores keep the whole of float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from treebridge.errors import TreebridgeError

Heads = NDArray[np.int64]
RANK, SCORE, FROM, TO = range(4)  # what is known of an arc, in `_arborescence`


def decode(scores: ArrayLike) -> Heads:
    """The best single-root tree, by arg-max where that is one; (n+1, n+1) or (n, n+1) scores."""
    heads: Heads = decode_batch(_square(scores)[None])[0]
    return heads


def single_root_mst(scores: ArrayLike) -> Heads:
    """The best single-root tree, without trying the arg-max first."""
    square = _square(scores)
    n = len(square) - 1
    heads = np.empty(n, np.int64)
    _refuse(_greedy(square, n, heads), 0)  # for its check of the scores
    _arborescence(square, n, heads, np.empty(4 * (n + 1) ** 2))
    return heads


def decode_batch(scores: ArrayLike, lengths: ArrayLike | None = None) -> Heads:
    """Heads (batch, n) for scores (batch, n+1, n+1), −1 past the end of each sentence.

    What stands in `scores` past a sentence's length in words is not looked at. The GIL is free
    meanwhile, so several threads can decode at the same time.
    """
    batch = _floats(scores)
    if batch.ndim != 3 or batch.shape[1] != batch.shape[2] or not batch.shape[1]:
        raise ValueError(f"scores of shape {batch.shape}, expected (batch, n+1, n+1)")
    words = batch.shape[1] - 1
    sizes = np.full(len(batch), words) if lengths is None else np.asarray(lengths, np.int64)
    if sizes.shape != batch.shape[:1]:
        raise ValueError(f"lengths of shape {sizes.shape} for {len(batch)} sentences")
    if len(sizes) and not 0 <= sizes.min() <= sizes.max() <= words:
        raise ValueError(f"lengths from {sizes.min()} to {sizes.max()}, expected 0 to {words}")
    heads = np.full((len(batch), words), -1, np.int64)
    sentence, cell = _decode_batch(batch, sizes, heads)
    _refuse(cell, sentence)
    return heads


def _floats(scores: ArrayLike) -> NDArray[np.float64]:
    # One layout and type, so that numba compiles one version; copying costs next to nothing.
    return np.ascontiguousarray(scores, np.float64)


def _square(scores: ArrayLike) -> NDArray[np.float64]:
    array = _floats(scores)
    rows, columns = array.shape if array.ndim == 2 else (0, 0)
    if not columns or columns - rows not in (0, 1):
        raise ValueError(f"scores of shape {array.shape}, expected (n+1, n+1) or (n, n+1)")
    if rows == columns:
        return array
    return np.concatenate([np.zeros((1, columns)), array])


def _refuse(cell: int, sentence: int) -> None:
    """Raise for a score that cannot be compared; `cell` is (word, head) in one number, or −1."""
    if cell >= 0:
        word, head = divmod(cell, 1 << 32)
        raise TreebridgeError(
            f"the score of head {head} for word {word} of sentence {sentence + 1} in this batch "
            "is NaN or +inf; the parser or its vectors are damaged"
        )


@njit(cache=True, nogil=True)
def _decode_batch(scores: Any, lengths: Any, heads: Any) -> tuple[int, int]:
    """Fill `heads`; returns the sentence and the cell of the first bad score, or (−1, −1)."""
    room = np.empty(0, np.float64)  # taken when it is needed, and kept for the next sentence
    for sentence in range(len(scores)):
        n = lengths[sentence]
        cell = _greedy(scores[sentence], n, heads[sentence])
        if cell >= 0:
            return sentence, cell
        if not _is_tree(heads[sentence], n):
            if len(room) < 4 * (n + 1) ** 2:
                room = np.empty(4 * (n + 1) ** 2, np.float64)
            _arborescence(scores[sentence], n, heads[sentence], room)
    return -1, -1


@njit(cache=True, nogil=True)
def _greedy(scores: Any, n: int, heads: Any) -> int:
    """Give each word its best head, the first of equals; returns a bad score's cell or −1."""
    for word in range(1, n + 1):
        best = -1
        for head in range(n + 1):
            if head == word:
                continue
            score = scores[word, head]
            if not score < np.inf:  # NaN too
                return (word << 32) + head
            if best < 0 or score > scores[word, best]:
                best = head
        heads[word - 1] = best
    return -1


@njit(cache=True, nogil=True)
def _is_tree(heads: Any, n: int) -> bool:
    """Whether one word has head 0 and all others lead to it."""
    roots = 0
    for word in range(n):
        roots += heads[word] == 0
    if roots != 1:
        return n == 0
    seen = np.zeros(n + 1, np.int64)  # by which walk a word was seen first
    for start in range(1, n + 1):
        node = start
        while node and not seen[node]:
            seen[node] = start
            node = heads[node - 1]
        if node and seen[node] == start:
            return False
    return True


@njit(cache=True, nogil=True)
def _arborescence(scores: Any, n: int, heads: Any, room: Any) -> None:
    """Fill `heads` with the best single-root tree.

    A *place* is a row and column of the matrices, 0 to n; it holds one *node*: a word, or a
    contracted cycle, which takes over the place of one of its members. Nodes 1 to n are the words,
    cycles count on from there, at most n − 1 of them.
    """
    # [dependent, head]: its pair, and the arc between words that stands behind it. All in one
    # array, whole numbers too, because what costs time is fetching cells of far-apart rows.
    arcs = room[: 4 * (n + 1) ** 2].reshape((n + 1, n + 1, 4))
    for word in range(1, n + 1):
        for head in range(n + 1):
            forbidden = scores[word, head] == -np.inf
            # A root arc is worse than n forbidden ones.
            arcs[word, head, RANK] = -(n + 1) * (head == 0) - 1 * forbidden
            arcs[word, head, SCORE] = 0.0 if forbidden else scores[word, head]
            arcs[word, head, FROM] = head
            arcs[word, head, TO] = word
    node_at = np.arange(n + 1)
    alive = np.ones(n + 1, np.bool_)  # places that hold a node
    state = np.zeros(n + 1, np.int64)  # of a place: 0 new, 1 on the path, 2 hangs from the root
    state[0] = 2
    path = np.empty(n + 1, np.int64)  # places; the head of each is the next
    best = np.empty(n + 1, np.int64)  # the place of the best head of a place
    parent = np.zeros(2 * n + 1, np.int64)  # the cycle that a node was contracted into
    arc_from = np.zeros(2 * n + 1, np.int64)  # the arc between words that enters a node
    arc_to = np.zeros(2 * n + 1, np.int64)
    nodes = n
    for start in range(1, n + 1):
        if not alive[start] or state[start]:
            continue
        size, place = 0, start
        while state[place] != 2:
            if state[place] == 0:
                state[place] = 1
                path[size] = place
                size += 1
            else:  # the path has come back to `place`: contract from there on
                nodes += 1
                first = size - 1
                while path[first] != place:
                    first -= 1
                for index in range(first, size):
                    parent[node_at[path[index]]] = nodes
                _contract(arcs, alive, state, best, path[first:size])
                node_at[place] = nodes
                size = first + 1
            # The best head of the last on the path; of equals the one in the lowest place.
            last = path[size - 1]
            top = -1
            for head in range(n + 1):
                if (
                    alive[head]
                    and head != last
                    and (top < 0 or _better(arcs[last, head], arcs[last, top]))
                ):
                    top = head
            best[last] = top
            arc_from[node_at[last]] = arcs[last, top, FROM]
            arc_to[node_at[last]] = arcs[last, top, TO]
            place = top
        for index in range(size):
            state[path[index]] = 2
    # Open the cycles, the last one first: the arc that enters a cycle replaces the one inside it
    # at the member that it points to; the other members keep theirs.
    for cycle in range(nodes, n, -1):
        member = arc_to[cycle]
        while parent[member] != cycle:
            member = parent[member]
        arc_from[member], arc_to[member] = arc_from[cycle], arc_to[cycle]
    heads[:n] = arc_from[1 : n + 1]


@njit(cache=True, nogil=True)
def _contract(arcs: Any, alive: Any, state: Any, best: Any, cycle: Any) -> None:
    """Make one node of the places of a cycle, in the place of its first member."""
    for place in cycle:
        alive[place] = False  # so that only the arcs to and from outside are looked at
    target = cycle[0]
    for place in cycle:
        rank, score = arcs[place, best[place], RANK], arcs[place, best[place], SCORE]
        for other in range(len(alive)):
            if not alive[other]:
                continue
            arcs[place, other, RANK] -= rank  # entering here costs the arc that is replaced
            arcs[place, other, SCORE] -= score
            if place != target:
                _keep_better(arcs[target, other], arcs[place, other])
                if state[other] != 2:  # others have their head already
                    _keep_better(arcs[other, target], arcs[other, place])
    alive[target] = True


@njit(cache=True, nogil=True)
def _better(a: Any, b: Any) -> bool:
    return a[RANK] > b[RANK] or (a[RANK] == b[RANK] and a[SCORE] > b[SCORE])  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _keep_better(old: Any, new: Any) -> None:
    if _better(new, old):
        for i in range(4):
            old[i] = new[i]
