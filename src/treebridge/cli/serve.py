"""`treebridge serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.options import BACKEND, DEVICE, PRECISION


@app.command()
def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A parser's folder, or name=folder; several times for more.",
            show_default="all that are shipped",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="0.0.0.0 lets other machines in; there is no password.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    bitext: Annotated[
        str | None, typer.Option(help="Parallel text, for the picture of the space.")
    ] = None,
    source_encoder: Annotated[
        str | None, typer.Option(help="Where the source's encoder is now, for that picture.")
    ] = None,
    queue: Annotated[int, typer.Option(min=1, help="Requests that may wait.")] = 128,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for a request.")] = 30.0,
    max_text: Annotated[int, typer.Option(min=1, help="Characters in a request.")] = 20_000,
    connections: Annotated[int, typer.Option(min=1, help="Connections open at once.")] = 256,
    header_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for a client to send its header.")
    ] = 10.0,
    body_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for a client to send its text.")
    ] = 20.0,
    answer_timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for a client to receive the answer.")
    ] = 60.0,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another host name to answer to, such as a proxy's; repeatable."),
    ] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    precision: Annotated[str, typer.Option(help=PRECISION)] = "auto",
    backend: Annotated[str, typer.Option(help=BACKEND)] = "torch",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """A web page and a REST interface that parse; on this machine only, unless told otherwise."""
    from treebridge.corpus.bitext import Bitext
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.web.serve import serve_models
    from treebridge.web.settings import ServerSettings

    serve_models(
        model or [],
        host=host,
        port=port,
        bitext=Bitext.read(bitext) if bitext else None,
        source=source_encoder,
        encoding=EncoderSettings(
            precision=precision, backend=backend, device=device, offline=offline
        ),
        settings=ServerSettings(
            queue=queue,
            timeout=timeout,
            max_text=max_text,
            connections=connections,
            header_timeout=header_timeout,
            body_timeout=body_timeout,
            answer_timeout=answer_timeout,
        ),
        allow=allow_host or [],
    )
