"""`treebridge serve`."""

from __future__ import annotations

from typing import Annotated

from treebridge.cli import options as opt
from treebridge.cli.app import command
from treebridge.cli.options import option
from treebridge.encode.settings import EncoderSettings
from treebridge.web.settings import ServerSettings

LIMITS = "Limits"


@command("serve", "treebridge serve --model es")
def serve(
    model: Annotated[
        list[str] | None,
        option("Model folder, shipped model or name=folder; repeat it for several models.",
               show_default="all shipped models"),
    ] = None,
    host: Annotated[str, opt.host_option("without a password")] = "127.0.0.1",
    port: opt.Port = 8000,
    lexicon: opt.LexiconFile = None,
    bitext: Annotated[
        str | None, option("Parallel text for the picture of the vector space.")
    ] = None,
    source_encoder: Annotated[
        str | None, option("Path of the source encoder, for that picture.")
    ] = None,
    queue: Annotated[
        int, option("Maximum number of waiting requests.", panel=LIMITS, min=1)
    ] = ServerSettings.queue,
    timeout: Annotated[
        float, option("Seconds to answer a request.", panel=LIMITS, min=0.1)
    ] = ServerSettings.timeout,
    max_text: Annotated[
        int, option("Maximum number of characters per request.", panel=LIMITS, min=1)
    ] = ServerSettings.max_text,
    max_sentences: Annotated[
        int, option("Maximum number of sentences per request.", panel=LIMITS, min=1)
    ] = ServerSettings.max_sentences,
    max_words: Annotated[
        int, option("Maximum number of words per sentence.", panel=LIMITS, min=1)
    ] = ServerSettings.max_words,
    max_word_length: Annotated[
        int, option("Maximum number of characters per word.", panel=LIMITS, min=1)
    ] = ServerSettings.max_word_length,
    connections: Annotated[
        int, option("Maximum number of open connections.", panel=LIMITS, min=1)
    ] = ServerSettings.connections,
    header_timeout: Annotated[
        float, option("Seconds for a client to send its header.", panel=LIMITS, min=0.1)
    ] = ServerSettings.header_timeout,
    body_timeout: Annotated[
        float, option("Seconds for a client to send its text.", panel=LIMITS, min=0.1)
    ] = ServerSettings.body_timeout,
    answer_timeout: Annotated[
        float, option("Seconds for a client to receive the answer.", panel=LIMITS, min=0.1)
    ] = ServerSettings.answer_timeout,
    allow_host: opt.AllowHost = None,
    device: opt.Device = EncoderSettings.device,
    precision: opt.Precision = EncoderSettings.precision,
    backend: opt.Backend = EncoderSettings.backend,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Serve a web page and a REST API for parsing, on this machine only by default."""
    from treebridge.corpus.bitext import Bitext
    from treebridge.web.serve import serve_models

    serve_models(
        model or [],
        host=host,
        port=port,
        bitext=Bitext.read(bitext) if bitext else None,
        source=source_encoder,
        lexicon=lexicon,
        encoding=EncoderSettings(
            precision=precision, backend=backend, device=device, offline=offline
        ),
        settings=ServerSettings(
            queue=queue,
            timeout=timeout,
            max_text=max_text,
            max_sentences=max_sentences,
            max_words=max_words,
            max_word_length=max_word_length,
            connections=connections,
            header_timeout=header_timeout,
            body_timeout=body_timeout,
            answer_timeout=answer_timeout,
        ),
        allow=allow_host or [],
    )  # fmt: skip
