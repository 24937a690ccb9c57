"""Requests and responses of the REST interface."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class ParseRequest(BaseModel):
    """A text to parse."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, examples=["El banco aprobó el préstamo."])
    model: str | None = Field(None, description="Name from `GET /models` (default: the first).")
    input: Literal["text", "lines", "tokens", "conllu"] = Field(
        "text",
        description="Running text, one sentence per line, words separated by spaces, or CoNLL-U.",
    )
    svg: bool = Field(True, description="Draw the trees.")


class ParsedSentence(BaseModel):
    """A sentence with its tree."""

    text: str
    score: float = Field(description="Expected share of right labelled arcs, from 0 to 1.")
    words: list[dict[str, Any]]
    conllu: str
    svg: str | None = None


class ParseResponse(BaseModel):
    """The trees of a text."""

    model: str
    sentences: list[ParsedSentence]
    conllu: str


class ModelInfo(BaseModel):
    """A model."""

    name: str
    language: str | None = Field(description="Code of the language it parses.")
    language_name: str | None
    source_language: str | None = Field(description="Code of the language of its training trees.")
    summary: str = Field(description="What it was made from.")
    scores: dict[str, float | None] = Field(
        description="UAS, LAS, CLAS and UPOS in its language; empty if not evaluated."
    )
    scored_on: str | None = Field(description="The trees behind `scores`.")
    source_scores: dict[str, float | None] = Field(
        description="Of a bridged model: scores on held-out trees of the source language."
    )
    encoder: str
    tags: str = Field(description="Whether it needs (`gold`) or predicts UPOS tags.")
    columns: list[str] = Field(
        description="Columns that it predicts beside trees: some of upos, xpos, feats, lemma."
    )
    bridge: dict[str, Any] | None = Field(description="Its bridge: target space and quality.")
    data: list[dict[str, Any]] = Field(description="Training data with licences.")
    limits: list[str] = Field(description="Known weaknesses.")
    licence: str | None
    examples: list[str] = Field(description="Sentences to try.")
    space: bool = Field(description="Whether `GET /space` works for it.")


class Health(BaseModel):
    """The state of the server."""

    status: Literal["ok"] = "ok"
    waiting: int = Field(description="Requests in the queue.")


class SpaceResponse(BaseModel):
    """A word's occurrences in both languages, before and after the map."""

    word: str
    translations: dict[str, int] = Field(description="Occurrences of each translation.")
    before: str = Field(description="SVG.")
    after: str = Field(description="SVG.")


class Error(BaseModel):
    """An error."""

    detail: str = Field(description="What went wrong, in one sentence.")
