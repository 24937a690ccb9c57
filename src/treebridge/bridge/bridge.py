"""The bridge: target isotropy plus W, mapping target vectors into a parser's source space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treebridge.artefact import check_files, read_config, read_tensors, write_config, write_tensors
from treebridge.bridge.space import Space, cite
from treebridge.corpus.bitext import Bitext
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import require_train
from treebridge.folders import new_folder
from treebridge.records import field as field_of

if TYPE_CHECKING:
    from treebridge.bridge.settings import BridgeSettings

KIND, FORMAT = "bridge", 1
TENSORS = "bridge.safetensors"


@dataclass
class Bridge:
    """A map from the target space `target` into the source space `into`."""

    target: Space
    into: Space
    w: NDArray[np.float64]  # [source dim, target dim]
    made: dict[str, Any] = field(default_factory=dict)  # how it was made
    quality: dict[str, Any] = field(default_factory=dict)
    senses: list[dict[str, Any]] = field(default_factory=list)  # one record per anchor

    @classmethod
    def fit(
        cls,
        bitext: Bitext,
        into: Space,
        target: Encoder,
        source: Encoder | None = None,
        settings: BridgeSettings | None = None,
    ) -> Bridge:
        """Align the bitext, collect occurrences, and fit and evaluate a bridge into `into`.

        The source encoder defaults to the one that `into` was made with.
        """
        require_train("fitting a bridge")
        from treebridge.bridge.make import make_bridge

        if source is None:
            source = Encoder.load(into.encoder, EncoderSettings(layers=into.layers or "last4"))
        return make_bridge(bitext, source, target, into, settings)

    def transform(self, vectors: NDArray[np.floating]) -> NDArray[np.float32]:
        """Map raw target-encoder vectors (rows) into the source space."""
        mapped = self.target.transform(vectors) @ self.w.T.astype(np.float32)
        return np.asarray(mapped, np.float32)

    def check(self, encoder: Encoder) -> None:
        """Raise an error unless the bridge was fitted on this encoder."""
        self.target.check(encoder)

    def save(self, path: str | Path, *, key: str | None = None) -> None:
        """Write a folder atomically; `key` is a hash of everything the bridge was made from."""
        with new_folder(path, KIND, key=key) as folder:
            tensors = {
                "w": self.w,
                "target_means": self.target.isotropy.means,
                "into_means": self.into.isotropy.means,
            }
            write_tensors(folder / TENSORS, tensors)
            files = [TENSORS]
            if self.senses:
                from treebridge.bridge.sense_report import SENSES, write_senses

                write_senses(folder, self.senses)
                files.append(SENSES)
            config = {
                "target": self.target.config(),
                "into": self.into.config(),
                "made": self.made,
                "quality": self.quality,
            }
            write_config(folder, KIND, FORMAT, config, files)
            (folder / "README.md").write_text(_card(Path(path).name, self), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Bridge:
        """Load a bridge from its folder."""
        from treebridge.bridge.sense_report import read_senses

        folder = Path(path)
        config = read_config(folder, KIND, FORMAT)
        check_files(folder, config)
        where = folder / "config.json"
        sides = [field_of(config, side, dict, where) for side in ("target", "into")]
        target, into = (Space.from_config(side, where) for side in sides)
        shapes = {
            "w": (into.dim, target.dim),
            "target_means": (None, target.dim),
            "into_means": (None, into.dim),
        }
        tensors = read_tensors(folder / TENSORS, shapes)
        return cls(
            target.with_means(tensors["target_means"]),
            into.with_means(tensors["into_means"]),
            tensors["w"],
            field_of(config, "made", dict, where),
            field_of(config, "quality", dict, where),
            read_senses(folder),
        )


def _card(name: str, bridge: Bridge) -> str:
    target, into = bridge.target.origin(), bridge.into.origin()
    return "\n".join(
        [
            f"# {name}: a treebridge bridge",
            "",
            f"Maps vectors of {cite(target)} into the space of {cite(into)}.",
            "",
            "| data and settings | |",
            "|---|---|",
            *(f"| {key} | {value} |" for key, value in bridge.made.items()),
            "",
            "| quality on held-out sentence pairs | |",
            "|---|---|",
            *_card_rows(bridge.quality),
            "",
        ]
    )


def _card_rows(quality: Mapping[str, Any], prefix: str = "") -> list[str]:
    rows: list[str] = []
    for key, value in quality.items():
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            rows += _card_rows(value, f"{name}: ")
        else:
            rows.append(f"| {name} | {f'{value:.3f}' if isinstance(value, float) else value} |")
    return rows
