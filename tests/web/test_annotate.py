"""The routes under `/annotate`, and the command `treebridge annotate`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from made import DEV
from running import SMALL, running
from typer.testing import CliRunner

from treebridge import Treebank, TreebridgeError
from treebridge.cli.commands import app as cli
from treebridge.corpus.edit.document import Document
from treebridge.corpus.sentence import MISC, Sentence
from treebridge.parse.confidence import with_confidence
from treebridge.parse.parser import Parser
from treebridge.parse.reparse import doubtful, open_arcs, reparse
from treebridge.web.annotation import Annotation
from treebridge.web.app import create_app
from treebridge.web.models import Models
from treebridge.web.settings import ServerSettings


@pytest.fixture(scope="module")
def parser(models: Models) -> Parser:
    return models.by_name["model"].parser


@pytest.fixture
def file(parser: Parser, tmp_path: Path) -> Path:
    """Three sentences as `next` or `parse --confidence` leaves them."""
    trees = [with_confidence(one) for one in parser.parse(DEV[:3])]
    for number, tree in enumerate(trees, 1):
        tree.comments = [f"# sent_id = s{number}", f"# text = {tree.text}"]
    Treebank(trees).write(tmp_path / "todo.conllu")
    return tmp_path / "todo.conllu"


Ask = Callable[..., Any]


@pytest.fixture
def served(models: Models, parser: Parser, file: Path) -> Iterator[tuple[Ask, Path]]:
    """A function that asks a server on a file; edits are sent with the current version."""
    annotation = Annotation(Document.open(file), parser, "model")
    with (
        running(create_app(models, SMALL, {}, annotation), SMALL) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):

        def ask(path: str, status: int = 200, **body: Any) -> Any:
            if body or path in ("undo", "redo", "reload"):
                if path != "reload":
                    version = client.get("/annotate/document").json()["version"]
                    body = {"version": version, **body}
                answer = client.post(f"/annotate/{path}", json=body)
            else:
                answer = client.get(f"/annotate/{path}")
            assert answer.status_code == status, answer.text
            return answer.json() if "json" in answer.headers["content-type"] else answer.text

        yield ask, file


def edited(ask: Ask, op: str, sentence: int = 0, status: int = 200, **body: Any) -> Any:
    return ask("edit", status, op=op, sentence=sentence, **body)


def test_an_edit_is_in_the_file_at_once(served: tuple[Ask, Path]) -> None:
    ask, file = served
    before = file.read_bytes()
    known = ask("document")
    assert [one["id"] for one in known["sentences"]] == ["s1", "s2", "s3"]
    assert known["labels"]["nsubj:pass"] == "passive nominal subject"
    assert set(known["tags"]) == {
        "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
        "PUNCT", "SCONJ", "SYM", "VERB", "X",
    }  # fmt: skip
    answer = edited(ask, "tag", 1, word=2, tag="INTJ")
    assert answer["sentence"]["words"][1]["upos"] == "INTJ"
    assert answer["undo"] and not answer["redo"] and "sentences" not in answer
    assert Treebank.read(file)[1].upos[1] == "INTJ"
    assert file.with_name("todo.conllu.bak").read_bytes() == before
    answer = edited(ask, "done", 1, done=True)
    assert answer["summary"]["done"] and "# status = done" in file.read_text("utf-8")
    edited(ask, "note", 2, text="why?")
    assert ask("sentences/2")["sentence"]["note"] == "why?"
    for _ in range(3):
        ask("undo")
    assert file.read_bytes() == before
    assert ask("undo", 422)["detail"] == "there is nothing to undo"
    assert ask("redo")["sentence"]["number"] == 1


def test_the_rest_is_parsed_under_a_fixed_head(served: tuple[Ask, Path]) -> None:
    ask, file = served
    before = file.read_bytes()
    words = ask("sentences/0")["sentence"]["words"]
    word = next(one["id"] for one in words if one["head"] not in (0, 1) and one["id"] != 1)
    edited(ask, "head", word=word, head=1)
    answer = ask("reparse", sentence=0)
    tree = Treebank.read(file)[0]  # a tree
    assert tree.heads[word - 1] == 1
    fixed = answer["sentence"]["words"][word - 1]
    assert fixed["fixed"] == ["HEAD"] and fixed["arc"] is None and fixed["label"] is not None
    others = [one for one in answer["sentence"]["words"] if one["id"] != word]
    assert all(one["arc"] is not None for one in others)
    edited(ask, "label", word=word, label="vocative")
    ask("reparse", sentence=0)
    assert Treebank.read(file)[0].deprels[word - 1] == "vocative"
    ask("undo")  # each edit with what the parser changed after it
    ask("undo")
    assert file.read_bytes() == before


def test_a_new_root_and_a_done_sentence(served: tuple[Ask, Path]) -> None:
    ask, file = served
    tree = Treebank.read(file)[0]
    word = next(i for i, head in enumerate(tree.heads, 1) if head)
    edited(ask, "head", word=word, head=0)
    ask("reparse", sentence=0)
    assert Treebank.read(file)[0].heads[word - 1] == 0
    edited(ask, "done", done=True)
    content = file.read_bytes()
    answer = ask("reparse", sentence=0, everything=True)
    assert file.read_bytes() == content and answer["sentence"]["doubtful"] == []


def test_sentences_are_split_and_joined(served: tuple[Ask, Path]) -> None:
    ask, file = served
    before = [s.forms for s in Treebank.read(file)]
    answer = edited(ask, "split_sentence", 1, word=3)
    assert [one["id"] for one in answer["sentences"]] == ["s1", "s2", "s2-2", "s3"]
    for number in (2, 1):
        ask("reparse", sentence=number)
    assert len(Treebank.read(file)) == 4  # all of them trees
    answer = edited(ask, "join_sentences", 1)
    ask("reparse", sentence=1)
    assert len(answer["sentences"]) == 3 and [s.forms for s in Treebank.read(file)] == before
    assert "last sentence" in edited(ask, "join_sentences", 2, status=422)["detail"]


def test_words_are_split_and_filled_in(served: tuple[Ask, Path]) -> None:
    ask, file = served
    tree = Treebank.read(file)[0]
    word = next(i for i, form in enumerate(tree.forms, 1) if len(form) > 3)
    form = tree.forms[word - 1]
    answer = edited(ask, "split", word=word, parts=[form[:2], form[2:]])
    assert answer["sentence"]["open"] and word + 1 in answer["sentence"]["doubtful"]
    ask("reparse", sentence=0)
    tree = Treebank.read(file)[0]
    assert tree.forms[word - 1 : word + 1] == (form[:2], form[2:]) and "_" not in tree.upos
    edited(ask, "join", first=word, last=word + 1)
    assert Treebank.read(file)[0].forms == DEV[0].forms
    edited(ask, "cell", word=1, column="FEATS", value="Case=Nom")
    assert Treebank.read(file)[0][0].feats == "Case=Nom"


def test_mistakes_are_one_sentence_and_change_nothing(served: tuple[Ask, Path]) -> None:
    ask, file = served
    before = file.read_bytes()
    for status, message, body in [
        (422, "not a relation", {"op": "label", "word": 1, "label": "subject"}),
        (422, "not a universal part of speech", {"op": "tag", "word": 1, "tag": "NN"}),
        (422, "needs word and head", {"op": "head", "word": 1}),
        (422, "own head", {"op": "head", "word": 1, "head": 1}),
        (422, "no word 99", {"op": "head", "word": 99, "head": 1}),
        (422, "no sentence 8; the file has 3", {"op": "confirm", "word": 1, "sentence": 7}),
        (422, "no sentence 0", {"op": "confirm", "word": 1, "sentence": -1}),
        (422, "Input should be", {"op": "explode"}),
        (422, "not text", {"op": "note", "text": "\x00"}),
        (422, "Extra inputs", {"op": "confirm", "word": 1, "more": 2}),
    ]:
        answer = ask("edit", status, **{"sentence": 0, **body})
        assert message in answer["detail"] and "\n" not in answer["detail"]
    assert "no sentence 10" in ask("sentences/9", 422)["detail"]
    assert file.read_bytes() == before


def test_another_window_or_program_changes_the_file(served: tuple[Ask, Path]) -> None:
    ask, file = served
    old = ask("document")["version"]
    edited(ask, "note", text="one")
    answer = edited(ask, "note", status=409, text="two", version=old)
    assert answer["reload"] == "page" and "another window" in answer["detail"]
    text = file.read_text("utf-8").replace("# note = one", "# note = by hand")
    file.write_text(text, "utf-8")
    answer = edited(ask, "note", status=409, text="three")
    assert answer["reload"] == "file" and answer["detail"].endswith("reload it")
    assert file.read_text("utf-8") == text
    assert ask("reload")["sentences"][0]["note"] == "by hand"
    edited(ask, "note", text="four")
    assert "# note = four" in file.read_text("utf-8")
    file.write_text("no CoNLL-U\n")
    assert "expected 10 columns" in ask("reload", 422)["detail"]


def test_only_what_somebody_decided_can_be_downloaded(
    served: tuple[Ask, Path], tmp_path: Path
) -> None:
    ask, file = served
    assert ask("file?part=decided") == "" == ask("file?part=done")
    assert ask("file") == file.read_text("utf-8")
    edited(ask, "confirm", 1, word=2)
    edited(ask, "done", 2, done=True)
    (tmp_path / "part.conllu").write_text(ask("file?part=decided"), "utf-8")
    one, two = Treebank.read(tmp_path / "part.conllu", trees=False)
    tree = Treebank.read(file)[1]
    assert [i for i, head in enumerate(one.heads) if head is not None] == [1]
    assert (one.heads[1], one.deprels[1], one.upos[1]) == (
        tree.heads[1], tree.deprels[1], tree.upos[1]
    )  # fmt: skip
    assert set(one.upos) == {"_", tree.upos[1]} and None not in two.heads
    (done,) = Treebank.read(_written(tmp_path / "done.conllu", ask("file?part=done")))
    assert done == two


def _written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_forms_of_other_sites_are_refused(models: Models, parser: Parser, file: Path) -> None:
    annotation = Annotation(Document.open(file), parser, "model")
    with running(create_app(models, SMALL, {}, annotation), SMALL) as address:
        body = {"version": annotation.document.version, "sentence": 0, "op": "note", "text": "x"}
        for kind in ("text/plain", "application/x-www-form-urlencoded"):
            answer = httpx.post(
                f"{address}/annotate/edit", content=json.dumps(body), headers={"content-type": kind}
            )
            assert answer.status_code in (415, 422)
        assert "# note" not in file.read_text("utf-8")


def test_a_token_protects_everything_but_the_page(
    models: Models, parser: Parser, file: Path
) -> None:
    settings = replace(SMALL, token="abc123")
    assert "abc123" not in repr(settings)
    annotation = Annotation(Document.open(file), parser, "model")
    with running(create_app(models, settings, {}, annotation), settings) as address:
        for path in ("/annotate", "/annotate.js", "/style.css", "/"):
            assert httpx.get(address + path).status_code == 200
        for path in ("/annotate/document", "/annotate/file", "/models", "/openapi.json", "/health"):
            for headers in ({}, {"authorization": "Bearer abc12"}, {"authorization": "abc123"}):
                answer = httpx.get(address + path, headers=headers)
                assert answer.status_code == 401 and "token" in answer.json()["detail"]
            good = httpx.get(address + path, headers={"authorization": "Bearer abc123"})
            assert good.status_code == 200
        assert httpx.post(f"{address}/parse", json={"text": "a"}).status_code == 401


def test_serve_has_no_editor(address: str) -> None:
    for path in ("/annotate", "/annotate.js", "/annotate/document"):
        assert httpx.get(address + path).status_code == 404


# Re-parsing and doubts


def test_only_open_arcs_are_parsed_again(parser: Parser) -> None:
    bare = Sentence.from_words(DEV[0].forms)
    assert all(pair == (True, True) for pair in open_arcs(bare))
    tree = next(iter(parser.parse([bare]))).sentence  # no probabilities: somebody's
    assert not any(head or label for head, label in open_arcs(tree))
    wrong = tree.annotate(upos=["X"] * len(tree))
    assert reparse(parser, wrong) == wrong
    again = reparse(parser, wrong, everything=True)
    assert again.heads == tree.heads or again.upos == wrong.upos
    assert again.upos == wrong.upos  # tags are never replaced, only filled in
    filled = reparse(parser, bare)
    assert filled.heads == tree.heads and filled.upos == tree.upos
    assert all(head and label for head, label in open_arcs(filled))


def test_doubtful_words(parser: Parser) -> None:
    parsed = next(iter(parser.parse([DEV[0]])))
    tree, n = parsed.sentence, len(DEV[0])
    sure = [f"ArcProb={0.4 if i == 1 else 0.9}|LabelProb=0.9" for i in range(n)]
    told = tree.annotate(misc=sure)
    assert doubtful(told) == [2]
    told.comments = ["# highlight tokens = 1 3"]
    assert doubtful(told) == [1, 2, 3]
    decided = told.annotate(misc=["Fixed=HEAD,DEPREL", *sure[1:]])
    assert doubtful(decided) == [2, 3]
    assert doubtful(tree) == []  # nothing is known
    root = tree.heads.index(0)
    other = tree.annotate(deprels=["root" if i == root else "dep" for i in range(n)])
    free = next(iter(parser.parse([Sentence.from_words(tree.forms)]))).sentence
    suspects = doubtful(other, parser)
    assert suspects and len(suspects) >= n - 1 - list(free.deprels).count("dep")
    half = tree.annotate(heads=[None, *tree.heads[1:]])
    assert 1 in doubtful(half)
    known = other.annotate(misc=["ArcProb=0.9|LabelProb=0.9", *["_"] * (n - 1)])
    assert doubtful(known, parser) == [word for word in suspects if word != 1]
    mark = Sentence.from_words(["a", "¿"], heads=[0, 1], deprels=["root", "punct"],
                               misc=["_", "ArcProb=0.9|LabelProb=0.001"])  # fmt: skip
    mark.comments = ["# highlight deprels = 2"]
    assert doubtful(mark) == []  # punctuation is labelled by rule
    mark.comments = ["# highlight tokens = 2"]
    assert doubtful(mark) == [2]


def test_highlights_follow_the_parser(parser: Parser) -> None:
    (parsed,) = parser.parse([DEV[0]])
    tree, n = with_confidence(parsed), len(DEV[0])
    everything = " ".join(map(str, range(1, n + 1)))
    tree.comments = [f"# highlight tokens = {everything}", "# other"]
    word = next(i for i, head in enumerate(tree.heads, 1) if head)
    misc = list(tree.column(MISC))
    misc[word - 1] = "Fixed=HEAD,DEPREL"
    again = reparse(parser, tree.annotate(misc=misc))
    arcs = [float(re.search(r"ArcProb=([0-9.]+)|$", one)[1] or 1) for one in again.column(MISC)]
    low = [str(i) for i, arc in enumerate(arcs, 1) if arc < 0.5]
    assert again.comment("highlight tokens") == (" ".join(low) or None)
    assert "# other" in again.comments and again.comment("highlight deprels") is None


# The command


def start(*arguments: object) -> str:
    """Run the command and return what it prints."""
    given = ["annotate", *map(str, arguments)]
    return CliRunner().invoke(cli, given, catch_exceptions=False).output


def test_mistakes_on_the_command_line(home: Path, file: Path, tmp_path: Path) -> None:
    model = home / "model"
    for path, message in [
        (tmp_path / "none.conllu", "file not found"),
        (tmp_path, "this is a folder"),
        ("-", "name a CoNLL-U file"),
        (_written(tmp_path / "text.txt", "Some text.\n"), "expected 10 columns"),
        (_written(tmp_path / "empty.conllu", ""), "no sentences"),
    ]:
        with pytest.raises(TreebridgeError, match=message):
            start(model, path, "--port", 0)
    with pytest.raises(TreebridgeError, match="letters and digits"):
        start(model, file, "--token", "a b")
    file.chmod(0o400)
    with pytest.raises(TreebridgeError, match="read-only"):
        start(model, file, "--port", 0)
    assert {path.name for path in tmp_path.iterdir()} == {
        "empty.conllu", "text.txt", "todo.conllu",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "address", "hosts"),
    [
        ([], r"http://127\.0\.0\.1:\d+/annotate  \(Ctrl-C", ("localhost", "127.0.0.1", "[::1]")),
        (["--host", "0.0.0.0"], r"http://127\.0\.0\.1:\d+/annotate#token=(\w{32})  ", ()),
        (["--host", "0.0.0.0", "--token", "own"], r"/annotate#token=(own)  ", ()),
    ],
)
def test_other_machines_need_a_token(
    options: list[str],
    address: str,
    hosts: tuple[str, ...],
    home: Path,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from treebridge.web import annotate

    made: list[ServerSettings] = []

    class Server:
        def __init__(self, app: object, settings: ServerSettings):
            made.append(settings)

        def run(self, sockets: object) -> None:
            """Another window on the same file is refused as long as this one is open."""
            with pytest.raises(TreebridgeError, match="is writing this output"):
                annotate.annotate_file("es", file, port=0)

    monkeypatch.setattr(annotate, "make_server", Server)
    printed = start(home / "model", file, "--port", 0, "--no-open", *options)
    found = re.search(address, printed)
    assert found and made[0].hosts == hosts
    assert made[0].token == (found[1] if found.groups() else None)


def test_the_page_opens_where_there_is_a_screen(
    home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from treebridge.web import annotate

    opened: list[str] = []
    monkeypatch.setattr(annotate, "make_server", lambda app, settings: SimpleNamespace(run=_no_run))
    monkeypatch.setattr(annotate, "Timer", lambda seconds, call, given: _Now(call, given))
    monkeypatch.setattr(annotate.webbrowser, "open", opened.append)
    monkeypatch.setattr(annotate.sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    start(home / "model", file, "--port", 0)
    assert not opened
    monkeypatch.setenv("DISPLAY", ":0")
    start(home / "model", file, "--port", 0)
    assert len(opened) == 1 and opened[0].endswith("/annotate")
    start(home / "model", file, "--port", 0, "--no-open")
    assert len(opened) == 1


def _no_run(sockets: object) -> None:
    pass


class _Now:
    """A timer that does not wait."""

    daemon = False

    def __init__(self, call: Callable[..., object], given: list[str]):
        self.start = lambda: call(*given)


def test_without_torch(home: Path) -> None:
    """Editing loads no torch before a model asks for it."""
    probe = (
        "import sys, treebridge.web.annotate, treebridge.web.app; "
        "print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
