"""A parser of artificial trees with random word vectors, trained once per file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from far import make_story
from made import DEV, QUICK, TRAIN, make_vectors

from treebridge import Parser
from treebridge.encode.static import StaticEncoder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for vectors, and for the cache while it is in use."""
    folder = tmp_path_factory.mktemp("parser")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEBRIDGE_CACHE", str(folder / "cache"))
        yield folder


@pytest.fixture(scope="module")
def encoder(place: Path) -> StaticEncoder:
    return make_vectors(place / "source.vec", TRAIN, DEV)


@pytest.fixture(scope="module")
def parser(encoder: StaticEncoder) -> Parser:
    return Parser.train(TRAIN, encoder, DEV, QUICK)


@pytest.fixture(scope="module")
def folder(parser: Parser, place: Path) -> Path:
    parser.save(place / "en")
    return place / "en"


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Parser, Parser]:
    """A source parser, and the same parser across a bridge to the verb-final language."""
    folder = tmp_path_factory.mktemp("story")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEBRIDGE_CACHE", str(folder / "cache"))
        return make_story(folder)


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The learning rates of all steps taken in a test."""
    seen: list[float] = []

    class Adam(torch.optim.Adam):
        def step(self, *arguments: Any) -> Any:
            seen.append(self.param_groups[0]["lr"])
            return super().step(*arguments)

    monkeypatch.setattr(torch.optim, "Adam", Adam)
    return seen
