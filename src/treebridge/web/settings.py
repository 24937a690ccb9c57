"""What a server takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerSettings:
    """What a server takes on."""

    queue: int = 128  # requests that may wait
    timeout: float = 30.0  # seconds until a request is given up
    max_text: int = 20_000  # characters
    max_sentence: int = 400  # words
    max_word: int = 500  # characters
