"""treebridge in a spaCy pipeline, and sentences as spaCy documents (extra `text`).

nlp = spacy.blank("pt")
nlp.add_pipe("treebridge", config={"model": "pt"})
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from treebridge.corpus.ends import sentence_starts
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.sentence import Sentence, Word
from treebridge.errors import MissingExtra

try:
    from spacy.attrs import DEP, HEAD
    from spacy.attrs import POS as POS_ATTRIBUTE
    from spacy.language import Language
    from spacy.parts_of_speech import IDS as POS
    from spacy.tokens import Doc
    from spacy.vocab import Vocab
except ImportError:
    raise MissingExtra("spaCy", "text", "working with spaCy") from None

ParseAll = Callable[[list[Sentence]], list[Sentence]]


def to_doc(sentences: Iterable[Sentence], vocab: Any = None) -> Any:
    """Convert sentences to a `Doc` with heads, labels, tags, lemmas and sentence starts."""
    words: list[str] = []
    spaces: list[bool] = []
    heads: list[int] = []
    columns: dict[str, list[str]] = {"deps": [], "pos": [], "tags": [], "lemmas": [], "morphs": []}
    starts: list[bool | int | None] = []
    parsed = True
    for sentence in sentences:
        before = len(words)
        words += sentence.forms
        spaces += _spaces(sentence)
        starts += [index == 0 for index in range(len(sentence))]
        for index, head in enumerate(sentence.heads):
            parsed = parsed and head is not None
            heads.append(before + (head - 1 if head else index))
        cells = (sentence.deprels, sentence.upos, sentence.xpos, sentence.lemmas, sentence.feats)
        for name, column in zip(columns, cells, strict=True):
            columns[name] += ["" if cell == "_" else cell for cell in column]
        columns["deps"][before:] = ["ROOT" if d == "root" else d for d in columns["deps"][before:]]
    vocab = Vocab() if vocab is None else vocab
    if not parsed:
        return Doc(vocab, words, spaces=spaces, sent_starts=starts, **_known(columns, "deps"))
    return Doc(vocab, words, spaces=spaces, heads=heads, **_known(columns))


def sentence_doc(sentence: Sentence, vocab: Any = None) -> Any:
    """Convert one sentence to a `Doc`."""
    return to_doc([sentence], vocab)


def _known(columns: dict[str, list[str]], but: str = "") -> Any:
    """Columns that have any annotation."""
    return {name: cells for name, cells in columns.items() if any(cells) and name != but}


def _spaces(sentence: Sentence) -> list[bool]:
    """Whether a space follows each word; the words of a multi-word token are always separated."""
    spaces = [True] * len(sentence)
    for _, last, _, misc in sentence.tokens():
        spaces[last - 1] = "SpaceAfter=No" not in misc.split("|")
    return spaces


def from_doc(doc: Any) -> Iterator[tuple[list[int], Sentence]]:
    """Yield the sentences of a `Doc` with the indices of their tokens; white space is skipped.

    Sentences are split by our own rules unless the `Doc` has sentence starts.
    """
    words = [token for token in doc if not token.is_space]
    if not words:
        return
    if doc.has_annotation("SENT_START"):
        starts = [i for i, token in enumerate(words) if token.is_sent_start or i == 0]
    else:
        spans = [(token.idx, token.idx + len(token)) for token in words]
        starts = sentence_starts(doc.text, spans)
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        part = words[start:end]
        misc = ["_" if token.whitespace_ else "SpaceAfter=No" for token in part]
        upos = [token.pos_ or "_" for token in part]
        sentence = Sentence.from_words([token.text for token in part], upos=upos, misc=misc)
        yield [token.i for token in part], sentence


class TreebridgeComponent:
    """Pipeline component that sets heads, labels, tags, lemmas, features and sentence starts."""

    def __init__(self, parse: ParseAll, batch: int = 64, multiword: Contractions | None = None):
        self.parse = parse
        self.batch = batch
        self.multiword = multiword

    def __call__(self, doc: Any) -> Any:
        """Annotate one document."""
        return self._annotate([doc])[0]

    def pipe(self, stream: Iterable[Any], batch_size: int | None = None) -> Iterator[Any]:
        """Annotate documents in batches."""
        documents = iter(stream)
        while some := list(islice(documents, batch_size or self.batch)):
            yield from self._annotate(some)

    def _annotate(self, docs: list[Any]) -> list[Any]:
        found = [(doc, places, given) for doc in docs for places, given in from_doc(doc)]
        trees = self.parse([self._expanded(sentence) for _, _, sentence in found])
        parsed: dict[int, list[tuple[list[int], Sentence]]] = {}
        for (doc, places, given), tree in zip(found, trees, strict=True):
            parsed.setdefault(id(doc), []).append((places, together(given, tree)))
        for doc in docs:
            _set_trees(doc, parsed.get(id(doc), []))
        return docs

    def _expanded(self, sentence: Sentence) -> Sentence:
        """Split contractions, as the parser expects, unless the tokens are tagged."""
        untagged = set(sentence.upos) == {"_"}
        return self.multiword.expand(sentence) if self.multiword and untagged else sentence


def together(written: Sentence, tree: Sentence) -> Sentence:
    """Convert a tree of syntactic words (pt *de o*) to one of the tokens of a `Doc` (*do*).

    A token takes the place of its highest word, which cannot create a cycle.
    """
    if len(written) == len(tree):
        return tree
    token_of = [0]  # word → token, both from 1; the root is 0
    tops = []  # the highest word of each token
    for number, (first, last, _, _) in enumerate(tree.tokens(), 1):
        token_of += [number] * (last - first + 1)
        tops.append(min(range(first, last + 1), key=lambda word: _depth(tree, word)))
    return written.annotate(
        heads=[token_of[tree.heads[top - 1] or 0] for top in tops],
        deprels=[tree.deprels[top - 1] for top in tops],
        upos=[tree.upos[top - 1] for top in tops],
        lemmas=[tree.lemmas[top - 1] for top in tops],
        xpos=[tree.xpos[top - 1] for top in tops],
        feats=[tree.feats[top - 1] for top in tops],
    )


def _depth(tree: Sentence, word: int) -> int:
    """Number of arcs from a word up to the root."""
    depth = 0
    while word:
        word, depth = tree.heads[word - 1] or 0, depth + 1
    return depth


def _set_trees(doc: Any, trees: list[tuple[list[int], Sentence]]) -> None:
    """Set all annotations at once, as an array; spaCy derives the sentences from the roots."""
    if not trees:
        return
    strings = doc.vocab.strings
    rows = np.zeros((len(doc), 3), np.int64)  # offset of the head, label, tag
    for places, tree in trees:
        for place, word in zip(places, tree, strict=True):
            head = places[word.head - 1] - place if word.head else 0
            label = "ROOT" if word.deprel == "root" else word.deprel
            rows[place] = (head, _signed(strings.add(label)), _signed(POS.get(word.upos, 0)))
    last = next(token.i for token in doc if not token.is_space)
    for token in doc:
        if token.is_space:  # attached to the word before it, as in spaCy
            rows[token.i] = (last - token.i, _signed(strings.add("dep")), POS["SPACE"])
        else:
            last = token.i
    doc.from_array([HEAD, DEP, POS_ATTRIBUTE], rows.view(np.uint64))
    for places, tree in trees:
        for place, word in zip(places, tree, strict=True):
            _set_columns(doc[place], word)


def _set_columns(token: Any, word: Word) -> None:
    """Set lemma, features and language-specific tag, where there are any."""
    if word.lemma != "_":
        token.lemma_ = word.lemma
    if word.feats != "_":
        token.set_morph(word.feats)
    if word.xpos != "_":
        token.tag_ = word.xpos


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


@Language.factory(
    "treebridge",
    default_config={
        "bridge": None,
        "encoder": None,
        "device": "auto",
        "batch": 64,
        "lexicon": None,
    },
    assigns=[
        "token.head",
        "token.dep",
        "token.pos",
        "token.tag",
        "token.lemma",
        "token.morph",
        "doc.sents",
    ],
)
def make_component(
    nlp: Any,
    name: str,
    model: str,
    bridge: str | None,
    encoder: str | None,
    device: str,
    batch: int,
    lexicon: str | None,
) -> TreebridgeComponent:
    """Create the component for `nlp.add_pipe("treebridge", config={"model": …})`."""
    from treebridge.encode.settings import EncoderSettings
    from treebridge.parse.parser import Parser

    parser = Parser.load(model, encoder, EncoderSettings(device=device), bridge, lexicon)
    return TreebridgeComponent(parser, batch, Contractions.of(parser.language))
