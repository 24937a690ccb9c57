"""A space: an encoder with its isotropy. A parser is trained in one; a bridge leads into it."""

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
    """Where vectors live; it knows which encoder they must come from."""

    encoder: str  # a name of the hub, or where its folder or file is
    fingerprint: str
    layers: str
    dim: int
    isotropy: Isotropy
    commit: str = ""  # of the hub, where the encoder comes from there
    words: tuple[str, ...] = ()  # common ones of the text it was fitted on, where that is known

    @classmethod
    def of(
        cls, encoder: Encoder, isotropy: Isotropy | None = None, words: tuple[str, ...] = ()
    ) -> Space:
        """The space of an encoder; without isotropy its vectors are taken as they are."""
        settings = getattr(encoder, "settings", None)
        # A folder is found again from anywhere; a name of the hub stays a name.
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

    def check(self, encoder: Encoder) -> None:
        """Refuse vectors of another encoder: they would be noise here."""
        if not encoder.has_fingerprint(self.fingerprint):
            raise TreebridgeError(
                f"this was made with the encoder {self.encoder!r} (layers {self.layers}), and "
                f"{encoder.name!r} is another one or has other layers; give {self._pinned()}"
            )

    def _pinned(self) -> str:
        """How to name the encoder so that a change on the hub does not matter."""
        name = self.encoder.partition("@")[0]
        return f"{name}@{self.commit}" if self.commit else "that one"

    def transform(self, vectors: NDArray[np.floating]) -> NDArray[np.float32]:
        """Vectors of the encoder as they stand in this space."""
        return self.isotropy.transform(vectors)

    def config(self) -> dict[str, Any]:
        """All but the means and the words, for a config.json."""
        return {
            **self.origin(),
            "fingerprint": self.fingerprint,
            "layers": self.layers,
            "dim": self.dim,
        }

    def origin(self) -> dict[str, str]:
        """Which encoder it is, and which commit of it if it came from the hub."""
        commit = {"commit": self.commit} if self.commit else {}
        return {"encoder": self.encoder, **commit}

    @classmethod
    def from_config(cls, config: dict[str, Any], file: Path, words: Iterable[str] = ()) -> Space:
        """The space that was saved as `config()` in this file; its isotropy is read elsewhere."""
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
        """The same with the means of its isotropy."""
        return replace(self, isotropy=Isotropy(np.asarray(means, np.float64)))


def cite(origin: dict[str, Any]) -> str:
    """An encoder as a model card names it."""
    commit = f" (commit `{origin['commit']}`)" if origin.get("commit") else ""
    return f"`{origin['encoder']}`{commit}"
