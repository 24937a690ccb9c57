"""The page in a real browser."""

from __future__ import annotations

import os
import re
import shutil
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from made import DEV, TRAIN
from running import SMALL, running

import treebridge.web
from treebridge import Treebank
from treebridge.web.app import create_app
from treebridge.web.examples import EXAMPLES
from treebridge.web.models import Models, Served

CHROMIUM = os.environ.get("TREEBRIDGE_CHROMIUM") or shutil.which("chromium")
api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
if CHROMIUM is None:
    pytest.skip("needs Chromium (Debian: chromium)", allow_module_level=True)

LONG = " ".join(sentence.text for sentence in DEV[:3])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def blank(browser: Any) -> Iterator[Any]:
    """A page that has loaded nothing; at the end, no script failed and no other site was asked."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(60_000)
    problems: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if "Policy" in said.text else None)
    page.on("request", lambda request: asked.append(request.url))
    yield page
    assert problems == []
    assert all(url.startswith(("http://127.0.0.1:", "blob:", "data:")) for url in asked)
    context.close()


@pytest.fixture
def page(blank: Any, address: str) -> Any:
    """The page for languages without examples."""
    blank.goto(address)
    blank.wait_for_selector("#about:not([hidden])")
    return blank


@pytest.fixture(scope="module")
def spanish(models: Models) -> Iterator[str]:
    """A server with a model that claims to parse Spanish, and another one."""
    parser = replace(models.by_name["model"].parser, about={"language": "es"})
    served = Models([Served("es", parser), Served("other", models.by_name["model"].parser)])
    with running(create_app(served, SMALL), SMALL) as address:
        yield address


def shown(page: Any) -> list[str]:
    """The sentences on the page, once parsing is over."""
    page.wait_for_selector("#results:not([aria-busy])", state="attached")
    return page.locator("article h2").all_text_contents()


def parse(page: Any, text: str) -> list[str]:
    page.fill("#text", text)
    page.click("#parse")
    return shown(page)


def test_it_opens_with_an_example_and_offers_three_more(blank: Any, spanish: str) -> None:
    examples = EXAMPLES["es"]
    blank.goto(spanish)
    blank.wait_for_selector("article svg")
    assert shown(blank) == [examples[0]] and blank.input_value("#text") == examples[0]
    assert blank.locator("#examples button").all_text_contents() == list(examples)
    blank.click(f"#examples button:has-text('{examples[2]}')")
    blank.wait_for_selector(f"article h2:has-text('{examples[2]}')")
    assert blank.locator("[aria-pressed=true]").all_text_contents() == [examples[2]]
    blank.go_back()
    blank.wait_for_selector(f"article h2:has-text('{examples[0]}')")
    about = blank.locator("#about").text_content()
    assert "Spanish" in about and "Trained on trees" in about
    blank.select_option("#model", "other")  # a language without examples
    assert not blank.is_visible("#examples")
    assert shown(blank) == [examples[0]]


def test_a_sentence_becomes_a_tree_to_download(page: Any, tmp_path: Path) -> None:
    assert "Enter a sentence" in page.locator("#status").text_content()
    page.fill("#text", DEV[0].text)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("article svg")
    words = page.locator("article svg > text").all_text_contents()
    assert [form for form in words if form in DEV[0].forms] == list(DEV[0].forms)
    assert "arc" in page.locator("article svg g title").first.text_content()
    files = {}
    for kind in ("CoNLL-U", "SVG", "PNG"):
        with page.expect_download() as download:
            page.click(f"article button:has-text('{kind}')")
        files[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[kind])
    assert [file.name for file in files.values()] == ["near-1.conllu", "near-1.svg", "near-1.png"]
    (tree,) = Treebank.read(files["CoNLL-U"])
    assert tree.forms == DEV[0].forms and "ArcProb=" in tree.to_conllu()
    width = int(ElementTree.parse(files["SVG"]).getroot().attrib["width"])
    header = files["PNG"].read_bytes()[:24]
    assert header[1:4] == b"PNG" and struct.unpack(">I", header[16:20])[0] == 2 * width
    page.click("#export summary")
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(tmp_path / "trees.conllu")
    assert Treebank.read(tmp_path / "trees.conllu")[0] == tree
    page.click("#copy")
    page.wait_for_selector("#status:has-text('copied')")
    assert page.evaluate("navigator.clipboard.readText()") == tree.to_conllu()


def test_two_models_side_by_side(page: Any) -> None:
    page.click("#options summary")
    page.select_option("#compare", "near, without the map")
    parse(page, DEV[1].text)
    page.wait_for_selector(".columns.two svg")
    assert page.locator("article .tree").count() == 2
    assert "agree on the head of" in page.locator("article .note").text_content()
    page.click("#export summary")
    page.select_option("#which", index=1)
    assert "ArcProb" in page.locator("#conllu").text_content()


def test_quality_and_space(page: Any) -> None:
    assert "80.0 % of held-out words found" in page.locator("#facts").text_content()
    assert "Not evaluated" in page.locator("#about").text_content()
    page.select_option("#model", "model")
    assert "none" in page.locator("#facts").text_content()
    assert "LAS" in page.locator("#about .score").text_content()
    common = Counter(f for s in TRAIN for f in s.forms if f.isalpha() and len(f) > 3)
    word = common.most_common(1)[0][0]
    page.fill("#word", word)
    page.press("#word", "Enter")
    page.wait_for_selector("#pictures svg")
    assert page.locator("#pictures svg").count() == 2
    page.fill("#word", "zzzz")
    page.press("#word", "Enter")
    page.wait_for_selector("#space-status.error")


def test_an_error_replaces_the_trees(page: Any) -> None:
    assert parse(page, DEV[0].text)
    for wrong, message in (("x" * 300, "A word has 300 characters"), (" ", "Enter some text")):
        assert parse(page, wrong) == []
        assert message in page.locator("#error").text_content() and page.is_visible("#error")
        assert not page.is_visible("#export") and not page.is_visible("#link")
        assert len(parse(page, DEV[0].text)) == 1 and not page.is_visible("#error")


def test_a_link_reproduces_the_view_and_markup_stays_text(page: Any, address: str) -> None:
    page.click("#options summary")
    page.select_option("#input", "tokens")
    page.select_option("#model", "model")
    page.select_option("#compare", "near")
    text = "<img/src=x/onerror=alert(1)> <script>alert(1)</script> </svg> & + # %"
    before = parse(page, text)
    page.click("#link")
    page.wait_for_selector("#status:has-text('Link copied')")
    link = page.evaluate("navigator.clipboard.readText()")
    for target in ("about:blank", link):
        page.goto(target)
    page.wait_for_selector("article svg")
    assert shown(page) == before and page.input_value("#text") == text
    values = [page.input_value(f"#{name}") for name in ("model", "compare", "input")]
    assert values == ["model", "near", "tokens"]
    assert page.locator("article .tree").count() == 2
    assert page.locator("article img, article script").count() == 0
    assert "<script>alert(1)</script>" in page.locator("article .tree").first.text_content()
    page.goto("about:blank")
    page.goto(f"{address}#{urlencode({'text': 'a', 'model': '<b>gone'})}")
    page.wait_for_selector("#error:has-text('“<b>gone”, which is not on this server')")


def test_a_text_too_long_for_a_link(page: Any) -> None:
    parse(page, DEV[0].text)
    assert "#text=" in page.url
    parse(page, ("ɛ" * 30 + " ") * 60)  # six characters of an address for each letter
    assert "#" not in page.url  # nor does the address show another text
    page.click("#link")
    page.wait_for_selector("#status:has-text('too long for a link')")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_wide_tree_scrolls_and_says_so(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.click("#options summary")
    page.select_option("#compare", "model")
    parse(page, LONG if width == 390 else " ".join(["a"] * 60))
    page.click("article details summary >> nth=0")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.wait_for_selector(".tree-box.scrolls.more-right:not(.more-left) .hint")
    box = page.locator(".tree-box.scrolls").first
    assert box.locator(".hint").is_visible()
    assert box.evaluate("box => getComputedStyle(box, '::after').opacity") != "0"
    box.locator(".scroll").evaluate("scroll => scroll.scrollLeft = 1e6")
    page.wait_for_selector(".tree-box.scrolls.more-left:not(.more-right)")
    parse(page, "a b")
    assert page.locator(".tree-box.scrolls").count() == 0


def test_everything_by_keyboard(blank: Any, spanish: str) -> None:
    blank.set_viewport_size({"width": 390, "height": 800})
    blank.goto(spanish)
    blank.wait_for_selector(".scrolls")
    seen = []
    for _ in range(16):
        blank.keyboard.press("Tab")
        seen.append(
            blank.evaluate(
                "(e => e.id || e.getAttribute('aria-label') || e.textContent)"
                "(document.activeElement)"
            )
        )
        assert blank.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert seen == [
        "skip", "REST interface", "text", *EXAMPLES["es"], "model", "parse", "Options", "link",
        *(f"Download {kind}, sentence 1, model es" for kind in ("CoNLL-U", "SVG", "PNG")),
        "Tree; scroll with the arrow keys", "Words as a table",
    ]  # fmt: skip
    blank.keyboard.press("Enter")
    blank.wait_for_selector(".words")
    rows = blank.locator(".words tbody tr").all_text_contents()
    assert len(rows) == 6 and re.match(r"2banco[A-Z]+\d \w+\D+\d+ %\d+ %$", rows[1])
    blank.focus(f"#examples button:has-text('{EXAMPLES['es'][1]}')")
    blank.keyboard.press("Space")
    blank.wait_for_selector(f"article h2:has-text('{EXAMPLES['es'][1]}')")
    blank.focus("#skip")
    blank.keyboard.press("Enter")
    assert blank.evaluate("document.activeElement.id") == "results" and "#text=" in blank.url


def test_every_control_has_a_name(page: Any) -> None:
    parse(page, DEV[0].text)
    nameless = page.evaluate(
        "Array.from(document.querySelectorAll('button, select, textarea, input, svg[role=img]'))"
        ".filter(e => !(e.labels?.length || e.ariaLabel || e.textContent.trim())).length"
    )
    assert nameless == 0
    assert page.locator("[role=status], [role=alert]").count() == 3


def test_text_contrasts_with_its_ground_in_light_and_dark() -> None:
    """At least 4.5 to 1, as WCAG AA demands."""
    css = (Path(treebridge.web.__file__).parent / "page" / "style.css").read_text("utf-8")

    def luminance(colour: str) -> float:
        digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    schemes = re.findall(r":root \{(.*?)\n *\}", css, re.DOTALL)
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--([\w-]+): #(\w+);", scheme))
        pairs = [(ink, ground) for ink in ("ink", "soft", "accent", "doubt")
                 for ground in ("ground", "paper", "sunk")]  # fmt: skip
        pairs += [("on-accent", "accent"), ("ink", "tint"), ("ink", "doubt-tint")]
        for pair in pairs:
            dark, light = sorted(luminance(colours[name]) for name in pair)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, pair


def test_documentation_of_the_interface(page: Any, address: str) -> None:
    page.goto(f"{address}/docs")
    page.wait_for_selector("#paths section")
    assert "POST /parse" in page.locator("#paths").text_content()
    assert "`" not in page.locator("#paths").text_content()  # `code` is shown as code
