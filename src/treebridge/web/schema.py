"""What goes over the wire."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class ParseRequest(BaseModel):
    """A text and which model is to parse it."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, examples=["O banco aprovou o empréstimo."])
    model: str | None = Field(None, description="One of `GET /models`; the first if not given.")
    input: Literal["text", "lines", "tokens", "conllu"] = "text"
    svg: bool = Field(True, description="Whether to draw the trees.")


class ParsedSentence(BaseModel):
    """A sentence with its tree."""

    text: str
    score: float = Field(description="Mean log-probability of a labelled arc.")
    words: list[dict[str, Any]]
    conllu: str
    svg: str | None = None


class ParseResponse(BaseModel):
    """The trees of a text."""

    model: str
    sentences: list[ParsedSentence]
    conllu: str


class ModelInfo(BaseModel):
    """What is known of a model."""

    name: str
    language: str | None
    encoder: str
    tags: str
    scores: dict[str, float | None]
    bridge: dict[str, Any] | None = Field(description="Where it leads and how good it is.")
    space: bool = Field(description="Whether `GET /space` can show its space.")


class Health(BaseModel):
    """Whether the server is well."""

    status: Literal["ok"] = "ok"
    waiting: int = Field(description="Requests in the queue.")


class SpaceResponse(BaseModel):
    """A word's occurrences in both languages, before and after the map."""

    word: str
    translations: dict[str, int]
    before: str = Field(description="SVG")
    after: str = Field(description="SVG")


class Error(BaseModel):
    """What went wrong, in a sentence."""

    detail: str
