"""Limits of a server."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServerSettings:
    """Limits on requests and connections, and whom to answer."""

    queue: int = 128  # waiting requests
    timeout: float = 30.0  # seconds from a complete request to its response
    max_text: int = 20_000  # characters per request
    max_sentences: int = 1_000  # per request
    max_words: int = 400  # per sentence
    max_word_length: int = 500  # characters
    connections: int = 256  # open at once
    header_timeout: float = 10.0  # seconds for a client to send its header
    body_timeout: float = 20.0  # seconds for a client to send the body
    answer_timeout: float = 60.0  # seconds for a client to receive the response
    hosts: tuple[str, ...] = ()  # allowed `Host` names; empty: any
    token: str | None = field(default=None, repr=False)  # clients must send it; None: no token
