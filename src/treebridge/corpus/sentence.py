"""A sentence: the lines of a CoNLL-U block, and its syntactic words.

A sentence keeps its lines as ten columns of strings, so that annotation the parser does not use
(features, enhanced dependencies, MISC) is preserved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

from treebridge.corpus.drawing import render

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
# A parser scores every pair of words: 220 MB at 2,000 words, 8 GB at 12,000. Longer sentences are
# split in raw text and refused in tokenized input. Treebank sentences have a few hundred at most.
MAX_WORDS = 2000


class Word(NamedTuple):
    """One syntactic word; `head` counts from 1, 0 is the root, None is unannotated."""

    id: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int | None
    deprel: str
    deps: str
    misc: str


class Sentence:
    """The lines of one sentence; its length is the number of syntactic words.

    `lines` has one tuple for each of the ten columns, with multi-word tokens (`3-4`) and empty
    nodes (`5.1`) in their places; `positions` are the lines of the syntactic words. Everything
    else (`forms`, `heads`, …) has one entry per syntactic word.
    """

    __slots__ = ("comments", "heads", "lines", "positions")

    def __init__(
        self,
        lines: Sequence[tuple[str, ...]],
        positions: Sequence[int],
        heads: Sequence[int | None],
        comments: Sequence[str] = (),
    ):
        self.lines = lines
        self.positions = positions
        self.heads = heads
        self.comments = comments

    @classmethod
    def from_words(
        cls,
        forms: Sequence[str],
        *,
        upos: Sequence[str] | None = None,
        heads: Sequence[int | None] | None = None,
        deprels: Sequence[str] | None = None,
        misc: Sequence[str] | None = None,
        comments: Sequence[str] = (),
    ) -> Sentence:
        """Create a sentence from words; columns that are not given stay unannotated (`_`)."""
        n = len(forms)
        empty = ("_",) * n
        lines = [empty] * 10
        lines[ID] = tuple(str(i) for i in range(1, n + 1))
        lines[FORM] = tuple(forms)
        sentence = cls(lines, range(n), (None,) * n, comments)
        return sentence.annotate(heads=heads, deprels=deprels, upos=upos, misc=misc)

    def annotate(
        self,
        *,
        heads: Sequence[int | None] | None = None,
        deprels: Sequence[str] | None = None,
        upos: Sequence[str] | None = None,
        lemmas: Sequence[str] | None = None,
        xpos: Sequence[str] | None = None,
        feats: Sequence[str] | None = None,
        misc: Sequence[str] | None = None,
    ) -> Sentence:
        """Return a copy with these columns of its syntactic words replaced."""
        lines = list(self.lines)
        new: dict[int, Sequence[str] | None] = {
            LEMMA: lemmas, UPOS: upos, XPOS: xpos, FEATS: feats, DEPREL: deprels, MISC: misc,
        }  # fmt: skip
        if heads is not None:
            new[HEAD] = ["_" if head is None else str(head) for head in heads]
        for column, values in new.items():
            if values is None:
                continue
            if len(values) != len(self):
                raise ValueError(f"{len(values)} values for a sentence of {len(self)} words")
            cells = list(lines[column])
            for position, value in zip(self.positions, values, strict=True):
                cells[position] = value
            lines[column] = tuple(cells)
        new_heads = self.heads if heads is None else tuple(heads)
        return Sentence(lines, self.positions, new_heads, self.comments)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def words(self) -> list[Word]:
        """The syntactic words with all their columns."""
        return list(self)

    @overload
    def __getitem__(self, index: int) -> Word: ...

    @overload
    def __getitem__(self, index: slice) -> list[Word]: ...

    def __getitem__(self, index: int | slice) -> Word | list[Word]:
        return self.words[index]

    def __iter__(self) -> Iterator[Word]:
        rows = zip(*(self.column(c) for c in range(10)), self.heads, strict=True)
        for number, row in enumerate(rows, 1):
            yield Word._make((number, *row[FORM:HEAD], row[-1], *row[DEPREL:10]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sentence) and self.to_conllu() == other.to_conllu()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Sentence({self.text!r})"

    def column(self, index: int) -> tuple[str, ...]:
        """One column of the syntactic words."""
        cells = self.lines[index]
        return cells if len(self) == len(cells) else tuple(cells[i] for i in self.positions)

    @property
    def forms(self) -> tuple[str, ...]:
        """The words as written."""
        return self.column(FORM)

    @property
    def upos(self) -> tuple[str, ...]:
        """Universal part-of-speech tags, `_` where there is none."""
        return self.column(UPOS)

    @property
    def lemmas(self) -> tuple[str, ...]:
        """Lemmas, `_` where there is none."""
        return self.column(LEMMA)

    @property
    def xpos(self) -> tuple[str, ...]:
        """Language-specific part-of-speech tags, `_` where there is none."""
        return self.column(XPOS)

    @property
    def feats(self) -> tuple[str, ...]:
        """Morphological features such as `Number=Sing|Person=3`, `_` where there are none."""
        return self.column(FEATS)

    @property
    def deprels(self) -> tuple[str, ...]:
        """Labels of the arcs to the heads, `_` where there is none."""
        return self.column(DEPREL)

    @property
    def text(self) -> str:
        """The raw text: the `# text` comment, else the joined tokens."""
        stated = self.comment("text")
        if stated is not None:
            return stated
        parts = (
            form if "SpaceAfter=No" in misc.split("|") else form + " "
            for form, misc in self.written()
        )
        return "".join(parts).strip()

    def tokens(self) -> Iterator[tuple[int, int, str, str]]:
        """Yield written tokens as (first word, last word, form, MISC); `do` = *de o* is one."""
        inside_until = 0  # words up to this id are covered by a multi-word token
        for number, form, misc in zip(*(self.lines[c] for c in (ID, FORM, MISC)), strict=True):
            if "." in number:
                continue
            first, _, last = number.partition("-")
            if last or int(first) > inside_until:
                inside_until = int(last or first)
                yield int(first), inside_until, form, misc

    def written(self) -> Iterator[tuple[str, str]]:
        """Yield form and MISC of every written token."""
        return ((form, misc) for _, _, form, misc in self.tokens())

    def comment(self, key: str) -> str | None:
        """Return the value of a comment `# key = value`, or None."""
        for line in self.comments:
            name, equals, value = line[1:].partition("=")
            if equals and name.strip() == key:
                return value.strip()
        return None

    def to_conllu(self) -> str:
        """Return the sentence as CoNLL-U, including the final blank line."""
        rows = map("\t".join, zip(*self.lines, strict=True))
        return "\n".join([*self.comments, *rows, "", ""])

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as JSON-serializable objects; unannotated values (`_`) are None.

        Examples:
            >>> Sentence.from_words(["Go"], heads=[0]).to_dict()["words"][0]["head"]
            0
        """
        words = []
        for word in self:
            values = (None if value == "_" else value for value in word)
            words.append({**dict(zip(word._fields, values, strict=True)), "form": word.form})
        tokens = [
            {"first": first, "last": last, "form": form}
            for first, last, form, _ in self.tokens()
            if last > first
        ]
        made: dict[str, Any] = {"text": self.text, "words": words}
        if (name := self.comment("sent_id")) is not None:
            made = {"sent_id": name, **made}
        return {**made, "multiword_tokens": tokens} if tokens else made

    def to_spacy(self, vocab: Any = None) -> Any:
        """Return a spaCy `Doc` with heads, labels and tags (extra `text`).

        spaCy has no multi-word tokens: their syntactic words become its tokens.
        """
        return render(self, "spacy", vocab=vocab)

    def draw(
        self, width: int | None = None, format: str = "text", columns: Sequence[str] = ()
    ) -> str:
        """Draw the tree as `text` for a terminal, `svg` or `html`; `width` limits the text.

        `columns` are further ones to show: some of `lemma`, `xpos` and `feats`.

        Examples:
            >>> print(Sentence.from_words(["Go", "home"], heads=[0, 1]).draw())
            ┬──╼ Go    _  _
            ╰──╼ home  _  _
        """
        options: dict[str, Any] = {"width": width} if format == "text" else {}
        drawn: str = render(self, format, columns=columns, **options)
        return drawn

    def _repr_svg_(self) -> str | None:
        """Draw the tree in a notebook; None if any head is missing."""
        return None if None in self.heads else self.draw(format="svg")
