"""The page in a real browser."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made import DEV, TRAIN

from treebridge import Treebank

CHROMIUM = os.environ.get("TREEBRIDGE_CHROMIUM") or shutil.which("chromium")
api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
if CHROMIUM is None:
    pytest.skip("needs Chromium (Debian: chromium)", allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    problems: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_selector("#model option", state="attached")
    yield page
    assert problems == []
    # Nothing is fetched from elsewhere.
    assert all(url.startswith((address, "blob:", "data:")) for url in asked)
    context.close()


def test_a_sentence_becomes_a_tree(page: Any, tmp_path: Path) -> None:
    text = DEV[0].text
    page.fill("#text", text)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("article svg")
    shown = page.locator("article svg > text").all_text_contents()
    assert [form for form in shown if form in DEV[0].forms] == list(DEV[0].forms)
    assert "arc" in page.locator("article svg g title").first.text_content()
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(tmp_path / "trees.conllu")
    (tree,) = Treebank.read(tmp_path / "trees.conllu")
    assert tree.forms == DEV[0].forms and "ArcProb=" in tree.to_conllu()


def test_two_models_side_by_side(page: Any) -> None:
    page.fill("#text", DEV[1].text)
    page.select_option("#other", "near, without the map")
    page.click("#parse")
    page.wait_for_selector(".columns.two svg")
    assert page.locator("article svg").count() == 2
    assert "The same head for" in page.locator("article .note").text_content()
    page.select_option("#which", index=1)
    assert "ArcProb" in page.locator("#conllu").text_content()


def test_quality_and_space(page: Any) -> None:
    assert "80.0 % of held-out words found" in page.locator("#facts").text_content()
    page.select_option("#model", "model")
    assert "none: vectors go" in page.locator("#facts").text_content()
    common = Counter(f for s in TRAIN for f in s.forms if f.isalpha() and len(f) > 3)
    word = common.most_common(1)[0][0]
    page.fill("#word", word)
    page.press("#word", "Enter")
    page.wait_for_selector("#pictures svg")
    assert page.locator("#pictures svg").count() == 2
    page.fill("#word", "zzzz")
    page.press("#word", "Enter")
    page.wait_for_selector("#space-status.wrong")


def test_errors_are_said_and_markup_stays_text(page: Any) -> None:
    page.fill("#text", "x" * 300)
    page.click("#parse")
    page.wait_for_selector("#status.wrong")
    assert "a word of 300 characters" in page.locator("#status").text_content()
    page.select_option("#input", "tokens")
    page.fill("#text", "<img/src=x/onerror=alert(1)> <script>alert(1)</script> </svg>")
    page.click("#parse")
    page.wait_for_selector("article svg")
    assert page.locator("article img, article script").count() == 0
    assert "<script>alert(1)</script>" in page.locator("article svg").text_content()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.fill("#text", " ".join(sentence.text for sentence in DEV[:3]))
    page.select_option("#other", index=2)
    page.click("#parse")
    page.wait_for_selector("article svg")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Everything can be reached by keyboard, in order.
    page.focus("#text")
    seen = []
    for _ in range(8):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert seen[:4] == ["model", "other", "input", "parse"] and "scroll" in seen


def test_documentation_of_the_interface(page: Any, address: str) -> None:
    page.goto(f"{address}/docs")
    page.wait_for_selector("#paths section")
    assert "POST /parse" in page.locator("#paths").text_content()
    assert "`" not in page.locator("#paths").text_content()  # `code` is shown as code
