"""The network: against the formulas written out, and blind to what pads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import tree_problem
from treebridge.parse.batches import make_batch
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.bilstm import BiLSTM
from treebridge.parse.given import Given
from treebridge.parse.padding import cut_batches
from treebridge.parse.predict import Prediction, predict
from treebridge.parse.settings import ParserSettings
from treebridge.parse.ud_rules import Rules
from treebridge.parse.vocab import UNKNOWN, Names
from treebridge.precision import WIDE, half_precision

SIZES = {"layers": 2, "hidden": 6, "arc": 5, "label": 4, "tag": 3, "tagger": 7}
DIM, LABELS, TAGS = 8, 5, 4
NAMES = ["nsubj", "obj", "root", "case", "det"]


def network(tags: str, **changes: object) -> Biaffine:
    torch.manual_seed(1)
    model = Biaffine(ParserSettings(tags=tags, **{**SIZES, **changes}), DIM, LABELS, TAGS)  # type: ignore[arg-type]
    for weight in model.parameters():  # the biaffine weights start at zero
        torch.nn.init.normal_(weight, std=0.5)
    return model.eval()


def random_vectors(lengths: list[int], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, DIM)).astype(np.float32) for n in lengths]


def trees_of(
    model: Biaffine, vectors: list[np.ndarray], tags: list[np.ndarray] | None = None
) -> Prediction:
    padded, lengths, known = (part.numpy() for part in make_batch(vectors, tags)[:3])
    sentences = [Sentence.from_words(["word"] * len(rows)) for rows in vectors]
    nothing = Given.of(sentences, Names(NAMES), Names([]))
    return predict(model, padded, lengths, known, Rules.of(NAMES, list("ABCD")), nothing)


@pytest.mark.parametrize("tags", ["gold", "none", "predicted"])
def test_a_sentence_is_scored_the_same_alone_and_in_a_batch(tags: str) -> None:
    model, vectors = network(tags), random_vectors([9, 7, 7, 1])
    known = [np.arange(len(v)) % TAGS for v in vectors]
    together = trees_of(model, vectors, known)
    for row, (one, tag) in enumerate(zip(vectors, known, strict=True)):
        n = len(one)
        alone = trees_of(model, [one], [tag])
        np.testing.assert_array_equal(alone.heads[0], together.heads[row, :n])
        np.testing.assert_array_equal(alone.labels[0], together.labels[row, :n])
        for a, b in zip(alone[3:5], together[3:5], strict=True):
            np.testing.assert_allclose(a[0], b[row, :n], atol=1e-5)
        assert (together.heads[row, n:] == -1).all()


def test_scores_are_those_of_the_formulas() -> None:
    """Arc: [d; 1] U h. Label l: [d; 1] U_l [h; 1]. Both over LeakyReLU layers of the BiLSTM."""
    model = network("none")
    batch = make_batch(random_vectors([5]))
    states = model(batch)
    x = batch.vectors * DIM**0.5
    for lstm in model.lstm:
        x = torch.nn.LSTM.forward(lstm, x)[0]
    x = torch.cat([model.root[None], x[0]])  # [n+1, 2·hidden]

    def layer(linear: torch.nn.Linear) -> torch.Tensor:
        return torch.nn.functional.leaky_relu(x @ linear.weight.T + linear.bias, 0.1)

    arc_dependent, arc_head = layer(model.arc_dependent), layer(model.arc_head)
    label_dependent, label_head = layer(model.label_dependent), layer(model.label_head)
    one = torch.ones(1)
    heads = torch.tensor([[2, 0, 2, 5, 2]])
    labels = model.label_scores(states, heads)
    for dependent in range(1, 6):
        for head in range(6):
            expected = (
                torch.cat([arc_dependent[dependent], one]) @ model.arc_weight @ arc_head[head]
            )
            found = states.arcs[0, dependent - 1, head]
            assert (
                torch.isneginf(found)
                if head == dependent
                else torch.isclose(found, expected, atol=1e-4)
            )
        left = torch.cat([label_dependent[dependent], one])
        right = torch.cat([label_head[int(heads[0, dependent - 1])], one])
        for label in range(LABELS):
            expected = left @ model.label_weight[:, label] @ right
            assert torch.isclose(labels[0, dependent - 1, label], expected, atol=1e-4)


def test_loss_is_the_sum_of_cross_entropies_over_words() -> None:
    model = network("predicted")
    lengths = [6, 4]
    rng = np.random.default_rng(3)
    tags = [rng.integers(0, TAGS, n) for n in lengths]
    heads = [np.array([2, 0, 2, 3, 3, 3]), np.array([0, 1, 1, 1])]
    labels = [rng.integers(0, LABELS, n) for n in lengths]
    labels[1][2] = UNKNOWN  # a label that is not known is not learned
    batch = make_batch(random_vectors(lengths), tags, heads, labels)
    with torch.no_grad():
        states = model(batch)
        label_scores = model.label_scores(states, batch.heads).log_softmax(-1)
    arcs, tag_scores = states.arcs.log_softmax(-1), states.tags.log_softmax(-1)
    expected = 0.0
    for row, n in enumerate(lengths):
        for word in range(n):
            expected -= float(arcs[row, word, heads[row][word]])
            expected -= float(tag_scores[row, word, tags[row][word]])
            if labels[row][word] != UNKNOWN:
                expected -= float(label_scores[row, word, labels[row][word]])
    assert model.loss(batch).item() == pytest.approx(expected, rel=1e-4)


def test_arcs_teach_the_tagger_nothing_but_tags() -> None:
    """Otherwise what is fed on as a tag would stop being one."""
    model = network("predicted")
    model(make_batch(random_vectors([4]))).arcs[0, :, 0].sum().backward()
    assert all(weight.grad is None for weight in model.tagger.parameters())
    assert model.tag_vectors.grad is not None


def test_gold_tags_are_looked_at_and_others_are_not() -> None:
    vectors = random_vectors([5])
    first, second = [np.zeros(5, np.int64)], [np.full(5, 2)]
    for tags in ("gold", "none", "predicted"):
        model = network(tags)
        a, b = (model(make_batch(vectors, known)).arcs for known in (first, second))
        assert torch.equal(a, b) == (tags != "gold")


def test_padded_sentences_are_read_as_packed_ones() -> None:
    """States and gradients; torch's packed sequences say what is right."""
    torch.manual_seed(1)
    layer = BiLSTM(DIM, 5)
    torch.nn.init.normal_(layer.bias_ih_l0_reverse)  # so that padding would be seen
    x, weight = torch.randn(4, 6, DIM, requires_grad=True), torch.randn(4, 6, 10)
    found = []
    for read in (layer.packed, layer.padded):
        states = read(x, torch.tensor([6, 4, 4, 1]))
        gradients = torch.autograd.grad((states * weight).sum(), [x, *layer.parameters()])
        found.append([states, *gradients])
    for packed, padded in zip(*found, strict=True):
        torch.testing.assert_close(packed, padded)


def test_it_learns_in_half_precision_and_parses_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, heads = random_vectors([6, 4]), [np.arange(6), np.arange(4)]
    names = [np.arange(n) % TAGS for n in (6, 4)]
    batch = make_batch(vectors, names, heads, names)
    model = network("predicted", dropout=0.0)

    def learn() -> tuple[torch.Tensor, torch.Tensor]:
        loss = model.train().loss(batch)
        return loss, torch.autograd.grad(loss, model.lstm[0].weight_hh_l0)[0]

    loss, gradient = learn()
    full = model.eval()(batch).arcs
    monkeypatch.setattr("treebridge.parse.biaffine.half_precision", lambda *_: torch.bfloat16)
    able = half_precision("cpu", WIDE) is not None  # where it is not, oneDNN refuses such LSTMs
    with torch.backends.mkldnn.flags(enabled=able):
        coarse_loss, coarse_gradient = learn()
    assert loss.dtype == coarse_loss.dtype == torch.float32
    assert 0 < abs(coarse_loss / loss - 1) < 0.02
    assert torch.cosine_similarity(gradient.flatten(), coarse_gradient.flatten(), 0) > 0.99
    assert torch.equal(model.eval()(batch).arcs, full)


def test_dropout_has_one_mask_a_sentence() -> None:
    model = network("none", dropout=0.5).train()
    dropped = model._drop(torch.ones(3, 50, 20))
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert not torch.equal(dropped[0], dropped[1])


@settings(max_examples=40)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 1000))
def test_whatever_goes_in_one_tree_with_one_root_comes_out(lengths: list[int], seed: int) -> None:
    lengths.sort(reverse=True)
    vectors = [10 * v for v in random_vectors(lengths, seed)]
    found = trees_of(network("predicted"), vectors)
    for row, n in enumerate(lengths):
        assert tree_problem(found.heads[row, :n].tolist()) is None
        labels = found.labels[row, :n]
        assert ((labels == NAMES.index("root")) == (found.heads[row, :n] == 0)).all()
        assert (
            (found.arc_probabilities[row, :n] > 0) & (found.arc_probabilities[row, :n] <= 1)
        ).all()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(0, 60), st.integers(0, 9))
def test_batches_hold_every_sentence_once_within_the_limits(
    lengths: list[int], words: int, sentences: int
) -> None:
    if not words and not sentences:
        return
    sizes = np.array(lengths)
    batches = cut_batches(sizes, sizes.argsort(), words, sentences)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert sizes[batch].tolist() == sorted(sizes[batch].tolist(), reverse=True)
        assert not sentences or len(batch) <= sentences
        assert not words or len(batch) == 1 or len(batch) * sizes[batch].max() <= words


def test_names() -> None:
    names = Names.collect(["b", "a", "_", "b"])
    assert list(names) == ["a", "b"] and "a" in names and "_" not in names
    assert names.numbers(["b", "c", "_"]).tolist() == [1, UNKNOWN, UNKNOWN]
    assert names.names([1, 0]) == ["b", "a"]
