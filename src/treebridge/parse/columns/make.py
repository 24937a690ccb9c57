"""Learn columns from the trees that a parser was trained on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treebridge.corpus.sentence import Sentence
from treebridge.encode.store import VectorStore
from treebridge.parse.batches import Into
from treebridge.parse.columns.classifiers import NOTHING, XPOS_NAME, Classifiers, has_columns
from treebridge.parse.columns.columns import Columns
from treebridge.parse.columns.learn import Lesson, learn, new_heads
from treebridge.parse.columns.lemmatizer import Lemmatizer, examples_of
from treebridge.parse.padding import Rows
from treebridge.parse.settings import ParserSettings
from treebridge.parse.vocab import Names
from treebridge.progress import QUIET, Progress

RATE = 2e-3
MOST_WORDS = 400_000  # more of them would take memory and teach little


def columns_of_trees(
    trees: Sequence[Sentence],
    store: VectorStore,
    space: Into,
    tags: Names,
    settings: ParserSettings,
    progress: Progress = QUIET,
) -> Columns | None:
    """Classifiers for the XPOS and FEATS of a treebank, and a lemmatizer if it has lemmas."""
    heads = None
    if has_columns(trees):
        classifiers = Classifiers.of(trees)
        lesson = lesson_of_trees(trees, store, space, tags, classifiers)
        dim = store.dim if not len(lesson.vectors) else lesson.vectors[0].shape[1]
        blank = new_heads(classifiers, dim, len(tags), settings.tagger, settings.seed)
        heads = learn(blank, lesson, rate=RATE, seed=settings.seed, progress=progress)
    lemmatizer = lemmatizer_of(trees)
    return Columns(heads, lemmatizer) if heads or lemmatizer else None


def lemmatizer_of(trees: Sequence[Sentence]) -> Lemmatizer | None:
    """A lemmatizer, if the trees have lemmas."""
    has_lemmas = any(lemma != NOTHING for tree in trees for lemma in tree.lemmas)
    return Lemmatizer.learn(examples_of(trees)) if has_lemmas else None


def lesson_of_trees(
    trees: Sequence[Sentence],
    store: VectorStore,
    space: Into,
    tags: Names,
    classifiers: Classifiers,
) -> Lesson:
    """What trees say of the columns that they have, with the vectors of their words."""
    has = has_columns(trees)
    names = [name for name in classifiers.values if (name if name == XPOS_NAME else "FEATS") in has]
    vectors: list[Rows] = []
    numbers, targets, forms = [], [], []
    words = 0
    for index, tree in enumerate(trees):
        if not len(tree) or words > MOST_WORDS:
            continue
        words += len(tree)
        vectors.append(space.transform(store[index]).astype(np.float16))
        numbers.append(tags.numbers(tree.upos))
        targets.append(classifiers.targets(tree, names))
        forms.append(tree.forms)
    return Lesson(vectors, numbers, targets, forms)
