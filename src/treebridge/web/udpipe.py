"""UDPipe's REST interface, so that clients of UDPipe work unchanged: `/process` and `/api/models`.

`curl -F data=@text.txt -F model=es -F tokenizer= -F tagger= -F parser= localhost:8000/process`
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI, HTTPException, Request

from treebridge import __version__
from treebridge.corpus.sentence import Sentence
from treebridge.parse.parsed import Parsed
from treebridge.web.models import Models, Served

Read = Callable[[Served, str, str], Awaitable[list[Sentence]]]  # a text and its kind
Parse = Callable[[Served, list[Sentence]], Awaitable[list[Parsed]]]
# UDPipe's input formats, in our words; vertical is turned into horizontal.
_INPUTS = {"conllu": "conllu", "generic_tokenizer": "text", "horizontal": "tokens",
           "vertical": "tokens"}  # fmt: skip
_STEPS = ["tokenizer", "tagger", "parser"]


def add_udpipe(
    app: FastAPI, models: Models, read: Read, parse: Parse, in_time: Callable[..., Any]
) -> None:
    """Add the routes; below `/api` as well, as on the servers of UDPipe's authors."""

    async def process(request: Request) -> dict[str, Any]:
        """Tokenize, tag and parse `data`; a step is done if its field is there, even if empty."""
        fields = await _fields(request)
        served = _model(models, fields.get("model", ""))
        if fields.get("output", "conllu").partition("=")[0] not in ("", "conllu"):
            raise HTTPException(400, "output must be conllu")
        text, kind = _input(fields)
        steps = fields.keys() & {"tagger", "parser"}

        async def work() -> list[Sentence]:
            before = await read(served, text, kind)
            if not steps:
                return before
            found = await parse(served, before)
            return [_only(steps, *pair) for pair in zip(before, found, strict=True)]

        trees = await in_time(work())
        generator = f"# generator = treebridge {__version__}, model {served.name}\n"
        return {
            "model": served.name,
            "acknowledgements": _acknowledgements(served),
            "result": generator + "".join(tree.to_conllu() for tree in trees),
        }

    async def list_models() -> dict[str, Any]:
        """The models as UDPipe lists them."""
        names = list(models.by_name)
        return {"models": dict.fromkeys(names, _STEPS), "default_model": names[0]}

    for prefix in ("", "/api"):
        app.add_api_route(
            f"{prefix}/process", process, methods=["GET", "POST"], include_in_schema=False
        )
    app.add_api_route("/api/models", list_models, methods=["GET"], include_in_schema=False)


async def _fields(request: Request) -> dict[str, str]:
    """The fields of the query and of the body, urlencoded or multipart."""
    fields = dict(parse_qsl(request.url.query, keep_blank_values=True))
    kind = request.headers.get("content-type", "")
    body = await request.body()
    try:
        if kind.startswith("multipart/form-data"):
            fields |= _multipart(kind, body)
        elif body:
            fields |= parse_qsl(body.decode(), keep_blank_values=True)
    except (UnicodeDecodeError, LookupError):
        raise HTTPException(400, "a field is not UTF-8") from None
    return fields


def _multipart(kind: str, body: bytes) -> dict[str, str]:
    head = b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n"
    fields = {}
    for part in BytesParser(policy=HTTP).parsebytes(head + body).iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if isinstance(name, str) and isinstance(content, bytes):
            fields[name] = content.decode()
    return fields


def _input(fields: dict[str, str]) -> tuple[str, str]:
    """The text and its kind; UDPipe reads CoNLL-U unless it is asked to tokenize."""
    if "data" not in fields:
        raise HTTPException(400, "the field data is missing")
    text = fields["data"].replace("\r\n", "\n")
    if "tokenizer" in fields:
        return text, "lines" if "presegmented" in fields["tokenizer"] else "text"
    given = fields.get("input", "conllu").partition("=")[0] or "conllu"
    if given not in _INPUTS:
        raise HTTPException(400, f"input must be one of {', '.join(_INPUTS)}")
    if given == "vertical":
        blocks = (block.split("\n") for block in text.split("\n\n"))
        text = "\n".join(" ".join(word for word in words if word) for words in blocks)
    return text, _INPUTS[given]


def _model(models: Models, name: str) -> Served:
    """A model by its name, or by its language as UDPipe's names begin: `spanish-gsd-ud-2.15`."""
    every = list(models.by_name.values())
    if not name:
        return every[0]
    if name in models.by_name:
        return models.by_name[name]
    wanted = name.lower().partition("-")[0]
    for served in every:
        about = served.about()
        if wanted in (about["language"], str(about["language_name"]).lower()):
            return served
    raise HTTPException(404, f"model not found; available models: {', '.join(models.by_name)}")


def _only(steps: set[str], before: Sentence, found: Parsed) -> Sentence:
    """The tree as far as it was asked for."""
    tree = found.sentence
    if "tagger" not in steps:
        tree = tree.annotate(upos=before.upos)
    if "parser" not in steps:
        tree = tree.annotate(heads=before.heads, deprels=before.deprels)
    return tree


def _acknowledgements(served: Served) -> list[str]:
    """The data that the model was made from."""
    return [str(one.get("name")) for one in served.about()["data"] if one.get("name")]
