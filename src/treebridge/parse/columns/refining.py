"""Columns of a refined parser: from links, from the user's trees, from a lexicon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from treebridge.corpus.bitext import Pair
from treebridge.corpus.lexicon import OPEN, Lexicon
from treebridge.corpus.sentence import Sentence
from treebridge.encode.store import encode_into_store
from treebridge.parse.columns.classifiers import Classifiers, has_columns
from treebridge.parse.columns.columns import LINKS, SOURCE, TREES, Columns
from treebridge.parse.columns.heads import Heads
from treebridge.parse.columns.learn import Lesson, learn, new_heads
from treebridge.parse.columns.lemmatizer import Example, Lemmatizer, examples_of
from treebridge.parse.columns.make import columns_of_trees, lesson_of_trees
from treebridge.parse.columns.project import project_columns
from treebridge.parse.columns.verb_forms import Told, VerbForms
from treebridge.parse.parser import Parser
from treebridge.parse.project.projection import LinkArray
from treebridge.parse.vocab import Names
from treebridge.progress import QUIET, Progress

LINK_RATE, TREE_RATE = 1e-3, 3e-3
CONTENT = ("ADJ", "NOUN", "PROPN")
LEAST_SAME = 2  # links between equal words, to take the lemma of one for the other


def refine_columns(
    refined: Parser,
    *,
    teacher: Parser | None = None,
    pairs: Sequence[tuple[Pair, LinkArray]] | None = None,
    treebank: Sequence[Sentence] | None = None,
    trees: Sequence[Sentence] = (),
    seed: int = 1,
    progress: Progress = QUIET,
) -> Columns | None:
    """The columns of a refined parser: features projected over links, then what the trees say."""
    columns = refined.columns or Columns()
    if pairs and teacher is not None:
        source = _of_source(columns, teacher, treebank, progress)
        if source and source.heads:
            columns = _over_links(refined, source, teacher, pairs, treebank, seed, progress)
    if trees:
        columns = _from_trees(refined, columns, trees, seed, progress)
    taught = list(examples_of(trees)) + _lexicon_examples(refined.lexicon)
    if any(example.lemma != OPEN for example in taught):
        words = columns.lemmatizer.words if columns.lemmatizer else {}
        lemmatizer = Lemmatizer.learn(taught)
        columns = replace(
            columns, lemmatizer=replace(lemmatizer, words={**words, **lemmatizer.words})
        )
    return columns if columns.names else None


def _of_source(
    columns: Columns, teacher: Parser, treebank: Sequence[Sentence] | None, progress: Progress
) -> Columns | None:
    """The source language's columns: as they came over the bridge, or learned from its trees."""
    if columns.heads and columns.origin == SOURCE:
        return columns
    if treebank is None:
        return None
    store = encode_into_store(
        teacher.load_encoder(), [tree.forms for tree in treebank], progress=progress
    )
    found = columns_of_trees(
        treebank, store, teacher.space, teacher.tags, teacher.settings, progress
    )
    return found.across() if found else None


def _over_links(
    refined: Parser,
    source: Columns,
    teacher: Parser,
    pairs: Sequence[tuple[Pair, LinkArray]],
    treebank: Sequence[Sentence] | None,
    seed: int,
    progress: Progress,
) -> Columns:
    assert source.heads is not None
    known = source.heads.classifiers
    teacher = replace(teacher, columns=Columns(source.heads), lexicon=None, writes=None)
    found = project_columns(pairs, teacher, replace(refined, columns=None), known, progress)
    start = source.heads.spelled(found.lesson.forms, found.lesson.tags)
    heads = learn(start, found.lesson, rate=LINK_RATE, seed=seed, progress=progress)
    lemmatizer = source.lemmatizer or Lemmatizer()
    if treebank is not None:
        lemmatizer = lemmatizer.with_words(_same_lemmas(found.same, treebank))
    forms = VerbForms().updated(_told(found.lesson, refined.tags), known)
    return Columns(heads, lemmatizer, LINKS, forms)


def _told(lesson: Lesson, tags: Names) -> Iterator[Told]:
    """The tags and targets of the words of a lesson."""
    for numbers, rows in zip(lesson.tags, lesson.targets, strict=True):
        for number, row in zip(numbers.tolist(), rows, strict=True):
            if number >= 0:
                yield tags[number], row


def _same_lemmas(same: dict[str, int], treebank: Sequence[Sentence]) -> dict[str, str]:
    """The lemmas of words that both languages have, if the source treebank has one for each.

    Function words are left out: that they look alike is chance (Spanish and English *me*).
    """
    lemmas: dict[str, set[str]] = {}
    for example in examples_of(treebank):
        if same.get(example.form, 0) >= LEAST_SAME:
            content = example.upos in CONTENT and example.lemma != example.form.lower()
            lemmas.setdefault(example.form, set()).add(example.lemma if content else "")
    one = {form: found.pop() for form, found in lemmas.items() if len(found) == 1}
    return {form: lemma for form, lemma in one.items() if lemma}


def _from_trees(
    refined: Parser, columns: Columns, trees: Sequence[Sentence], seed: int, progress: Progress
) -> Columns:
    """Further features and values, and the habits of the trees."""
    if not has_columns(trees):
        return columns
    store = encode_into_store(
        refined.load_encoder(), [tree.forms for tree in trees], progress=progress
    )
    into = refined.bridge or refined.space
    old = columns.heads
    classifiers = Classifiers.of(trees, old.classifiers if old else None)
    start: Heads = old.widened(classifiers) if old else new_heads(
        classifiers, refined.space.dim, len(refined.tags), refined.settings.tagger, seed
    )  # fmt: skip
    lesson = lesson_of_trees(trees, store, into, refined.tags, classifiers)
    start = start.spelled(lesson.forms, lesson.tags)
    heads = learn(start, lesson, rate=TREE_RATE, seed=seed, progress=progress)
    forms = columns.verb_forms.updated(_told(lesson, refined.tags), classifiers)
    return Columns(heads, columns.lemmatizer, TREES, forms)


def _lexicon_examples(lexicon: Lexicon | None) -> list[Example]:
    if lexicon is None:
        return []
    return [Example(e.form, e.upos, e.feats, e.lemma) for e in lexicon if e.lemma != OPEN]
