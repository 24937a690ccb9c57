"""The bridge: target isotropy, W and a translation, from target vectors into a parser's space."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treebridge.artefact import (
    Shape,
    check_files,
    read_config,
    read_tensors,
    write_config,
    write_tensors,
)
from treebridge.bridge.card import bridge_card
from treebridge.bridge.space import Space
from treebridge.corpus.bitext import Bitext
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import require_train
from treebridge.folders import new_folder
from treebridge.records import field as field_of

if TYPE_CHECKING:
    from treebridge.bridge.settings import BridgeSettings

KIND, FORMAT = "bridge", 2  # format 1 has no translation
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
    translation: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))  # [source dim]

    def __post_init__(self) -> None:
        self.translation = np.broadcast_to(self.translation, len(self.w))

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
        return np.asarray(mapped + self.translation.astype(np.float32), np.float32)

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
                "translation": self.translation,
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
            (folder / "README.md").write_text(bridge_card(Path(path).name, self), encoding="utf-8")

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
        shapes: dict[str, Shape] = {
            "w": (into.dim, target.dim),
            "target_means": (None, target.dim),
            "into_means": (None, into.dim),
        }
        if config["format"] > 1:
            shapes["translation"] = (into.dim,)
        tensors = read_tensors(folder / TENSORS, shapes)
        return cls(
            target.with_means(tensors["target_means"]),
            into.with_means(tensors["into_means"]),
            tensors["w"],
            field_of(config, "made", dict, where),
            field_of(config, "quality", dict, where),
            read_senses(folder),
            tensors.get("translation", np.zeros(1)),
        )
