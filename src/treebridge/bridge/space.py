"""A space: an encoder with its isotropy. Parsers are trained in one; bridges map into one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.isotropy import Isotropy
from treebridge.encode.encoder import Encoder
from treebridge.errors import TreebridgeError
from treebridge.records import FIX, field


@dataclass(frozen=True)
class Space:
    """An encoder's identity and the isotropy applied to its vectors."""

    encoder: str  # name on the hub, or path of a folder or file
    fingerprint: str
    layers: str
    dim: int
    isotropy: Isotropy
    commit: str = ""  # on the hub, if the encoder comes from there
    words: tuple[str, ...] = ()  # common words of the text it was fitted on, if known

    @classmethod
    def of(
        cls, encoder: Encoder, isotropy: Isotropy | None = None, words: tuple[str, ...] = ()
    ) -> Space:
        """The space of an encoder; without isotropy, its raw vectors."""
        settings = getattr(encoder, "settings", None)
        # An absolute path works from any folder; a name on the hub stays as it is.
        here = Path(encoder.name)
        return cls(
            str(here.absolute()) if here.exists() else encoder.name,
            encoder.fingerprint,
            settings.layers if settings else "",
            encoder.dim,
            isotropy or Isotropy.none(encoder.dim),
            encoder.commit,
            words,
        )

    def tuned(self, encoder: Encoder) -> Space:
        """The same space, read by its encoder after it has learned."""
        return replace(self, encoder=encoder.name, fingerprint=encoder.fingerprint, commit="")

    def check(self, encoder: Encoder) -> None:
        """Raise an error unless this is the space's encoder: other vectors would be noise."""
        if not encoder.has_fingerprint(self.fingerprint):
            raise TreebridgeError(
                f"expected the encoder {self.encoder!r} (layers {self.layers}), but "
                f"{encoder.name!r} is a different encoder or uses other layers; "
                f"use {self._pinned()}"
            )

    def _pinned(self) -> str:
        """The encoder's name, pinned to its commit on the hub."""
        name = self.encoder.partition("@")[0]
        return f"{name}@{self.commit}" if self.commit else "that one"

    def transform(self, vectors: NDArray[np.floating]) -> NDArray[np.float32]:
        """Apply the isotropy to vectors of the encoder."""
        return self.isotropy.transform(vectors)

    def config(self) -> dict[str, Any]:
        """Everything except the means and the words, for config.json."""
        return {
            **self.origin(),
            "fingerprint": self.fingerprint,
            "layers": self.layers,
            "dim": self.dim,
        }

    def origin(self) -> dict[str, str]:
        """The encoder's name, and its commit if it came from the hub."""
        commit = {"commit": self.commit} if self.commit else {}
        return {"encoder": self.encoder, **commit}

    @classmethod
    def from_config(cls, config: dict[str, Any], file: Path, words: Iterable[str] = ()) -> Space:
        """Restore a space from its `config()`; add its isotropy with `with_means`."""
        dim = field(config, "dim", int, file)
        if dim < 1:
            raise TreebridgeError(f"damaged: 'dim' is {dim}; {FIX}", file=file)
        return cls(
            field(config, "encoder", str, file),
            field(config, "fingerprint", str, file),
            field(config, "layers", str, file),
            dim,
            Isotropy.none(dim),
            field({"commit": "", **config}, "commit", str, file),
            tuple(words),
        )

    def with_means(self, means: NDArray[np.floating]) -> Space:
        """A copy with these isotropy means."""
        return replace(self, isotropy=Isotropy(np.asarray(means, np.float64)))


def cite(origin: dict[str, Any]) -> str:
    """An encoder's name and commit for a model card."""
    commit = f" (commit `{origin['commit']}`)" if origin.get("commit") else ""
    return f"`{origin['encoder']}`{commit}"
