"""Fixtures for all rooms."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = [
    "models",  # fixtures: a trained parser, alone and across a bridge
    "tracing",  # coverage that does not slow down property-based tests
]

settings.register_profile("treebridge", deadline=None, max_examples=100)
settings.load_profile("treebridge")

SHARED = Path(os.environ.get("TREEBRIDGE_SHARED") or Path(__file__).resolve().parents[2] / "shared")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data, which is not part of the project."""
    if not (SHARED / "data").is_dir():
        pytest.skip("no real data: put it in ../shared or name it with TREEBRIDGE_SHARED")
    return SHARED


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the command line as a user does, in an empty folder."""

    def run_command(*arguments: object, stdin: bytes | None = None) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [sys.executable, "-m", "treebridge", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            timeout=300,
            check=False,
            env={**os.environ, "COLUMNS": "120", "PYTHONUTF8": "1"},
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return run_command


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same inside this process: quicker where every call would import torch anew."""

    def run_command(*arguments: object) -> subprocess.CompletedProcess:
        from treebridge.cli import main

        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "120")
        monkeypatch.setattr(sys, "argv", ["treebridge", *map(str, arguments)])
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        code: object = 0
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main()
            except SystemExit as stop:
                code = stop.code or 0
        printed, said = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
        return subprocess.CompletedProcess(list(arguments), int(str(code)), printed, said)

    return run_command
