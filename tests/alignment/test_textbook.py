"""Both engines against the textbook, on small random corpora."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from scipy.special import digamma as scipy_digamma

from alignment import textbook
from treebridge.alignment import fast_align as fast_align_module
from treebridge.alignment.agreement import fill_posteriors
from treebridge.alignment.aligner import Aligner
from treebridge.alignment.chain import CLASSES, jump_class
from treebridge.alignment.counting import Block, looked_up
from treebridge.alignment.diagonal import expected_feature, fill_prior
from treebridge.alignment.dirichlet import digamma
from treebridge.alignment.fast_align import FastAlign, FastAlignSettings
from treebridge.alignment.hmm import Hmm, HmmSettings, first_jumps
from treebridge.alignment.indexed import IndexedPairs, index_pairs
from treebridge.alignment.table import PairTable, find
from treebridge.alignment.threads import Threads

ONE = Threads(1)
sentences = st.lists(st.sampled_from("abcdefg"), max_size=7)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=8)
some_words = [("a b c".split(), "A B C".split()), ("a".split(), "B A A".split()), ([], ["C"])]


def swapped(pairs):
    return [(b, a) for a, b in pairs]


def the_block(corpus: IndexedPairs, model: Aligner, unseen: float) -> Block:
    (block,) = looked_up(corpus, model.table, model.known, unseen, ONE)
    return block


def cells(block: Block, corpus: IndexedPairs, n: int):
    """The two posterior matrices [source, target] of a pair."""
    rows = corpus.source.at[n + 1] - corpus.source.at[n]
    here = block.posteriors[block.at[n] : block.at[n + 1]]
    return here.reshape(rows, -1, 2).transpose(2, 0, 1)


@given(corpora)
@example(some_words)
@settings(max_examples=20, phases=(Phase.explicit, Phase.generate))
def test_fast_align_is_the_textbook(pairs) -> None:
    corpus = index_pairs(pairs)
    model = FastAlign.fit(corpus, ONE, settings=FastAlignSettings(double=True))
    block = the_block(corpus, model, fast_align_module.UNSEEN)
    fast_align_module._posteriors(
        block, 0, len(pairs), corpus.source, corpus.target, model.known, model.prior
    )
    picks = model.choices(corpus, ONE)
    kept = [n for n, (a, b) in enumerate(pairs) if a and b]
    for direction, text in enumerate((pairs, swapped(pairs))):
        _, tension, posteriors = textbook.fast_align(text)
        assert model.prior[1 + direction] == pytest.approx(tension, abs=1e-6)
        for n, rows in zip(kept, posteriors, strict=True):
            ours = cells(block, corpus, n)[direction]
            ours = ours.T if direction == 0 else ours
            theirs = np.array(rows)
            np.testing.assert_allclose(ours, theirs[:, 1:], rtol=0, atol=1e-6)
            side = (corpus.target, corpus.source)[direction]
            chosen = picks[direction][side.at[n] : side.at[n + 1]] + 1  # 0 is NULL
            best = theirs.max(axis=1)
            assert np.all(theirs[np.arange(len(chosen)), chosen] >= best - 1e-6)


@given(corpora)
@example(some_words)
@settings(max_examples=20, phases=(Phase.explicit, Phase.generate))
def test_hmm_is_the_textbook(pairs) -> None:
    options = HmmSettings(iterations=2, common=10**9, rare=0, double=True)
    corpus = index_pairs(pairs)
    model = Hmm.fit(corpus, ONE, settings=options)
    warm_up = [
        textbook.fast_align(text, iterations=options.warm_up + 1)[0]
        for text in (pairs, swapped(pairs))
    ]
    jumps = first_jumps()
    for _ in range(options.iterations):
        *warm_up, moved = textbook.hmm_iteration(
            pairs, *warm_up, jumps, options.null, options.alpha
        )
        jumps = np.array([textbook.jump_probabilities(m, options.jump_smoothing) for m in moved])
    np.testing.assert_allclose(model.chains.jumps, jumps, rtol=0, atol=1e-6)
    block = the_block(corpus, model, 0.0)
    fill_posteriors(
        block, 0, len(pairs), corpus.source, corpus.target,
        model.known, model.chains, False, np.zeros((2, CLASSES)),
    )  # fmt: skip
    for n, (source, target) in enumerate(pairs):
        if source and target:
            forward, reverse = cells(block, corpus, n)
            picks, _ = textbook.hmm_posteriors(source, target, warm_up[0], jumps[0], options.null)
            np.testing.assert_allclose(forward.T, picks, rtol=0, atol=1e-6)
            picks, _ = textbook.hmm_posteriors(target, source, warm_up[1], jumps[1], options.null)
            np.testing.assert_allclose(reverse, picks, rtol=0, atol=1e-6)


@given(st.integers(1, 300), st.integers(1, 300), st.floats(0.1, 14), st.data())
def test_the_prior_and_its_slope_are_plain_sums(m, n, tension, data) -> None:
    i = data.draw(st.integers(1, m))
    prior = np.empty(n)
    fill_prior(i, m, n, tension, prior)
    h = -np.abs(i / m - np.arange(1, n + 1) / n)
    weights = np.exp(tension * h)
    np.testing.assert_allclose(prior, weights / weights.sum(), rtol=1e-9)
    assert expected_feature(i, m, n, tension) == pytest.approx(prior @ h, abs=1e-9)


@given(st.floats(1e-6, 1e8))
def test_digamma(x) -> None:
    assert digamma(x) == pytest.approx(float(scipy_digamma(x)), rel=1e-9, abs=1e-9)


@given(st.integers(-400, 400))
def test_jump_classes(jump) -> None:
    assert jump_class(jump) == textbook.jump_class(jump)
    assert 0 <= jump_class(jump) < CLASSES and jump_class(-jump) == CLASSES - 1 - jump_class(jump)


def test_the_first_guess_is_that_the_next_word_comes_next() -> None:
    for jumps in first_jumps():
        near = jumps / jumps[jump_class(1)]
        assert (np.diff(near[: jump_class(1) + 1]) > 0).all()
        assert (np.diff(near[jump_class(1) :]) < 0).all() and near.min() > 0


@given(corpora, st.sampled_from([None, 3]))
def test_the_table_holds_what_meets(pairs, common) -> None:
    corpus = index_pairs(pairs)
    table = PairTable.build(corpus, ONE, common=common)
    meetings = [(a, b) for source, target in pairs for a in source for b in target]
    sources = [a for source, _ in pairs for a in source]
    targets = [b for _, target in pairs for b in target]
    for a, row in corpus.source_words.items():
        for b, word in corpus.target_words.items():
            often = common and min(sources.count(a), targets.count(b)) >= common
            expected = meetings.count((a, b)) >= (2 if often else 1)
            slot = find(table, row, word)
            assert (slot >= 0) == expected
            assert not expected or table.keys[slot] == word
    assert find(table, -1, 0) == find(table, 0, -1) == -1


def test_iterations_and_settings_matter() -> None:
    corpus = index_pairs([("a b c".split(), "A B C".split()), ("a c".split(), "A C".split())] * 3)
    loose = FastAlign.fit(corpus, ONE, settings=FastAlignSettings(iterations=2))
    tight = FastAlign.fit(corpus, ONE)
    assert loose.prior.forward == 4.0 < tight.prior.forward <= 14.0
