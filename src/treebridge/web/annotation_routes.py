"""The routes under `/annotate`: read a file, edit it, parse it again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.concurrency import run_in_threadpool

from treebridge.corpus.edit.document import Changed
from treebridge.parse.reparse import reparse
from treebridge.web import annotation_schema as schema
from treebridge.web.annotation import Annotation, Outdated, summary
from treebridge.web.schema import Error

_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": Error, "description": what}
    for code, what in {
        409: "The file was changed by another window or program",
        415: "The request is not JSON",
        422: "The edit is not possible, or the file cannot be written",
    }.items()
}
OnParser = Callable[[Callable[[], Any]], Awaitable[Any]]


async def _only_json(request: Request) -> None:
    """Refuse forms of other web sites, which browsers send without asking."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "send JSON, with the header Content-Type: application/json")


def add_annotation(app: FastAPI, annotation: Annotation, on_parser: OnParser) -> None:
    """Add the routes; `on_parser` runs work in the thread that parses."""
    document, one_at_a_time = annotation.document, asyncio.Lock()
    answers: dict[str, Any] = {
        "response_model": schema.Answer,
        "response_model_exclude_unset": True,
    }
    posted: dict[str, Any] = {"dependencies": [Depends(_only_json)], "responses": _ERRORS}

    @app.exception_handler(Outdated)
    async def outdated(request: Request, error: Outdated) -> JSONResponse:
        return JSONResponse({"detail": error.message, "reload": "page"}, 409)

    @app.exception_handler(Changed)
    async def changed(request: Request, error: Changed) -> JSONResponse:
        return JSONResponse({"detail": error.message, "reload": "file"}, 409)

    async def answer(number: int, length: int | None = None) -> dict[str, Any]:
        """The sentence to show; all sentences in short if their number is not `length`."""
        known = {**annotation.history(), "count": len(document)}
        known["summary"] = summary(annotation.check(number))
        if length != len(document):
            known["sentences"] = annotation.summaries()
        known["sentence"] = await on_parser(lambda: annotation.shown(number))
        return known

    @app.get("/annotate/document", response_model=schema.Overview)
    async def overview() -> Any:
        """The file: its sentences in short, and the labels and tags to choose from."""
        return annotation.overview()

    @app.get("/annotate/sentences/{number}", **answers)
    async def sentence(number: int) -> Any:
        """A sentence with its words; numbers start at 0."""
        async with one_at_a_time:
            return await answer(number, len(document))

    @app.post("/annotate/edit", **posted, **answers)
    async def edit(request: schema.Edit) -> Any:
        """Edit a sentence and save the file."""
        async with one_at_a_time:
            annotation.check(request.sentence, request.version)
            length = len(document)
            number = await run_in_threadpool(
                annotation.edit, request.sentence, request.op, **request.arguments()
            )
            return await answer(number, length)

    @app.post("/annotate/reparse", **posted, **answers)
    async def parse_again(request: schema.Reparse) -> Any:
        """Parse what nobody decided under what somebody did, and save the file."""
        async with one_at_a_time:
            before = annotation.check(request.sentence, request.version)
            tree = await on_parser(
                lambda: reparse(annotation.parser, before, everything=request.everything)
            )
            if tree != before and request.everything:
                await run_in_threadpool(document.replace, request.sentence, 1, [tree])
            elif tree != before:
                await run_in_threadpool(document.amend, request.sentence, tree)
            return await answer(request.sentence, len(document))

    async def revert(request: schema.Version, work: Callable[[], int]) -> Any:
        async with one_at_a_time:
            annotation.check(0, request.version)
            length = len(document)
            number = await run_in_threadpool(work)
            return await answer(min(number, len(document) - 1), length)

    @app.post("/annotate/undo", **posted, **answers)
    async def undo(request: schema.Version) -> Any:
        """Take back the last change, also in the file."""
        return await revert(request, document.undo)

    @app.post("/annotate/redo", **posted, **answers)
    async def redo(request: schema.Version) -> Any:
        """Make a change again that was undone."""
        return await revert(request, document.redo)

    @app.post("/annotate/reload", **posted, response_model=schema.Overview)
    async def reload() -> Any:
        """Read the file again, after another program has changed it."""
        async with one_at_a_time:
            await run_in_threadpool(document.reload)
            return annotation.overview()

    @app.get("/annotate/file", response_class=PlainTextResponse)
    async def file(part: Literal["all", "done", "decided"] = "all") -> Any:
        """The sentences as CoNLL-U: all, those that are done, or only what somebody decided."""
        text = await run_in_threadpool(annotation.content, part)
        return PlainTextResponse(text)
