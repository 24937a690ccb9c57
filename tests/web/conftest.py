"""A server with models of artificial languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from running import SMALL, running

from treebridge.encode.settings import EncoderSettings
from treebridge.web.app import create_app
from treebridge.web.models import Models
from treebridge.web.space import SpaceView


@pytest.fixture(scope="session")
def models(home: Path) -> Models:
    return Models.load([f"near={home / 'bridged'}", str(home / "model")], EncoderSettings())


@pytest.fixture(scope="session")
def views(home: Path, models: Models) -> dict[str, SpaceView]:
    """Sentence pairs with the same language on both sides."""
    from made import TRAIN

    from treebridge import Bitext
    from treebridge.encode.static import StaticEncoder

    lines = ("\t".join([" ".join(s.forms), " ".join(s.forms) + " !"]) for s in TRAIN)
    (home / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    bitext = Bitext.read(home / "pairs.tsv", source_language="qaa")
    source = StaticEncoder(home / "vectors.vec")
    return {"near": SpaceView(models.by_name["near"].parser, bitext, source)}


@pytest.fixture(scope="session")
def address(models: Models, views: dict[str, SpaceView]) -> Iterator[str]:
    with running(create_app(models, SMALL, views), SMALL) as address:
        yield address
