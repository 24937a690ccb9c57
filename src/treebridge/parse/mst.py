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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treebridge.errors import TreebridgeError

Heads = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
ROOTS = 2  # that are tried before the exact algorithm looks at all of them


def decode(scores: ArrayLike) -> Heads:
    """The best single-root tree, by arg-max where that is one; (n+1, n+1) or (n, n+1) scores."""
    heads: Heads = decode_batch(_square(scores)[None])[0]
    return heads


def single_root_mst(scores: ArrayLike) -> Heads:
    """The best single-root tree, without trying the arg-max first."""
    square = _square(scores)
    _check_scores(square[None], np.array([len(square) - 1]))
    heads: Heads = _Arborescence(square).heads()
    return heads


def decode_batch(scores: ArrayLike, lengths: ArrayLike | None = None) -> Heads:
    """Heads (batch, n) for scores (batch, n+1, n+1), −1 past the end of each sentence.

    What stands in `scores` past a sentence's length in words is not looked at.
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
    inside = _check_scores(batch, sizes)
    # [batch, n]; of equals the first
    heads: Heads = np.where(inside, batch, -np.inf).argmax(-1)[:, 1:]
    past = np.arange(1, words + 1) > sizes[:, None]
    heads[past] = 0
    for sentence in np.flatnonzero(~_are_trees(heads, sizes)):
        n = sizes[sentence]
        square = batch[sentence, : n + 1, : n + 1]
        found = _likely_root(square)
        heads[sentence, :n] = _Arborescence(square).heads() if found is None else found
    heads[past] = -1
    return heads


def _floats(scores: ArrayLike) -> Floats:
    return np.asarray(scores, np.float64)


def _square(scores: ArrayLike) -> Floats:
    array = _floats(scores)
    rows, columns = array.shape if array.ndim == 2 else (0, 0)
    if not columns or columns - rows not in (0, 1):
        raise ValueError(f"scores of shape {array.shape}, expected (n+1, n+1) or (n, n+1)")
    if rows == columns:
        return array
    return np.concatenate([np.zeros((1, columns)), array])


def _check_scores(batch: Floats, sizes: Heads) -> Mask:
    """Which cells are arcs: inside the sentence and of a word to another; all must compare."""
    places = np.arange(batch.shape[1])
    inside = places <= sizes[:, None]  # [batch, n+1]
    arcs = inside[:, :, None] & inside[:, None, :] & (places[:, None] != places)
    arcs[:, 0] = False
    bad = arcs & ~(batch < np.inf)  # NaN too
    if bad.any():
        sentence, word, head = np.argwhere(bad)[0]
        raise TreebridgeError(
            f"the score of head {head} for word {word} of sentence {sentence + 1} in this batch "
            "is NaN or +inf; the parser or its vectors are damaged"
        )
    return np.asarray(arcs)


def _are_trees(heads: Heads, sizes: Heads) -> Mask:
    """Whether one word of each sentence has head 0 and all others lead to it."""
    batch, words = heads.shape
    one_root = (heads == 0).sum(1) - (words - sizes) == 1
    above = np.concatenate([np.zeros((batch, 1), np.int64), heads], 1)
    for _ in range(words.bit_length()):  # each time twice as far up
        above = np.take_along_axis(above, above, 1)
    return np.asarray((one_root & (above == 0).all(1)) | (sizes == 0))


def _likely_root(scores: Floats) -> Heads | None:
    """The best tree, if its root is among the likeliest ones; None if that cannot be told.

    With the root given, there is little to contract. No tree of a root is better than the best
    heads of all other words, so roots are tried in that order until none can be better.
    """
    inner = scores[1:, 1:].copy()
    np.fill_diagonal(inner, -np.inf)
    best = inner.max(1)
    if not (np.isfinite(best) & np.isfinite(scores[1:, 0])).all():
        return None
    bounds = best.sum() - best + scores[1:, 0]  # of the tree of each root
    order = np.argsort(-bounds, kind="stable")
    found, value = None, -np.inf
    for place in order[:ROOTS].tolist():
        if bounds[place] <= value:
            return found
        heads = _Arborescence(scores, root=place + 1).heads()
        total = float(scores[np.arange(1, len(scores)), heads].sum())
        if total > value:
            found, value = heads, total
    return found if len(order) <= ROOTS or bounds[order[ROOTS]] <= value else None


class _Arborescence:
    """The best single-root tree of one matrix, with any root or a given one.

    A *place* is a row and column of the matrices, 0 to n; it holds one *node*: a word, or a
    contracted cycle, which takes over the place of one of its members. Nodes 1 to n are the words,
    cycles count on from there, at most n − 1 of them.
    """

    def __init__(self, scores: Floats, root: int = 0):
        self.root = root
        size = len(scores)
        self.n = size - 1
        forbidden = scores == -np.inf
        # [dependent, head]: the pair that an arc weighs, and the arc between words behind it.
        self.ranks = -1.0 * forbidden
        self.ranks[:, 0] -= size  # a root arc is worse than n forbidden ones
        self.scores = np.where(forbidden, 0, scores)
        self.tails, self.ends = np.meshgrid(np.arange(size), np.arange(size))
        self.alive = np.ones(size, bool)  # places that hold a node
        self.done = np.zeros(size, bool)  # places that hang from the root
        self.done[0] = True
        self.best = np.zeros(size, np.int64)  # the place of the best head of a place

    def heads(self) -> Heads:
        """Its heads, one for each word."""
        n = self.n
        node_at = np.arange(n + 1)
        parent = np.zeros(2 * n + 1, np.int64)  # the cycle that a node was contracted into
        arc_from = np.zeros(2 * n + 1, np.int64)  # the arc between words that enters a node
        arc_to = np.zeros(2 * n + 1, np.int64)
        nodes = n
        if self.root:
            self.alive[0], self.done[self.root], arc_to[self.root] = False, True, self.root
        for start in range(1, n + 1):
            if not self.alive[start] or self.done[start]:
                continue
            path: list[int] = []  # places; the head of each is the next
            place = start
            while not self.done[place]:
                if place in path:  # the path has come back to `place`: contract from there on
                    cycle = path[path.index(place) :]
                    nodes += 1
                    parent[node_at[cycle]] = nodes
                    self._contract(cycle)
                    node_at[place] = nodes
                    path = path[: path.index(place)]
                path.append(place)
                top = self._best_head(place)
                self.best[place] = top
                node = node_at[place]
                arc_from[node], arc_to[node] = self.tails[place, top], self.ends[place, top]
                place = top
            self.done[path] = True
        # Open the cycles, the last one first: the arc that enters a cycle replaces the one inside
        # it at the member that it points to; the other members keep theirs.
        for cycle_node in range(nodes, n, -1):
            member = arc_to[cycle_node]
            while parent[member] != cycle_node:
                member = parent[member]
            arc_from[member], arc_to[member] = arc_from[cycle_node], arc_to[cycle_node]
        return arc_from[1 : n + 1]

    def _best_head(self, place: int) -> int:
        """The place of the best head; of equals the lowest."""
        candidates = self.alive.copy()
        candidates[place] = False
        ranks = np.where(candidates, self.ranks[place], -np.inf)
        return int(np.where(ranks == ranks.max(), self.scores[place], -np.inf).argmax())

    def _contract(self, cycle: list[int]) -> None:
        """Make one node of the places of a cycle, in the place of its first member."""
        self.alive[cycle] = False  # so that only the arcs to and from outside are looked at
        target, *others = cycle
        entering = self.alive
        leaving = self.alive & ~self.done  # others have their head already
        for place in cycle:  # entering here costs the arc that is replaced
            self.ranks[place] -= self.ranks[place, self.best[place]]
            self.scores[place] -= self.scores[place, self.best[place]]
        for place in others:
            self._keep_better((target, slice(None)), (place, slice(None)), entering)
            self._keep_better((slice(None), target), (slice(None), place), leaving)
        self.alive[target] = True

    def _keep_better(
        self, old: tuple[int | slice, ...], new: tuple[int | slice, ...], where: Mask
    ) -> None:
        ranks, scores = (self.ranks[old], self.ranks[new]), (self.scores[old], self.scores[new])
        better = (ranks[1] > ranks[0]) | ((ranks[1] == ranks[0]) & (scores[1] > scores[0]))
        better &= where
        for matrix in (self.ranks, self.scores, self.tails, self.ends):
            np.copyto(matrix[old], matrix[new], where=better)
