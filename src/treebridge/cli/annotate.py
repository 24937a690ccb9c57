"""`treebridge annotate`."""

from __future__ import annotations

from typing import Annotated

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import command
from treebridge.cli.options import SERVER, option
from treebridge.encode.settings import EncoderSettings


@command("annotate", "treebridge annotate es todo.conllu")
def annotate(
    model: opt.ModelArgument,
    file: Annotated[
        str, typer.Argument(help="CoNLL-U file to edit; every change is saved to it at once.",
                            metavar="FILE")
    ],
    host: Annotated[str, opt.host_option("which need the token")] = "127.0.0.1",
    port: opt.Port = 8000,
    token: Annotated[
        str | None,
        option("Token that clients must send; it is part of the printed address.", panel=SERVER,
               show_default="none on this machine, otherwise a random one"),
    ] = None,
    open_page: Annotated[
        bool, option("Open the page in a browser.", "--open/--no-open", panel=SERVER)
    ] = True,
    allow_host: opt.AllowHost = None,
    device: opt.Device = EncoderSettings.device,
    precision: opt.Precision = EncoderSettings.precision,
    backend: opt.Backend = EncoderSettings.backend,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Correct the trees of a file in the browser, with the parser's help."""
    from treebridge.web.annotate import annotate_file

    annotate_file(
        model,
        file,
        host=host,
        port=port,
        token=token,
        open_page=open_page,
        encoding=EncoderSettings(
            precision=precision, backend=backend, device=device, offline=offline
        ),
        allow=allow_host or [],
    )
