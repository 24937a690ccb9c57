"""What a server takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerSettings:
    """What a server takes on."""

    queue: int = 128  # requests that may wait
    timeout: float = 30.0  # seconds from a whole request to its answer
    max_text: int = 20_000  # characters
    max_sentence: int = 400  # words
    max_word: int = 500  # characters
    connections: int = 256  # open at once
    header_timeout: float = 10.0  # seconds for a client to send its header
    body_timeout: float = 20.0  # seconds for it to send the body
    answer_timeout: float = 60.0  # seconds for it to take the answer
    hosts: tuple[str, ...] = ()  # names by which it may be called; none: any
