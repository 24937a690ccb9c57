"""The routes: the page, `POST /parse`, `GET /models`, `GET /space`, `GET /health`, and UDPipe's."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from treebridge import __version__
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.input import Reading
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.text import numbered
from treebridge.errors import TreebridgeError
from treebridge.parse.confidence import with_confidence
from treebridge.parse.parsed import Parsed
from treebridge.show.output import as_dict
from treebridge.show.svg import draw_svg
from treebridge.web import schema
from treebridge.web.annotation import Annotation
from treebridge.web.annotation_routes import add_annotation
from treebridge.web.batcher import Batcher, Busy
from treebridge.web.limits import Limits
from treebridge.web.models import Models, Served
from treebridge.web.settings import ServerSettings
from treebridge.web.space import SpaceView
from treebridge.web.text import check_sentences, check_text
from treebridge.web.udpipe import add_udpipe

_HTML = {"index.html": "/", "docs.html": "/docs", "annotate.html": "/annotate"}
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}


def create_app(
    models: Models,
    settings: ServerSettings | None = None,
    views: dict[str, SpaceView] | None = None,
    annotation: Annotation | None = None,
) -> FastAPI:
    """Create the application; its parsing thread runs until the server stops.

    With an `annotation`, the page also edits a file.
    """
    settings, views = settings or ServerSettings(), views or {}
    batcher = Batcher(models.parse, settings.queue)
    # Few threads: splitting long texts must not take all cores from the parser.
    threads = ThreadPoolExecutor(2, "text")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        threads.shutdown(wait=False, cancel_futures=True)
        await run_in_threadpool(batcher.close)

    errors: dict[int | str, dict[str, Any]] = {
        code: {"model": schema.Error, "description": what}
        for code, what in {
            404: "Model not found",
            408: "The request took too long to arrive",
            413: "The request is too large",
            421: "The server does not answer to this host name",
            422: "The request is invalid",
            503: "The server is busy; retry after `Retry-After` seconds",
        }.items()
    }
    app = FastAPI(
        title="treebridge",
        version=__version__,
        description="Universal Dependencies trees.",
        docs_url=None,  # FastAPI's page loads scripts from other sites; ours does not
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.batcher = batcher
    pages = _pages(annotation is not None)
    app.add_middleware(Limits, settings=settings, public=frozenset(pages))
    _add_page(app, pages)
    _add_errors(app)

    def chosen(name: str | None) -> Served:
        if name is None:
            return next(iter(models.by_name.values()))
        if name not in models.by_name:
            known = ", ".join(models.by_name)
            raise HTTPException(404, f"model not found; available models: {known}")
        return models.by_name[name]

    async def in_time(work: Awaitable[Any]) -> Any:
        """Wait for the result until the timeout; then cancel the work, or ignore it if started."""
        try:
            return await asyncio.wait_for(work, settings.timeout)
        except asyncio.TimeoutError:
            raise _busy(
                f"no result within {settings.timeout:g} seconds; send less text or try again later"
            ) from None
        except Busy:
            raise _busy("too many requests are waiting; try again later") from None

    async def in_thread(work: Callable[..., Any], *arguments: Any) -> Any:
        """Run slow work outside the event loop."""
        return await asyncio.wrap_future(threads.submit(work, *arguments))

    async def read(served: Served, text: str, kind: str) -> list[Sentence]:
        """The sentences of a text, within the limits."""
        check_text(text, kind, settings)
        found: list[Sentence] = await in_thread(_read, text, kind, served, settings)
        return found

    async def parse_sentences(served: Served, sentences: list[Sentence]) -> list[Parsed]:
        """Their trees, parsed together with those of other requests."""
        return await asyncio.wrap_future(batcher.submit(served.name, sentences))

    if annotation is not None:

        async def on_parser(work: Callable[[], Any]) -> Any:
            return await in_time(asyncio.wrap_future(batcher.submit_call(work)))

        add_annotation(app, annotation, on_parser)

    @app.post("/parse", responses=errors, response_model=schema.ParseResponse)
    async def parse(request: schema.ParseRequest) -> Any:
        """Parse a text; every arc and label comes with its probability."""
        served = chosen(request.model)

        async def work() -> Any:
            sentences = await read(served, request.text, request.input)
            parsed = await parse_sentences(served, sentences)
            return await in_thread(_answer, served.name, parsed, request.svg)

        return await in_time(work())

    @app.get("/models", response_model=list[schema.ModelInfo])
    async def list_models() -> Any:
        """List the models with their scores, their data and the quality of their bridges."""
        return [{**m.about(), "space": m.name in views} for m in models.by_name.values()]

    @app.get("/space", responses=errors, response_model=schema.SpaceResponse)
    async def space(
        word: str = Query(min_length=1, max_length=100), model: str | None = None
    ) -> Any:
        """Plot the occurrences of a word in both languages, before and after the map."""
        served = chosen(model)
        if served.name not in views:
            raise HTTPException(404, "this server has no parallel text for this model")

        async def work() -> Any:
            return await asyncio.wrap_future(
                batcher.submit_call(lambda: views[served.name].of(word))
            )

        return await in_time(work())

    @app.get("/health", response_model=schema.Health)
    async def health() -> Any:
        """Check that the server is running."""
        return {"waiting": len(batcher)}

    add_udpipe(app, models, read, parse_sentences, in_time)
    return app


def _busy(why: str) -> HTTPException:
    return HTTPException(503, why, headers={"Retry-After": "1"})


def _read(text: str, kind: str, served: Served, settings: ServerSettings) -> list[Sentence]:
    """Read the sentences of a request and check their number and size."""
    if kind == "conllu":
        sentences = [s for s in read_conllu(io.BytesIO(text.encode())) if len(s)]
    else:
        by_line, tokens = kind == "lines", kind == "tokens"
        splitter = Reading(tokens=tokens).splitter(served.parser.language)
        lines = io.StringIO(text, newline="\n")
        whole = by_line or tokens
        found = splitter.lines(lines) if whole else splitter.sentences(lines)
        sentences = list(numbered(found))
    if not sentences:
        raise HTTPException(422, "no sentence found in the text")
    check_sentences(sentences, settings)
    return sentences


def _answer(name: str, parsed: list[Parsed], svg: bool) -> dict[str, Any]:
    sentences = []
    for one in parsed:
        tree = with_confidence(one)
        sentences.append(
            {
                "text": tree.text,
                "score": one.score,
                "words": as_dict(tree)["words"],
                "conllu": tree.to_conllu(),
                "svg": draw_svg(tree) if svg else None,
            }
        )
    return {
        "model": name,
        "sentences": sentences,
        "conllu": "".join(s["conllu"] for s in sentences),
    }


def _pages(annotate: bool) -> dict[str, tuple[bytes, str]]:
    """Content and type of the files of the page by their paths."""
    found = {}
    for file in files("treebridge.web").joinpath("page").iterdir():
        kind = _TYPES.get(Path(file.name).suffix)
        if kind and (annotate or not file.name.startswith("annotate")):
            found[_HTML.get(file.name, f"/{file.name}")] = file.read_bytes(), kind
    return found


def _add_page(app: FastAPI, pages: dict[str, tuple[bytes, str]]) -> None:
    for path, (page, kind) in pages.items():

        def serve(content: bytes = page, kind: str = kind) -> Response:
            return Response(content, media_type=f"{kind}; charset=utf-8")

        app.add_api_route(path, serve, methods=["GET"], include_in_schema=False)


def _add_errors(app: FastAPI) -> None:
    """Report every error as one sentence in `detail`."""

    @app.exception_handler(TreebridgeError)
    async def wrong_input(request: Request, error: TreebridgeError) -> JSONResponse:
        place = f"line {error.line}: " if error.line is not None else ""
        return JSONResponse({"detail": _fit(place + error.message)}, 422)

    @app.exception_handler(RequestValidationError)
    async def wrong_request(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:] if not isinstance(part, int))
        detail = f"{where}: {first['msg']}" if where else str(first["msg"])
        return JSONResponse({"detail": _fit(detail)}, 422)


def _fit(text: str) -> str:
    """Cut a message to 500 characters that UTF-8 can encode."""
    return text.encode("utf-8", "replace").decode()[:500]
