"""The wheel in an empty environment, without torch: it parses, evaluates, serves and annotates."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 200_000_000  # bytes on disk, beside pip and setuptools
SENTENCE = "El banco aprobó el préstamo."


def call(*arguments: object, cwd: Path | None = None) -> str:
    done = subprocess.run([str(a) for a in arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def pip(python: Path | str, *arguments: object) -> None:
    """Install something, or skip where there is no package index."""
    options = [
        "--quiet",
        "--disable-pip-version-check",
        "--retries",
        0,
        "-c",
        ROOT / "constraints.txt",
    ]
    command = [python, "-m", "pip", *arguments, *(options if arguments[0] == "install" else ["-q"])]
    done = subprocess.run([str(a) for a in command], capture_output=True, text=True)
    if re.search("No matching distribution|Could not find a version|onnection", done.stderr):
        pytest.skip("needs a package index")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    left_out = shutil.ignore_patterns(".*", "build", "tests", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT, place / "source", ignore=left_out)  # building leaves files behind
    pip(sys.executable, "wheel", "--no-deps", "-w", place, place / "source")
    return next(place.glob("*.whl"))


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with nothing but the wheel and what it asks for."""
    place = tmp_path_factory.mktemp("plain")
    call(sys.executable, "-m", "venv", place / "env")
    pip(place / "env" / "bin" / "python", "install", wheel)
    return place / "env" / "bin"


def test_it_is_small_and_has_no_torch(plain: Path) -> None:
    site = call(plain / "python", "-c", "import site; print(site.getsitepackages()[0])").strip()
    own = [p for p in Path(site).iterdir() if not p.name.startswith(("pip", "setuptools", "pkg_"))]
    files = (file for path in own for file in (path.rglob("*") if path.is_dir() else [path]))
    sizes = {file: file.stat().st_blocks * 512 for file in files}
    models = sum(size for file, size in sizes.items() if "treebridge/models" in file.as_posix())
    assert sum(sizes.values()) - models < LIMIT
    probe = "import importlib.util as u; print(u.find_spec('torch'), u.find_spec('transformers'))"
    assert call(plain / "python", "-c", probe).split() == ["None", "None"]


def test_it_parses_and_evaluates(plain: Path, tmp_path: Path) -> None:
    assert "Spanish" in call(plain / "treebridge", "models")
    assert '"forecast"' in call(plain / "treebridge", "inspect", "es", "--json")
    trees = call(plain / "treebridge", "parse", "--model", "es", SENTENCE)
    assert "\troot\t" in trees
    (tmp_path / "gold.conllu").write_text(trees, encoding="utf-8")
    scores = call(
        plain / "treebridge", "evaluate", "--model", "es", "--json", "gold.conllu", cwd=tmp_path
    )
    assert json.loads(scores)["LAS"] == 100
    done = subprocess.run(
        [plain / "treebridge", "train", "gold.conllu", "--encoder", "x", "-o", "en"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2 and "pip install 'treebridge[train]'" in done.stderr


@contextmanager
def started(*command: object, log: Path) -> Iterator[str]:
    """Start a server and yield its address."""
    with log.open("w") as output:
        server = subprocess.Popen([str(a) for a in command], stdout=output, stderr=output)
    try:
        address = None
        for _ in range(600):
            if address := re.search(r"http://127\.0\.0\.1:\d+", log.read_text()):
                break
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
        assert address
        yield address[0]
    finally:
        server.terminate()
        server.wait(20)


def asked(address: str, **body: object) -> dict[str, Any]:
    """The answer of a server that may not listen yet."""
    request = urllib.request.Request(
        address,
        json.dumps(body).encode() if body else None,
        {"Content-Type": "application/json"},
    )
    for attempt in range(100):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert answer.status == 200
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.URLError:
            assert attempt < 99
            time.sleep(0.1)
    raise AssertionError


def test_it_chooses_sentences_and_keeps_heads(plain: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(
        f"{SENTENCE} Nadie sabe quién escribió esta canción.", "utf-8"
    )
    todo = tmp_path / "todo.conllu"
    call(plain / "treebridge", "next", "es", tmp_path / "text.txt", "-n", "1", "-o", todo)
    kept = call(plain / "treebridge", "parse", "--model", "es", todo, "--keep-heads")
    assert kept == todo.read_text("utf-8")


def test_it_serves(plain: Path, wheel: Path, tmp_path: Path) -> None:
    pip(plain / "python", "install", f"{wheel}[web]")
    command = (plain / "treebridge", "serve", "--model", "es", "--port", "0")
    with started(*command, log=tmp_path / "log") as address:
        assert asked(f"{address}/parse", text=SENTENCE)["sentences"]


def test_it_annotates(plain: Path, wheel: Path, tmp_path: Path) -> None:
    pip(plain / "python", "install", f"{wheel}[web]")
    file = tmp_path / "todo.conllu"
    call(plain / "treebridge", "parse", "--model", "es", SENTENCE, "--confidence", "-o", file)
    command = (plain / "treebridge", "annotate", "es", file, "--no-open", "--port", "0")
    with started(*command, log=tmp_path / "log") as address:
        version = asked(f"{address}/annotate/document")["version"]
        edit = {"version": version, "sentence": 0, "op": "head", "word": 1, "head": 3}
        version = asked(f"{address}/annotate/edit", **edit)["version"]
        asked(f"{address}/annotate/reparse", version=version, sentence=0)
    assert "\t3\t" in file.read_text("utf-8") and "Fixed=HEAD" in file.read_text("utf-8")
