"""`treebridge serve`."""

from __future__ import annotations

from typing import Annotated

from treebridge.cli import options as opt
from treebridge.cli.app import command
from treebridge.cli.options import option
from treebridge.encode.settings import EncoderSettings

SERVER, LIMITS = "Server", "Limits"


@command("serve", "treebridge serve --model es")
def serve(
    model: Annotated[
        list[str] | None,
        option("Model folder, shipped model or name=folder; repeat it for several models.",
               show_default="all shipped models"),
    ] = None,
    host: Annotated[
        str, option("Address to listen on; 0.0.0.0 admits other machines, without a password.",
                    panel=SERVER)
    ] = "127.0.0.1",
    port: Annotated[
        int, option("Port; 0 picks a free one.", panel=SERVER, min=0, max=65535)
    ] = 8000,
    bitext: Annotated[
        str | None, option("Parallel text for the picture of the vector space.")
    ] = None,
    source_encoder: Annotated[
        str | None, option("Path of the source encoder, for that picture.")
    ] = None,
    queue: Annotated[int, option("Maximum number of waiting requests.", panel=LIMITS, min=1)] = 128,
    timeout: Annotated[float, option("Seconds to answer a request.", panel=LIMITS, min=0.1)] = 30.0,
    max_text: Annotated[
        int, option("Maximum number of characters per request.", panel=LIMITS, min=1)
    ] = 20_000,
    connections: Annotated[
        int, option("Maximum number of open connections.", panel=LIMITS, min=1)
    ] = 256,
    header_timeout: Annotated[
        float, option("Seconds a client has to send its header.", panel=LIMITS, min=0.1)
    ] = 10.0,
    body_timeout: Annotated[
        float, option("Seconds a client has to send its text.", panel=LIMITS, min=0.1)
    ] = 20.0,
    answer_timeout: Annotated[
        float, option("Seconds a client has to receive the answer.", panel=LIMITS, min=0.1)
    ] = 60.0,
    allow_host: Annotated[
        list[str] | None,
        option("Additional host name to accept, such as a proxy's; repeatable.", panel=SERVER),
    ] = None,
    device: opt.Device = EncoderSettings.device,
    precision: opt.Precision = EncoderSettings.precision,
    backend: opt.Backend = EncoderSettings.backend,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Serve a web page and a REST API for parsing, on this machine only by default."""
    from treebridge.corpus.bitext import Bitext
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
            queue=queue, timeout=timeout, max_text=max_text, connections=connections,
            header_timeout=header_timeout, body_timeout=body_timeout,
            answer_timeout=answer_timeout,
        ),
        allow=allow_host or [],
    )  # fmt: skip
