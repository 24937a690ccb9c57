"""UDPipe's REST interface, asked as UDPipe's documentation asks."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from treebridge import Sentence
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.trees import tree_problem

STEPS = "tokenizer&tagger&parser"


def ask(url: str, body: bytes | None = None, kind: str | None = None) -> dict[str, Any]:
    request = urllib.request.Request(url, body, {"Content-Type": kind} if kind else {})
    with urllib.request.urlopen(request) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def trees(answer: dict[str, Any]) -> list[Sentence]:
    found = list(read_conllu(io.BytesIO(answer["result"].encode())))
    assert found and answer["model"] and isinstance(answer["acknowledgements"], list)
    return found


def refused(url: str, body: bytes | None = None, kind: str | None = None) -> tuple[int, str]:
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(url, body, kind)
    return caught.value.code, json.load(caught.value)["detail"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize("path", ["process", "api/process"])
def test_a_line_of_curl(address: str, text: str, tmp_path: Path, path: str) -> None:
    (tmp_path / "input.txt").write_text(text)
    line = f"curl -sS -F data=@input.txt -F model=near -F tokenizer= -F tagger= -F parser= {address}/{path}"
    done = subprocess.run(line.split(), cwd=tmp_path, capture_output=True, check=True)
    answer = json.loads(done.stdout)
    assert answer["model"] == "near" and answer["result"].startswith("# generator = treebridge")
    for tree in trees(answer):
        assert tree_problem(tree.heads) is None and "_" not in tree.upos


def test_get_and_post_say_the_same(address: str, text: str) -> None:
    by_get = ask(f"{address}/process?{STEPS}&model=near&data={quote(text)}")
    fields = {"data": text, "model": "near", "tokenizer": "", "tagger": "", "parser": ""}
    body = urlencode(fields).encode()
    by_post = ask(f"{address}/process", body, "application/x-www-form-urlencoded")
    assert by_get == by_post and len(trees(by_get)) > 1
    assert ask(f"{address}/process?{STEPS}&data={quote(text)}")["model"] == "near"  # the first


def test_inputs(address: str) -> None:
    lines = "Lol wet hor .\nLol wet hor ."
    columns = "".join(Sentence.from_words(one.split()).to_conllu() for one in lines.split("\n"))
    for given, data in (
        ("input=horizontal", lines),
        ("input=vertical", lines.replace("\n", "\n\n").replace(" ", "\n")),
        ("tokenizer=presegmented", lines),
        ("input=conllu", columns),
        ("", columns),
    ):  # fmt: skip
        found = trees(ask(f"{address}/process?{given}&tagger&parser&data={quote(data)}"))
        assert [tree.forms for tree in found] == [("Lol", "wet", "hor", ".")] * 2, given


def test_only_what_is_asked_for(address: str, text: str) -> None:
    def first(steps: str) -> Sentence:
        return trees(ask(f"{address}/process?{steps}&data={quote(text)}"))[0]

    assert set(first("tokenizer").upos) == {"_"}
    tagged, parsed = first("tokenizer&tagger"), first("tokenizer&parser")
    assert "_" not in tagged.upos and set(tagged.heads) == {None}
    assert set(parsed.upos) == {"_"} and None not in parsed.heads


def test_models_as_udpipe_lists_them(address: str) -> None:
    found = ask(f"{address}/api/models")
    assert found["default_model"] == "near"
    assert found["models"]["near"] == ["tokenizer", "tagger", "parser"]
    assert {model["name"] for model in ask(f"{address}/models")} == set(found["models"])  # type: ignore[index]


def test_mistakes(address: str) -> None:
    assert refused(f"{address}/process?{STEPS}") == (400, "the field data is missing")
    assert refused(f"{address}/process?{STEPS}&data=x&output=matxin")[0] == 400
    assert refused(f"{address}/process?tagger&data=x&input=what")[0] == 400
    code, detail = refused(f"{address}/process?{STEPS}&data=x&model=klingon-ud-2.15")
    assert code == 404 and "near" in detail
    assert refused(f"{address}/process?tagger&parser&data=no+columns")[0] == 422
    assert refused(f"{address}/process", b"data=\xff", "application/x-www-form-urlencoded")[0] in (
        400,
        422,
    )
    bad = b"--x\r\nContent-Disposition: form-data; name=data\r\n\r\n\xff\r\n--x--\r\n"
    assert refused(f"{address}/process", bad, "multipart/form-data; boundary=x") == (
        400,
        "a field is not UTF-8",
    )
    assert refused(f"{address}/process", b"junk", "multipart/form-data")[0] == 400
