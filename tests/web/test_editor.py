"""The editor in a real browser, and a server that is killed in the middle."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from running import SMALL, running

from treebridge import Treebank
from treebridge.corpus.edit.document import Document
from treebridge.corpus.sentence import MISC, Sentence
from treebridge.parse.confidence import with_confidence
from treebridge.parse.parser import Parser
from treebridge.web.annotation import Annotation
from treebridge.web.app import create_app
from treebridge.web.models import Models, Served

CHROMIUM = os.environ.get("TREEBRIDGE_CHROMIUM") or shutil.which("chromium")
api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
if CHROMIUM is None:
    pytest.skip("needs Chromium (Debian: chromium)", allow_module_level=True)

TEXTS = [
    "La niña come una manzana roja.",
    "Nadie sabe quién escribió esta canción.",
    "El banco del pueblo aprobó el préstamo.",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """An empty page; at the end, no script failed and no other site was asked."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(30_000)
    problems: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if "Policy" in said.text else None)
    page.on("request", lambda request: asked.append(request.url))
    yield page
    assert problems == []
    assert all(url.startswith(("http://127.0.0.1:", "blob:", "data:")) for url in asked)
    context.close()


@pytest.fixture(scope="module")
def parser() -> Parser:
    """The shipped model, which is packed: nothing here needs torch."""
    return Parser.load("es")


@pytest.fixture
def file(parser: Parser, tmp_path: Path) -> Path:
    trees = [with_confidence(one) for text in TEXTS for one in parser.parse(text)]
    for number, tree in enumerate(trees, 1):
        tree.comments = [f"# sent_id = s{number}", f"# text = {tree.text}", "# kept: as it is"]
    Treebank(trees).write(tmp_path / "todo.conllu")
    return tmp_path / "todo.conllu"


@contextmanager
def editing(page: Any, parser: Parser, file: Path) -> Iterator[str]:
    """Open the page on a file; the server runs in this process."""
    annotation = Annotation(Document.open(file), parser, "es")
    with running(create_app(Models([Served("es", parser)]), SMALL, {}, annotation), SMALL) as place:
        page.goto(f"{place}/annotate")
        page.wait_for_selector("#tree svg")
        yield place


def until(condition: Callable[[], Any], seconds: float = 20) -> Any:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
    return found


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def status(page: Any, text: str) -> None:
    page.wait_for_selector(f"#status:has-text({text!r})")


def trees(file: Path) -> list[Sentence]:
    return list(Treebank.read(file, trees=False))


def chosen(page: Any) -> str:
    """The selected word, as a screen reader hears it."""
    return page.evaluate(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))"
        ".getAttribute('aria-label')"
    )


class Command:
    """`treebridge annotate` as a process of its own, on a fixed port."""

    def __init__(self, file: Path):
        self.file = file
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}/annotate"
        self.start()

    def start(self) -> None:
        log = self.file.with_name("log")
        with log.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "treebridge", "annotate", "es", str(self.file), "--no-open",
                 "--port", str(self.port)],
                stdout=output, stderr=output,
            )  # fmt: skip

        def is_ready() -> bool:
            assert self.process.poll() is None, log.read_text()
            return self.address in log.read_text()

        until(is_ready, 60)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(20)


def test_three_sentences_by_keyboard_with_a_crash_in_the_middle(page: Any, file: Path) -> None:
    before = file.read_text("utf-8")
    server = Command(file)
    try:
        page.goto(server.address)
        page.wait_for_selector("#tree svg")
        assert page.text_content("#progress") == "0 of 3 done"
        # The first sentence: a head by number, a label by its meaning, a tag, and done.
        press(page, "End", "h", "1", "Enter")
        status(page, "Head of 7 . is now 1 La")
        assert trees(file)[0].heads[6] == 1
        press(page, "Home", "l")
        page.keyboard.type("possessive det")
        press(page, "Enter")
        status(page, "Label of 1 La is now det:poss")
        press(page, "t")
        page.keyboard.type("pron")
        press(page, "Enter")
        status(page, "Tag of 1 La is now PRON")
        press(page, "Enter")
        page.wait_for_selector("#where:has-text('Sentence 2 of 3')")
        assert page.text_content("#progress") == "1 of 3 done"
        # The second: crash right after a change was saved.
        press(page, "Home", "h", "4", "Enter")
        status(page, "Head of 1 Nadie is now 4 escribió")
        saved = file.read_text("utf-8")
        server.kill()
        assert file.read_text("utf-8") == saved
        first, second, _ = trees(file)
        assert (first.heads[6], first.deprels[0], first.upos[0]) == (1, "det:poss", "PRON")
        assert second.heads[0] == 4 and "Fixed=HEAD" in second.column(MISC)[0]
        assert first.comment("status") == "done"
        press(page, "c")
        page.keyboard.type("who knows")
        press(page, "Enter")
        page.wait_for_selector("#error:has-text('was not saved')")
        server.start()
        page.focus("#again")
        press(page, "Enter")
        page.wait_for_selector("#note:has-text('who knows')")
        page.focus("#tree")
        press(page, "Enter")
        page.wait_for_selector("#where:has-text('Sentence 3 of 3')")
        # The third, in a new window: split a word, undo it, redo it, take a contraction apart.
        page.goto("about:blank")
        page.goto(server.address)
        page.wait_for_selector("#where:has-text('Sentence 3 of 3')")
        press(page, "Home", "ArrowRight", "s")
        page.fill("#field-parts", "ban co")
        press(page, "Enter")
        status(page, "Split the word")
        assert trees(file)[2].forms[:3] == ("El", "ban", "co")
        press(page, "z")
        status(page, "Undone")
        assert trees(file)[2].forms[:2] == ("El", "banco")
        press(page, "y")
        status(page, "Redone")
        press(page, "z")
        status(page, "Undone")
        press(page, "Enter")
        status(page, "All 3 sentences are done")
        server.kill()  # again: nothing is lost
        one, two, three = Treebank.read(file)
        assert [s.comment("status") for s in (one, two, three)] == ["done"] * 3
        assert two.comment("note") == "who knows" and two.heads[0] == 4
        assert (one.heads[6], one.deprels[0], one.upos[0]) == (1, "det:poss", "PRON")
        assert all("# kept: as it is" in s.comments for s in (one, two, three))
        assert [s.text for s in (one, two, three)] == TEXTS
        started = file.with_name("todo.conllu.bak").read_text("utf-8")
        assert started.startswith(before[:40]) and started != file.read_text("utf-8")
    finally:
        server.kill()


def test_a_burst_of_changes_is_saved_in_order_until_the_server_is_killed(
    page: Any, file: Path
) -> None:
    """Whatever was acknowledged is in the file, and the file is whole."""
    server = Command(file)
    try:
        page.goto(server.address)
        page.wait_for_selector("#tree svg")
        acknowledged: list[int] = []

        def note(answer: Any) -> None:
            if answer.url.endswith("/edit") and answer.ok:
                acknowledged.append(answer.request.post_data_json["word"])

        page.on("response", note)
        press(page, "Home")
        press(page, *["Space", "ArrowRight"] * 6)
        while len(acknowledged) < 2:
            page.wait_for_timeout(5)
        server.kill()
        page.wait_for_timeout(200)
        tree = Treebank.read(file)[0]
        fixed = [i for i, misc in enumerate(tree.column(MISC), 1) if "Fixed=HEAD" in misc]
        assert acknowledged and set(acknowledged) <= set(fixed)
        assert fixed == list(range(1, len(fixed) + 1)) and len(fixed) <= len(acknowledged) + 1
    finally:
        server.kill()


def test_a_fixed_head_makes_the_parser_think_again(page: Any, parser: Parser, file: Path) -> None:
    with editing(page, parser, file):
        before = trees(file)[0]
        root = before.heads.index(0) + 1
        word = next(i for i in range(len(before), 0, -1) if before.heads[i - 1] == root)
        press(page, "Home", *["ArrowRight"] * (word - 1), "h", "0", "Enter")
        status(page, "is now the root")
        page.wait_for_selector("#tree .arc.flash")
        status(page, "Also changed")
        after = Treebank.read(file)[0]
        assert after.heads[word - 1] == 0 and after.deprels[word - 1] == "root"
        assert after.heads[root - 1] != 0
        assert page.locator(f"#tree .arc.mine[data-arc='{word}']").count() == 1
        press(page, "Control+z")
        status(page, "Undone")
        assert trees(file)[0] == before
        press(page, "R")
        status(page, "is off")
        press(page, "h", "0", "Enter")
        status(page, "is now the root")
        page.wait_for_selector("#tree .label:has-text('?')")  # the old root has no label yet
        press(page, "r")
        page.wait_for_selector("#tree .label:has-text('?')", state="detached")


def test_with_the_mouse(page: Any, parser: Parser, file: Path) -> None:
    def middle(selector: str) -> tuple[float, float]:
        box = page.locator(selector).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    with editing(page, parser, file):
        page.uncheck("#auto")
        page.mouse.move(*middle("#word-1 .form"))  # drag a word to its head
        page.mouse.down()
        page.mouse.move(*middle("#word-5 .form"), steps=6)
        assert page.locator("#word-5.target").count() == 1
        page.mouse.up()
        status(page, "Head of 1 La is now 5 manzana")
        assert trees(file)[0].heads[0] == 5
        page.mouse.move(*middle("#word-2 .form"))  # dropped beside any word: nothing
        page.mouse.down()
        page.mouse.move(*middle("#text"), steps=4)
        page.mouse.up()
        page.click("#word-4 .form")
        assert chosen(page).startswith("4 una")
        page.click("#word-4 .form")  # again: choose its head
        assert "Head of 4 una" in page.text_content("#mode")
        page.click("#word-2 .form")
        status(page, "Head of 4 una is now 2 niña")
        page.click("#tree [data-label='4']")
        page.click("#options b:text-is('nummod')")
        status(page, "Label of 4 una is now nummod")
        page.click("#tree [data-tag='4']")
        page.click("#options li:has-text('numeral')")
        status(page, "Tag of 4 una is now NUM")
        page.click("#word-0")  # the root is no word to select
        page.click("#word-5 .form")
        page.click("#word-6 .form", modifiers=["Shift"])
        page.click("button:has-text('Multi-word')")
        status(page, "Made a multi-word token")
        assert page.text_content("#tree .written") == "manzana roja"
        press(page, "m")
        page.click("button:has-text('Dissolve')")
        status(page, "Dissolved")
        tree = trees(file)[0]
        assert (tree.heads[3], tree.deprels[3], tree.upos[3]) == (2, "nummod", "NUM")
        assert tree.text == TEXTS[0] and not page.locator("#tree .written").count()


def test_sentences_words_and_cells(page: Any, parser: Parser, file: Path) -> None:
    with editing(page, parser, file):
        press(page, "n", "n", "n")
        page.wait_for_selector("#where:has-text('Sentence 3 of 3')")
        assert page.text_content("#tree .written") == "del"
        press(page, "Home", "Shift+ArrowRight", "j")
        status(page, "Joined the words")
        assert trees(file)[2].forms[0] == "El banco"
        press(page, "z")
        status(page, "Undone")
        press(page, "End", "S")
        page.wait_for_selector("#where:has-text('of 4')")
        status(page, "Split the sentence")
        assert [s.text for s in Treebank.read(file)][2:] == [TEXTS[2][:-1], "."]
        press(page, "J")
        page.wait_for_selector("#where:has-text('of 3')")
        status(page, "Joined the next")
        assert [s.text for s in Treebank.read(file)] == TEXTS
        press(page, "Home", "m")
        page.fill("#field-parts", "E l")
        press(page, "Enter")
        status(page, "Made a multi-word token")
        assert trees(file)[2].forms[:2] == ("E", "l") and trees(file)[2].text == TEXTS[2]
        press(page, "e")
        page.fill("#field-LEMMA", "el")
        page.fill("#field-FEATS", "Definite=Def")
        press(page, "Enter")
        until(lambda: trees(file)[2][0].feats == "Definite=Def")
        assert trees(file)[2][0].lemma == "el"
        press(page, "e")
        page.fill("#field-FEATS", "a b")
        press(page, "Enter")
        page.wait_for_selector("#error:has-text('FEATS must not')")
        press(page, "g")
        page.fill("#find", "canción")
        assert page.locator("#sentences li").count() == 1
        page.click("#sentences button")
        page.wait_for_selector("#where:has-text('Sentence 2 of 3')")
        assert page.evaluate("document.activeElement.id") == "tree" and page.url.endswith("#2")
        page.click("#source summary")
        with page.expect_download() as download:
            page.click("button:has-text('all sentences')")
        assert download.value.suggested_filename == "todo.conllu"
        assert Path(download.value.path()).read_text("utf-8") == file.read_text("utf-8")


def test_doubts_and_the_search_for_labels(page: Any, parser: Parser, file: Path) -> None:
    tree = trees(file)[0]
    misc = [re.sub("(Arc|Label)Prob=[0-9.]+", r"\1Prob=0.99", one) for one in tree.column(MISC)]
    for word in (2, 5):
        misc[word - 1] = "ArcProb=0.4|LabelProb=0.9"
    others = [
        one.annotate(misc=["ArcProb=0.9|LabelProb=0.9"] * len(one)) for one in trees(file)[1:]
    ]
    last = ["ArcProb=0.1|LabelProb=0.9", *others[1].column(MISC)[1:]]
    Treebank([tree.annotate(misc=misc), others[0], others[1].annotate(misc=last)]).write(file)
    with editing(page, parser, file):
        assert chosen(page).startswith("2 niña") and chosen(page).endswith("worth a look")
        assert page.locator("#tree .arc.doubt").count() == 2
        press(page, "d")
        assert chosen(page).startswith("5 manzana")
        press(page, "Space")
        status(page, "Confirmed 5 manzana")
        press(page, "d")
        assert chosen(page).startswith("2 niña")
        press(page, "Space")
        status(page, "Confirmed 2 niña")
        press(page, "d")
        status(page, "No word is worth a look here")
        press(page, "d")  # again: on to the next sentence with a doubt
        page.wait_for_selector("#where:has-text('Sentence 3 of 3')")
        assert chosen(page).startswith("1 El") and chosen(page).endswith("worth a look")
        press(page, "p", "p")
        page.wait_for_selector("#where:has-text('Sentence 1 of 3')")
        press(page, "Home", "l")
        page.keyboard.type("subject")
        names = page.locator("#options b").all_text_contents()
        assert "nsubj:pass" in names and "csubj" in names and "obj" not in names
        page.fill("#query", "nonsense")
        assert "Nothing found" in page.text_content("#options")
        press(page, "Escape")
        assert not page.is_visible("#pick")
        press(page, "?")
        assert "Split the sentence" in page.text_content("#keys")
        press(page, "Escape")


def test_a_file_changed_by_another_program(page: Any, parser: Parser, file: Path) -> None:
    with editing(page, parser, file):
        text = file.read_text("utf-8").replace("# kept: as it is", "# note = by hand", 1)
        file.write_text(text, "utf-8")
        press(page, "Space")
        page.wait_for_selector("#error:has-text('Another program changed the file')")
        assert file.read_text("utf-8") == text
        page.click("#reload")
        page.wait_for_selector("#note:has-text('by hand')")
        press(page, "Space")
        status(page, "Confirmed")
        assert not page.is_visible("#error") and "# note = by hand" in file.read_text("utf-8")


def test_a_token_in_the_address(page: Any, parser: Parser, file: Path) -> None:
    settings = replace(SMALL, token="secret1")
    annotation = Annotation(Document.open(file), parser, "es")
    app = create_app(Models([Served("es", parser)]), settings, {}, annotation)
    with running(app, settings) as place:
        page.goto(f"{place}/annotate")
        page.wait_for_selector("#error:has-text('needs its token')")
        page.goto("about:blank")
        page.goto(f"{place}/annotate#token=secret1")
        page.wait_for_selector("#tree svg")
        assert "secret1" not in page.url
        press(page, "Space")
        status(page, "Confirmed")
        page.reload()
        page.wait_for_selector("#tree svg")


def test_right_to_left(page: Any, parser: Parser, tmp_path: Path) -> None:
    words = Sentence.from_words(["הילדה", "אוכלת", "תפוח"], heads=[2, 0, 2],
                                deprels=["nsubj", "root", "obj"])  # fmt: skip
    Treebank([words]).write(tmp_path / "he.conllu")
    with editing(page, parser, tmp_path / "he.conllu"):
        places = [page.locator(f"#word-{i}").bounding_box()["x"] for i in range(4)]
        assert places == sorted(places, reverse=True)
        press(page, "Home", "ArrowLeft")
        assert chosen(page).startswith("2 ")


@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_and_every_control_has_a_name(
    page: Any, parser: Parser, file: Path, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    with editing(page, parser, file):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for key in ("l", "s", "e", "c", "?", "g"):
            press(page, key)
            dialog = page.locator("dialog[open]")
            box = dialog.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width
            assert page.evaluate(
                "document.querySelector('dialog[open]').contains(document.activeElement)"
            )
            press(page, "Escape")
        nameless = page.evaluate(
            "Array.from(document.querySelectorAll('button, input, textarea, [role=option]'))"
            ".filter(e => !(e.labels?.length || e.getAttribute('aria-label') || e.placeholder"
            " || e.textContent.trim())).length"
        )
        assert nameless == 0
        press(page, "End")
        box = page.locator("#word-7").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width  # it scrolled into view
        if width == 390:  # with a finger
            page.click("button:has-text('Head')")
            page.click("#word-6 .form")
            status(page, "Head of 7 . is now 6 roja")
