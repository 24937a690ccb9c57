"""Damaged copies of trees, for scorers: other columns, words, tokens and sentences.

A text is a list of sentences, a sentence a list of tokens, a token its form and its words; the
text of all forms never changes, whatever happens to tokens and words.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

import numpy as np

from treebridge.corpus.sentence import FORM, ID, Sentence
from treebridge.parse.mst import single_root_mst

LABELS = "nsubj obj obl nmod case det root punct acl acl:relcl nsubj:pass flat:name dep x".split()
TAGS = "NOUN VERB ADJ ADP PUNCT SYM _".split()
LEMMAS = "a b ab A _".split()
XPOS = "N V _".split()
# With features in any order, of one language only, layered, twice, and in no known form.
FEATS = """_ Number=Sing Number=Plur Gender=Fem|Number=Sing Number=Sing|Gender=Fem Number[psor]=Sing
Number=Plur,Sing NumForm=Digit|Number=Sing Number=Sing|Number=Sing Number""".split()


@dataclass(eq=False)
class W:
    """A word; `was` is the gold word it was made from."""

    form: str
    tag: str
    label: str
    head: W | None = None  # None for the root
    was: W | None = None
    lemma: str = "_"
    xpos: str = "_"
    feats: str = "_"


@dataclass(eq=False)
class T:
    """A token: one word, or a multi-word token."""

    form: str
    words: list[W] = field(default_factory=list)
    multiword: bool = False


Text = list[list[T]]


def from_sentence(sentence: Sentence) -> list[T]:
    words = [
        W(w.form, w.upos, w.deprel, lemma=w.lemma, xpos=w.xpos, feats=w.feats) for w in sentence
    ]
    for word, head in zip(words, sentence.heads, strict=True):
        word.head = words[head - 1] if head else None
    tokens: list[T] = []
    rest = iter(words)
    covered = 0
    for number, form in zip(sentence.lines[ID], sentence.lines[FORM], strict=True):
        if "-" in number:
            first, last = map(int, number.split("-"))
            covered = last
            tokens.append(T(form, [next(rest) for _ in range(first, last + 1)], True))
        elif number.isdecimal() and int(number) > covered:
            tokens.append(T(form, [next(rest)]))
    return tokens


def with_multiword_tokens(tokens: list[T], rng: random.Random) -> list[T]:
    """Merge some neighbours into multi-word tokens; add subtypes to some labels."""
    out: list[T] = []
    for token in tokens:
        if out and rng.random() < 0.15 and len(out[-1].words) < 4:
            old = out.pop()
            token = T(old.form + token.form, old.words + token.words, True)
        for word in token.words:
            if rng.random() < 0.1:
                word.label += ":" + rng.choice(["a", "b"])
            annotate(word, rng)
        out.append(token)
    return out


def damaged(text: Text, rng: random.Random, amount: float) -> Text:
    """A system's version of a gold text."""
    tokens: list[T] = []
    ends: list[bool] = []  # whether a sentence ends after each token
    for sentence in text:
        for i, token in enumerate(sentence):
            last = i == len(sentence) - 1
            copies = _damaged_token(token, rng) if rng.random() < amount else [_copy(token)]
            if tokens and rng.random() < amount / 3 and (not ends[-1] or rng.random() < 0.1):
                old = tokens.pop()  # merged with the one before it
                ends.pop()
                copies[0] = T(old.form + copies[0].form, [_word(old.form + copies[0].form, rng)])
            tokens += copies
            ends += [False] * (len(copies) - 1) + [last]
    out: Text = [[]]
    for token, end in zip(tokens, ends, strict=True):
        out[-1].append(token)
        if end != (rng.random() < amount / 20):
            out.append([])
    out = [sentence for sentence in out if sentence]
    for sentence in out:
        _attach([word for token in sentence for word in token.words], rng, amount)
    return out


def _copy(token: T) -> T:
    return replace(token, words=[replace(word, was=word) for word in token.words])


def _word(form: str, rng: random.Random) -> W:
    word = W(form, rng.choice(TAGS), rng.choice(LABELS))
    annotate(word, rng)
    return word


def annotate(word: W, rng: random.Random) -> None:
    """Give a word any lemma, language-specific tag and features."""
    word.lemma, word.xpos, word.feats = (rng.choice(values) for values in (LEMMAS, XPOS, FEATS))


def _damaged_token(token: T, rng: random.Random) -> list[T]:
    """Split a token, merge it into one word, or make it a multi-word token of other words."""
    cut = rng.randint(1, max(1, len(token.form) - 1))
    pieces = [piece for piece in (token.form[:cut], token.form[cut:]) if piece]
    kind = rng.choice(["split", "one", "multiword", "words"])
    if kind == "split":
        return [T(piece, [_word(piece, rng)]) for piece in pieces]
    if kind == "one":
        return [T(token.form, [_word(token.form, rng)])]
    if kind == "multiword":
        return [T(token.form, [_word(piece, rng) for piece in [*pieces, "x"]], True)]
    words = _copy(token).words
    words.insert(rng.randint(0, len(words)), _word(rng.choice(words).form.upper(), rng))
    return [T(token.form, words, True)]


def _attach(words: list[W], rng: random.Random, amount: float) -> None:
    """Give words their old heads if that makes a tree, and random ones otherwise."""
    place = {word.was: i for i, word in enumerate(words, 1) if word.was}
    scores = np.random.default_rng(rng.randrange(2**32)).random((len(words) + 1,) * 2)
    for i, word in enumerate(words, 1):
        if word.was and rng.random() > amount:
            scores[i, place.get(word.was.head, 0)] += 10
        if rng.random() < amount:
            word.label = rng.choice(LABELS)
        if rng.random() < amount:
            word.tag = rng.choice(TAGS)
        if rng.random() < amount:
            annotate(word, rng)
    for word, head in zip(words, single_root_mst(scores), strict=True):
        word.head = words[head - 1] if head else None


def to_conllu(text: Text, rng: random.Random) -> str:
    """The text as CoNLL-U, with empty nodes here and there."""
    lines = []
    for sentence in text:
        number = {word: i for i, word in enumerate((w for t in sentence for w in t.words), 1)}
        lines.append("# a comment")
        for token in sentence:
            if token.multiword:
                first, last = number[token.words[0]], number[token.words[-1]]
                if first == last:  # the format has no multi-word token of one word
                    token.words[0].form = token.form
                else:
                    lines.append("\t".join([f"{first}-{last}", token.form, *["_"] * 8]))
            for word in token.words:
                i, head = number[word], number[word.head] if word.head else 0
                row = [str(i), word.form, word.lemma, word.tag, word.xpos, word.feats]
                row += [str(head), word.label]
                lines.append("\t".join([*row, "_", "_"]))
                if rng.random() < 0.03:
                    lines.append("\t".join([f"{i}.1", "e", *["_"] * 8]))
        lines.append("")
    return "\n".join([*lines, ""])
