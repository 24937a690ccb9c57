"""The files around the code agree with the code, and with each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import treebridge

tomllib = pytest.importorskip("tomllib", reason="needs Python 3.11 or newer")
ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "treebridge"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    return loaded


def test_the_citation_has_the_keys_of_its_format(citation: dict[str, Any]) -> None:
    assert citation["cff-version"] == "1.2.0"
    required = {"cff-version", "message", "title", "authors"}
    known = {"type", "abstract", "version", "date-released", "url", "license", "keywords"}
    assert required <= set(citation) <= required | known | {"references"}
    (paper,) = citation["references"]
    assert {"type", "title", "authors"} <= set(paper)
    assert all(isinstance(paper[key], int) for key in ("year", "month", "start", "end"))
    assert [author["family-names"] for author in paper["authors"]] == ["Xu", "Koehn"]


def test_the_citation_is_of_this_version(citation: dict[str, Any]) -> None:
    assert citation["version"] == treebridge.__version__
    assert citation["url"] == PROJECT["urls"]["Homepage"]
    assert citation["abstract"] == PROJECT["description"]


def test_every_address_begins_with_the_homepage() -> None:
    home = PROJECT["urls"]["Homepage"]
    assert all(address.startswith(home) for address in PROJECT["urls"].values())
    assert home in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_changelog_is_open_or_has_this_version() -> None:
    sections = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert sections[0] == "Unreleased"
    if len(sections) > 1:
        assert sections[1] == treebridge.__version__


def test_both_licences_are_named_and_packed() -> None:
    assert PROJECT["license"] == "MIT AND CC-BY-SA-4.0"
    mit, models = ((ROOT / name).read_text("utf-8") for name in PROJECT["license-files"])
    assert mit.startswith("MIT License")
    assert "CC-BY-SA-4.0" in models
    for card in PACKAGE.glob("models/*/README.md"):
        assert "The model is under CC BY-SA 4.0." in card.read_text("utf-8"), card


def test_the_wheel_gets_every_file_that_is_not_python() -> None:
    patterns = PYPROJECT["tool"]["setuptools"]["package-data"]["treebridge"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern) if path.is_file()}
    data = {
        path
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    }
    assert data <= packed
    assert all(any(PACKAGE.glob(pattern)) for pattern in patterns)


def test_hosted_ci_calls_targets_that_exist_on_every_version_we_name() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    job = workflow["jobs"]["check"]
    called = [step["run"].split() for step in job["steps"] if "run" in step]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.M))
    assert [command[0] for command in called] == ["make"] * 3
    assert {target for _, target in called} == {"lint", "test", "docs"} <= targets
    variables = set(re.findall(r"^([A-Z_]+) *\?=", makefile, re.M))
    assert set(workflow["env"]) <= variables
    named = re.findall(r":: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert set(job["strategy"]["matrix"]["python"]) == set(named)
