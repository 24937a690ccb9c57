"""The REST interface, its limits and its queue."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import pytest
from made import DEV

from treebridge import Parser, Sentence, Treebank, TreebridgeError
from treebridge.encode.settings import EncoderSettings
from treebridge.web.batcher import Batcher, Busy
from treebridge.web.models import Models, Served


def post(address: str, **content: object) -> httpx.Response:
    return httpx.post(f"{address}/parse", json=content, timeout=60)


def test_trees_are_those_of_the_parser(address: str, home: Path) -> None:
    text = " ".join(sentence.text for sentence in DEV[:3])
    answer = post(address, text=text, model="model").json()
    trees = Treebank.read(io.BytesIO(answer["conllu"].encode()))
    expected = Parser.load(home / "model")(text)
    assert [t.heads for t in trees] == [t.heads for t in expected]
    assert [w["head"] for w in answer["sentences"][0]["words"]] == list(expected[0].heads)
    assert answer["sentences"][0]["svg"].startswith("<svg")
    bridged = post(address, text=text, svg=False).json()  # the first model; a rotation undone
    assert [t.heads for t in Treebank.read(io.BytesIO(bridged["conllu"].encode()))] == [
        t.heads for t in expected
    ]
    assert bridged["model"] == "near" and bridged["sentences"][0]["svg"] is None
    unmapped = post(address, text=text, model="near, without the map").json()
    assert unmapped["conllu"] != bridged["conllu"]


def test_conllu_lines_and_tokens(address: str) -> None:
    given = DEV[0].to_conllu()
    made = post(address, text=given, input="conllu").json()["sentences"][0]
    assert [w["upos"] for w in made["words"]] == list(DEV[0].upos)
    assert len(post(address, text="a, b\nc d", input="lines").json()["sentences"]) == 2
    words = post(address, text="a, b\nc d", input="tokens").json()["sentences"][0]["words"]
    assert [word["form"] for word in words] == ["a,", "b"]
    wrong = post(address, text="1\tA\n\n", input="conllu")
    assert wrong.status_code == 422 and wrong.json()["detail"].startswith(
        "line 1: expected 10 columns"
    )


def test_models_and_health(address: str, home: Path) -> None:
    models = httpx.get(f"{address}/models").json()
    assert [m["name"] for m in models] == ["near", "near, without the map", "model"]
    assert models[0]["bridge"]["quality"]["verdict"].startswith("good") and models[0]["space"]
    assert models[0]["language"] == "qab" and models[2]["bridge"] is None
    assert models[0]["source_scores"]["LAS"] == models[2]["scores"]["LAS"]
    assert models[0]["scores"] == {} and models[2]["scored_on"]
    assert models[0]["summary"].startswith("Trained on ") and models[0]["examples"] == []
    assert str(home) not in json.dumps(models)  # no paths of the server
    assert httpx.get(f"{address}/health").json() == {"status": "ok", "waiting": 0}
    page = httpx.get(address)
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "http://" not in page.text and "https://" not in page.text


def test_a_shipped_model_has_scores_in_its_own_language() -> None:
    models = Models.load(["es"], EncoderSettings()).by_name
    about = models["es"].about()
    card = models["es"].parser.card
    assert about["scores"]["LAS"] == card["scores"][0]["LAS"]
    assert about["scored_on"] == card["scores"][0]["file"]
    assert about["source_scores"]["LAS"] > about["scores"]["LAS"]  # English is the easier one
    assert about["columns"] == ["upos", "feats", "lemma"]
    assert about["language_name"] == "Spanish" and about["source_language"] == "en"
    assert about["summary"].startswith("A Spanish") and "\n" not in about["summary"]
    assert about["bridge"]["quality"]["verdict"].startswith("good")
    assert len(about["examples"]) == 4 and about["examples"][:3] == card["examples"]
    unmapped = models["es, without the map"].about()
    assert unmapped["scores"] == {} and "without its bridge's map" in unmapped["summary"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "JSON decode error"),
        (b"\xff\xfe", None),
        (b"[]", None),
        (b"{}", "text: Field required"),
        (b'{"text": ""}', "text: "),
        (b'{"text": " \\n "}', "no sentence found"),
        (b'{"text": 5}', "text: "),
        (b'{"text": "a", "model": "/etc/passwd"}', "model not found; available models: near"),
        (b'{"text": "a", "file": "x"}', "file: "),
        (b'{"text": "a\\u0000b"}', "U+0000"),
        (b'{"text": "a\\ud800b"}', "unable to parse"),
        (b'{"text": "a", "model": "\\ud800"}', "model not found; available models: near"),
        (b'{"text": "' + b"a" * 4000 + b'"}', "a word has 4,000 characters; the limit is 100"),
        (
            b'{"text": "' + b"a" * 100_000 + b'"}',
            "the text has 100,000 characters; the limit is 5,000",
        ),
        (
            b'{"input": "lines", "text": "' + b"a " * 2000 + b'"}',
            "a sentence has 2,000 words; the limit is 100",
        ),
        (
            b'{"input": "lines", "text": "' + b"a\\n" * 51 + b'"}',
            "has 51 sentences; the limit is 50",
        ),
        (b'{"text": "' + b"a " * 5_000_000 + b'"}', "larger than 1,048,576 bytes"),
    ],
)
def test_wrong_requests(address: str, body: bytes, message: str | None) -> None:
    headers = {"Content-Type": "application/json"}
    answer = httpx.post(f"{address}/parse", content=body, headers=headers, timeout=60)
    assert 400 <= answer.status_code < 500
    detail = answer.json()["detail"]
    assert isinstance(detail, str) and (message or "") in detail and len(detail) <= 500
    assert post(address, text="a b", svg=False).status_code == 200  # still running


def test_a_large_body_of_unknown_length_is_refused_with_a_reason(address: str) -> None:
    pieces = (b" " * 100_000 for _ in range(100))
    answer = httpx.post(f"{address}/parse", content=pieces, timeout=60)
    assert answer.status_code == 413 and "larger than" in answer.json()["detail"]


def test_an_endless_body_is_cut_off(address: str) -> None:
    sent = 0

    def pieces():
        nonlocal sent
        while sent < 1 << 30:
            sent += 1 << 20
            yield b" " * (1 << 20)

    with contextlib.suppress(httpx.WriteError, httpx.RemoteProtocolError):
        httpx.post(f"{address}/parse", content=pieces(), timeout=60)
    assert sent < 100 << 20  # what the server discards, plus system buffers
    assert httpx.get(f"{address}/health").status_code == 200


def test_a_client_that_goes_away(address: str) -> None:
    for sent in (
        b"",
        b"POST /parse HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{",
        b"\x00\x01",
    ):
        with socket.create_connection(("127.0.0.1", urlsplit(address).port)) as connection:
            connection.sendall(sent)
    assert httpx.get(f"{address}/health").status_code == 200


def test_many_clients_get_their_own_trees(address: str) -> None:
    alone = [post(address, text=s.text, svg=False).json()["conllu"] for s in DEV[:8]]

    def ask(number: int) -> bool:
        made = post(address, text=DEV[number % 8].text, svg=False).json()
        return made["conllu"] == alone[number % 8]

    with ThreadPoolExecutor(16) as clients:
        assert all(clients.map(ask, range(64)))


class Slow:
    """A parser that waits for a signal and records its batch sizes."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.sizes: list[int] = []

    def __call__(self, model: str, sentences: list[Sentence]) -> list[str]:
        self.go.wait(20)
        self.sizes.append(len(sentences))
        if any(s.forms == ("bad",) for s in sentences):
            raise TreebridgeError("a bad sentence")
        return [f"{model} {s.forms[0]}" for s in sentences]


def test_what_waits_together_is_parsed_together() -> None:
    slow = Slow()
    batcher = Batcher(slow, limit=10, words=8)  # type: ignore[arg-type]
    one = Sentence.from_words
    first = batcher.submit("x", [one(["a"])])
    while len(batcher):
        time.sleep(0.01)  # until the first is being parsed
    jobs = [batcher.submit("x", [one([f"w{i}", "v"])]) for i in range(3)]
    other = batcher.submit("y", [one(["b"])])
    large = batcher.submit("x", [one(["c"] * 9)])
    gone = batcher.submit("x", [one(["d"])])
    assert gone.cancel()
    bad, good = batcher.submit("z", [one(["bad"])]), batcher.submit("z", [one(["good"])])
    batcher.submit_call(lambda: 1)
    with pytest.raises(Busy):
        for _ in range(5):
            batcher.submit("x", [one(["e"])])
    slow.go.set()
    assert first.result(20) == ["x a"]
    assert [job.result(20) for job in jobs] == [["x w0"], ["x w1"], ["x w2"]]
    assert other.result(20) == ["y b"] and large.result(20) == ["x c"]
    with pytest.raises(TreebridgeError):
        bad.result(20)
    assert good.result(20) == ["z good"]
    batcher.close()
    assert slow.sizes[:2] == [1, 3 + 1]  # and one of the last, which still fitted


def test_a_full_queue_says_when_to_come_back() -> None:
    from fastapi.testclient import TestClient

    from treebridge.web.app import create_app
    from treebridge.web.settings import ServerSettings

    class Waiting(Models):
        def parse(self, name, sentences):
            time.sleep(1)
            return []

    known = SimpleNamespace(about={}, bridge=None, language=None)
    models = Waiting([Served("m", known)])  # type: ignore[arg-type]
    app = create_app(models, ServerSettings(queue=1, timeout=0.2))
    with TestClient(app) as client:
        late = client.post("/parse", json={"text": "a"})
        assert late.status_code == 503 and "no result within 0.2 seconds" in late.json()["detail"]
        app.state.batcher.submit("m", [])  # fills the queue
        full = client.post("/parse", json={"text": "a"})
        assert full.status_code == 503 and full.headers["Retry-After"] == "1"


def test_schema_and_server_agree(address: str) -> None:
    """Valid and invalid requests generated from the OpenAPI schema: no 500, valid responses."""
    schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis (extra dev)")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import response_schema_conformance

    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    checks = [not_a_server_error, response_schema_conformance]
    tried = 0
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(
            max_examples=15,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def check(case) -> None:
            case.call_and_validate(checks=checks)

        check()
        tried += 1
    assert tried == 4
