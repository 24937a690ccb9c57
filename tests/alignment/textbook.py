"""The aligners as a textbook has them: dictionaries, loops, no tricks. Slow and easy to check."""

from __future__ import annotations

import math
from collections import defaultdict

from scipy.special import digamma

NULL = None


def vb(counts: dict, alpha: float) -> dict:
    """counts[given][word] → exp(ψ(c + α) − ψ(Σ(c + α)))."""
    return {
        given: {
            word: math.exp(digamma(c + alpha) - digamma(sum(x + alpha for x in row.values())))
            for word, c in row.items()
        }
        for given, row in counts.items()
    }


def fast_align(pairs, *, iterations=5, p0=0.08, alpha=0.01, tension=4.0):
    """One direction: each word of the second sentence picks one of the first.

    Returns t(word | given), the tension, and the posteriors of the last iteration for every pair.
    """
    vocabulary = [word for _, picking in pairs for word in picking]  # NULL may explain any
    pairs = [(a, b) for a, b in pairs if a and b]
    table = {}
    if not pairs:
        return table, tension, []
    for step in range(iterations):
        last = step == iterations - 1
        counts: dict = defaultdict(lambda: defaultdict(float))
        counts[NULL].update(dict.fromkeys(vocabulary, 0.0))
        feature = words = 0.0
        posteriors = []
        for given, picking in pairs:
            n, m = len(given), len(picking)
            rows = []
            for i, word in enumerate(picking, 1):
                h = [-abs(i / m - j / n) for j in range(1, n + 1)]
                z = sum(math.exp(tension * x) for x in h)
                scores = [p0 * (table[NULL][word] if table else 1.0)]
                for j in range(n):
                    t = table[given[j]][word] if table else 1.0
                    scores.append((1 - p0) * math.exp(tension * h[j]) / z * t)
                shares = [score / sum(scores) for score in scores]
                counts[NULL][word] += shares[0]
                for j in range(n):
                    counts[given[j]][word] += shares[j + 1]
                    feature += shares[j + 1] * h[j]
                words += 1
                rows.append(shares)
            posteriors.append(rows)
        if last:
            return table, tension, posteriors
        if step:
            for _ in range(8):
                expected = 0.0
                for given, picking in pairs:
                    n, m = len(given), len(picking)
                    for i in range(1, m + 1):
                        h = [-abs(i / m - j / n) for j in range(1, n + 1)]
                        z = [math.exp(tension * x) for x in h]
                        expected += sum(a * b for a, b in zip(h, z, strict=True)) / sum(z)
                tension = min(max(tension + 20 * (feature - expected) / words, 0.1), 14.0)
        table = vb(counts, alpha)
    return table, tension, []


def jump_class(jump: int) -> int:
    far = [8, 12, 20]  # jumps beyond these share a class with others
    size = min(abs(jump), 8) + sum(abs(jump) > edge for edge in far)
    return 11 + (size if jump >= 0 else -size)


def jump_probabilities(moves: dict[int, float], smoothing: float) -> list[float]:
    """Of a single jump: what its class has, shared by the jumps of up to 60 words in it."""
    classes = [jump_class(jump) for jump in range(-60, 61)]
    total = sum(moves.values()) or 1.0
    return [(moves[c] / total + smoothing) / classes.count(c) for c in sorted(set(classes))]


def hmm_posteriors(given, picking, t, jumps, p0, floor=1e-12):
    """P(word k picks i) by summing over every path of (pick or NULL, last position)."""
    n, m = len(given), len(picking)

    def step(before: int, i: int) -> float:
        total = sum(jumps[jump_class(x - before)] for x in range(n))
        return (1 - p0) * jumps[jump_class(i - before)] / total

    def emit(i, k: int) -> float:
        return t.get(given[i] if i is not None else NULL, {}).get(picking[k], 0.0) + floor

    # states: (position, picked?); the forward and backward recursions over all of them
    states = [(i, picked) for i in range(n) for picked in (True, False)]
    forward = []
    for k in range(m):
        row = {}
        for i, picked in states:
            if k == 0:
                arrive = step(-1, i) if picked else p0 / n
            else:
                arrive = sum(
                    p * (step(j, i) if picked else p0 * (i == j))
                    for (j, _), p in forward[-1].items()
                )
            row[i, picked] = arrive * emit(i if picked else None, k)
        forward.append(row)
    backward = [dict.fromkeys(states, 1.0)]
    for k in range(m - 1, 0, -1):
        ahead = backward[0]
        row = {}
        for j, was in states:
            row[j, was] = sum(
                (step(j, i) if picked else p0 * (i == j))
                * emit(i if picked else None, k)
                * ahead[i, picked]
                for i, picked in states
            )
        backward.insert(0, row)
    z = sum(forward[-1].values())
    picks = [[forward[k][i, True] * backward[k][i, True] / z for i in range(n)] for k in range(m)]
    moves: dict[int, float] = defaultdict(float)
    for k in range(m):
        for i in range(n):
            after = emit(i, k) * backward[k][i, True] / z
            if k == 0:
                moves[jump_class(i + 1)] += step(-1, i) * after
            else:
                for (j, _), p in forward[k - 1].items():
                    moves[jump_class(i - j)] += p * step(j, i) * after
    return picks, moves


def hmm_iteration(pairs, forward_t, reverse_t, jumps, p0, alpha):
    """One round of alignment by agreement: both tables and the jumps, anew."""
    counts = [defaultdict(lambda: defaultdict(float)) for _ in range(2)]
    moved = [defaultdict(float), defaultdict(float)]
    for source, target in pairs:
        counts[0][NULL].update(dict.fromkeys(target, 0.0))
        counts[1][NULL].update(dict.fromkeys(source, 0.0))
    for source, target in pairs:
        if not source or not target:
            continue
        f, moves_f = hmm_posteriors(source, target, forward_t, jumps[0], p0)
        r, moves_r = hmm_posteriors(target, source, reverse_t, jumps[1], p0)
        for total, moves in zip(moved, (moves_f, moves_r), strict=True):
            for key, value in moves.items():
                total[key] += value
        for j, word in enumerate(target):
            counts[0][NULL][word] += max(1 - sum(f[j]), 0)
        for i, word in enumerate(source):
            counts[1][NULL][word] += max(1 - sum(r[i]), 0)
        for i, a in enumerate(source):
            for j, b in enumerate(target):
                counts[0][a][b] += f[j][i] * r[i][j]
                counts[1][b][a] += f[j][i] * r[i][j]
    return vb(counts[0], alpha), vb(counts[1], alpha), moved
