"""The routes: a page, `POST /parse`, `GET /models`, `GET /space`, `GET /health`."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from treebridge import __version__
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.input import Reading
from treebridge.corpus.sentence import Sentence
from treebridge.errors import TreebridgeError
from treebridge.parse.confidence import with_confidence
from treebridge.parse.parser import Parsed
from treebridge.show.output import as_dict
from treebridge.show.svg import draw_svg
from treebridge.web import schema
from treebridge.web.batcher import Batcher, Busy
from treebridge.web.limits import Limits
from treebridge.web.models import Models, Served
from treebridge.web.settings import ServerSettings
from treebridge.web.space import SpaceView
from treebridge.web.text import check_sentences, check_text

_PAGE = {
    "/": ("index.html", "text/html"),
    "/docs": ("docs.html", "text/html"),
    "/app.js": ("app.js", "text/javascript"),
    "/docs.js": ("docs.js", "text/javascript"),
    "/style.css": ("style.css", "text/css"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def create_app(
    models: Models,
    settings: ServerSettings | None = None,
    views: dict[str, SpaceView] | None = None,
) -> FastAPI:
    """The application; it starts its parsing thread with the server and stops it with it."""
    settings, views = settings or ServerSettings(), views or {}
    batcher = Batcher(models.parse, settings.queue)
    # Few threads: a text that takes long to split must not take all cores from the parser.
    threads = ThreadPoolExecutor(2, "text")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        threads.shutdown(wait=False, cancel_futures=True)
        await run_in_threadpool(batcher.close)

    errors: dict[int | str, dict[str, Any]] = {
        code: {"model": schema.Error, "description": what}
        for code, what in {
            404: "No such model or word",
            408: "The request did not arrive in time",
            413: "Too large",
            421: "The server is not to be called by this name",
            422: "The request makes no sense, and why",
            503: "Too busy; try again after `Retry-After` seconds",
        }.items()
    }
    app = FastAPI(
        title="treebridge",
        version=__version__,
        description="Universal Dependencies trees.",
        docs_url=None,  # the usual page fetches its scripts from elsewhere; ours does not
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.batcher = batcher
    app.add_middleware(Limits, settings=settings)
    _add_page(app)
    _add_errors(app)

    def chosen(name: str | None) -> Served:
        if name is None:
            return next(iter(models.by_name.values()))
        if name not in models.by_name:
            some = ", ".join(models.by_name)
            raise HTTPException(404, f"there is no such model; there are: {some}")
        return models.by_name[name]

    async def in_time(work: Awaitable[Any]) -> Any:
        """The result; work that is late is cancelled, or ignored where it has begun."""
        try:
            return await asyncio.wait_for(work, settings.timeout)
        except asyncio.TimeoutError:
            raise _busy(
                f"no answer within {settings.timeout:g} seconds; send less, or later"
            ) from None
        except Busy:
            raise _busy("too many requests are waiting") from None

    async def in_thread(work: Callable[..., Any], *arguments: Any) -> Any:
        """Run work that takes a while beside the event loop, so that others are answered."""
        return await asyncio.wrap_future(threads.submit(work, *arguments))

    @app.post("/parse", responses=errors, response_model=schema.ParseResponse)
    async def parse(request: schema.ParseRequest) -> Any:
        """The trees of a text, with how sure the parser is of each arc and label."""
        served = chosen(request.model)
        check_text(request.text, request.input, settings)

        async def work() -> Any:
            sentences = await in_thread(_read, request, served, settings)
            parsed = await asyncio.wrap_future(batcher.submit(served.name, sentences))
            return await in_thread(_answer, served.name, parsed, request.svg)

        return await in_time(work())

    @app.get("/models", response_model=list[schema.ModelInfo])
    async def list_models() -> Any:
        """Every model, with the quality of its bridge."""
        return [{**m.about(), "space": m.name in views} for m in models.by_name.values()]

    @app.get("/space", responses=errors, response_model=schema.SpaceResponse)
    async def space(
        word: str = Query(min_length=1, max_length=100), model: str | None = None
    ) -> Any:
        """Where a word's occurrences lie in both languages, before and after the map."""
        served = chosen(model)
        if served.name not in views:
            raise HTTPException(404, "the server has no parallel text for this model: --bitext")

        async def work() -> Any:
            return await asyncio.wrap_future(
                batcher.submit_call(lambda: views[served.name].of(word))
            )

        return await in_time(work())

    @app.get("/health", response_model=schema.Health)
    async def health() -> Any:
        """Whether the server is well, and how many requests wait."""
        return {"waiting": len(batcher)}

    return app


def _busy(why: str) -> HTTPException:
    return HTTPException(503, why, headers={"Retry-After": "1"})


def _read(request: schema.ParseRequest, served: Served, settings: ServerSettings) -> list[Sentence]:
    """The sentences of a request, none of them larger than is good for the others."""
    text = request.text
    if request.input == "conllu":
        sentences = [s for s in read_conllu(io.BytesIO(text.encode())) if len(s)]
    else:
        by_line, tokens = request.input == "lines", request.input == "tokens"
        splitter = Reading(tokens=tokens).splitter(served.parser.language)
        lines = io.StringIO(text, newline="\n")
        whole = by_line or tokens
        sentences = list(splitter.lines(lines) if whole else splitter.sentences(lines))
    if not sentences:
        raise HTTPException(422, "there is no sentence in the text")
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


def _add_page(app: FastAPI) -> None:
    folder = files("treebridge.web").joinpath("page")
    for path, (name, kind) in _PAGE.items():
        content = folder.joinpath(name).read_bytes()

        def serve(content: bytes = content, kind: str = kind) -> Response:
            return Response(content, media_type=f"{kind}; charset=utf-8")

        app.add_api_route(path, serve, methods=["GET"], include_in_schema=False)


def _add_errors(app: FastAPI) -> None:
    """Every error is one sentence in `detail`."""

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
    """Something that JSON in UTF-8 can hold, and no longer than a sentence."""
    return text.encode("utf-8", "replace").decode()[:500]
