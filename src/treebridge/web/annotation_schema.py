"""Requests and responses of the routes under `/annotate`."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

# The arguments of each edit.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "head": ("word", "head"),
    "label": ("word", "label"),
    "tag": ("word", "tag"),
    "cell": ("word", "column", "value"),
    "confirm": ("word",),
    "release": ("word",),
    "split": ("word", "parts"),
    "expand": ("word", "parts"),
    "join": ("first", "last"),
    "group": ("first", "last"),
    "ungroup": ("word",),
    "note": ("text",),
    "done": ("done",),
    "split_sentence": ("word",),
    "join_sentences": (),
}


def _is_text(text: str) -> str:
    if re.search("[\x00\ud800-\udfff]", text):
        raise ValueError("has a character that is not text")
    return text


Text = Annotated[str, Field(max_length=500), AfterValidator(_is_text)]


class Version(BaseModel):
    """What the page has seen: an edit of an older version is refused."""

    model_config = ConfigDict(extra="forbid")

    version: str


class Reparse(Version):
    """A sentence to parse again."""

    sentence: int = Field(description="Number of the sentence, from 0.")
    everything: bool = Field(
        False, description="Also change arcs that stood in the file, if nobody fixed them."
    )


class Edit(Version):
    """An edit of a sentence; which other fields it needs depends on `op`."""

    sentence: int = Field(description="Number of the sentence, from 0.")
    op: Literal[
        "head", "label", "tag", "cell", "confirm", "release", "split", "expand", "join", "group",
        "ungroup", "note", "done", "split_sentence", "join_sentences",
    ]  # fmt: skip
    word: int | None = Field(None, description="Number of a word, from 1.")
    head: int | None = Field(None, description="Number of its head; 0 is the root.")
    label: Text | None = None
    tag: Text | None = None
    column: Literal["LEMMA", "XPOS", "FEATS"] | None = None
    value: Text | None = None
    parts: list[Text] | None = Field(None, max_length=20)
    first: int | None = None
    last: int | None = None
    text: Annotated[str, Field(max_length=5000), AfterValidator(_is_text)] | None = None
    done: bool | None = None

    @model_validator(mode="after")
    def _complete(self) -> Edit:
        missing = [name for name in ARGUMENTS[self.op] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"the edit {self.op} needs {' and '.join(ARGUMENTS[self.op])}")
        return self

    def arguments(self) -> dict[str, Any]:
        """The arguments of the edit."""
        return {name: getattr(self, name) for name in ARGUMENTS[self.op]}


class Summary(BaseModel):
    """A sentence in short."""

    id: str | None = Field(description="Its `sent_id`.")
    text: str
    words: int
    done: bool
    note: str


class AnnotatedWord(BaseModel):
    """A word with its ten columns."""

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
    fixed: list[str] = Field(description="What a person chose: HEAD, DEPREL, UPOS.")
    arc: float | None = Field(description="The parser's probability of the head.")
    label: float | None = Field(description="Its probability of the label, given the head.")


class MultiwordToken(BaseModel):
    """A written word that stands for several."""

    first: int
    last: int
    form: str


class AnnotatedSentence(BaseModel):
    """A sentence."""

    number: int = Field(description="Its place in the file, from 0.")
    id: str | None
    text: str
    done: bool
    note: str
    words: list[AnnotatedWord]
    tokens: list[MultiwordToken]
    empty: list[str] = Field(description="Empty nodes, which cannot be edited.")
    doubtful: list[int] = Field(description="Words worth a look.")
    open: bool = Field(description="Whether the parser may change any arc.")
    problem: str | None = Field(description="Why the heads are not those of a tree.")
    rules: list[str] = Field(description="Broken rules of Universal Dependencies.")
    conllu: str


class State(BaseModel):
    """The version of the file, and whether a change can be undone."""

    version: str
    undo: bool
    redo: bool


class Answer(State):
    """A sentence after an edit."""

    count: int = Field(description="Number of sentences in the file.")
    summary: Summary
    sentence: AnnotatedSentence
    sentences: list[Summary] | None = Field(
        None, description="All sentences, if their number changed."
    )


class Overview(State):
    """The file."""

    file: str
    model: str
    language: str | None
    labels: dict[str, str] = Field(description="Labels to choose from, with their meanings.")
    tags: dict[str, str] = Field(description="Tags to choose from, with their meanings.")
    sentences: list[Summary]
