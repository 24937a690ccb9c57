"""Options and errors of `treebridge serve`."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from treebridge import TreebridgeError
from treebridge.cli.commands import app as cli
from treebridge.web.settings import ServerSettings


def test_command_line_mistakes(home: Path) -> None:
    def serve(*arguments: object) -> None:
        CliRunner().invoke(cli, ["serve", *map(str, arguments)], catch_exceptions=False)

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(TreebridgeError, match="choose another port"):
            serve("--model", home / "model", "--port", taken.getsockname()[1])
    with pytest.raises(TreebridgeError, match="two models are called"):
        serve("--model", home / "model", "--model", home / "model", "--port", 0)
    (home / "pairs2.tsv").write_text("a\tb\n")
    with pytest.raises(TreebridgeError, match="none of these models has one"):
        serve("--model", home / "model", "--bitext", home / "pairs2.tsv", "--port", 0)


def test_without_a_model_all_shipped_ones_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    from treebridge.web import serve

    def ask() -> list[str]:
        asked: list[str] = []
        monkeypatch.setattr(serve.Models, "load", lambda names, *_: asked.extend(names))
        monkeypatch.setattr(serve, "create_app", lambda *arguments: None)
        monkeypatch.setattr(serve.uvicorn, "Server", lambda config: SimpleNamespace(run=dict))
        CliRunner().invoke(cli, ["serve", "--port", "0"], catch_exceptions=False)
        return asked

    monkeypatch.setattr(serve, "shipped_models", lambda: {"es": None, "pt": None})
    assert ask() == ["es", "pt"]
    monkeypatch.setattr(serve, "shipped_models", dict)
    with pytest.raises(TreebridgeError, match="no models are shipped with this version"):
        ask()


def test_options_reach_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    from treebridge.web import serve

    made: list[ServerSettings] = []

    def start(*options: str) -> ServerSettings:
        monkeypatch.setattr(serve.Models, "load", lambda names, *_: None)
        monkeypatch.setattr(
            serve, "create_app", lambda models, settings, views: made.append(settings)
        )
        monkeypatch.setattr(serve.uvicorn, "Server", lambda config: SimpleNamespace(run=dict))
        arguments = ["serve", "--model", "m", "--port", "0", *options]
        CliRunner().invoke(cli, arguments, catch_exceptions=False)
        return made[-1]

    local = ("localhost", "127.0.0.1", "[::1]")
    assert start() == ServerSettings(hosts=local)  # the defaults are those of the class
    assert start("--host", "localhost", "--allow-host", "a.example", "--allow-host", "b").hosts == (
        *local, "a.example", "b"
    )  # fmt: skip
    assert start("--host", "0.0.0.0").hosts == ()
    given = start(
        "--connections", "7", "--header-timeout", "1", "--body-timeout", "2",
        "--answer-timeout", "3", "--timeout", "4", "--queue", "5", "--max-text", "6",
        "--max-sentences", "7", "--max-words", "8", "--max-word-length", "9",
    )  # fmt: skip
    wanted = ServerSettings(
        connections=7, header_timeout=1, body_timeout=2, answer_timeout=3, timeout=4, queue=5,
        max_text=6, max_sentences=7, max_words=8, max_word_length=9, hosts=local,
    )  # fmt: skip
    assert given == wanted
