"""Aligners by name."""

from __future__ import annotations

from pathlib import Path

from treebridge.alignment.aligner import FORMAT, KIND, Aligner, read_parts
from treebridge.alignment.fast_align import FastAlign, FastAlignSettings
from treebridge.alignment.hmm import Hmm, HmmSettings
from treebridge.artefact import check_files, read_config
from treebridge.errors import TreebridgeError
from treebridge.records import FIX, field

_ENGINES: dict[str, tuple[type[Aligner], type]] = {
    FastAlign.engine: (FastAlign, FastAlignSettings),
    Hmm.engine: (Hmm, HmmSettings),
}
DEFAULT = Hmm.engine


def engine(name: str) -> type[Aligner]:
    """Return the aligner class of this name."""
    if name not in _ENGINES:
        raise TreebridgeError(f"unknown aligner {name!r}; choose from {', '.join(_ENGINES)}")
    return _ENGINES[name][0]


def load_aligner(folder: str | Path) -> Aligner:
    """Load a model that `Aligner.save` wrote, whatever its engine."""
    folder = Path(folder)
    config = read_config(folder, KIND, FORMAT)
    check_files(folder, config)
    where = folder / "config.json"
    kind = engine(field(config, "engine", str, where))
    try:
        settings = _ENGINES[kind.engine][1](**field(config, "settings", dict, where))
    except TypeError:
        raise TreebridgeError(f"damaged: 'settings' is invalid; {FIX}", file=where) from None
    trained, made = (field(config, name, dict, where) for name in ("trained", "made"))
    return kind(*read_parts(folder), settings, trained, made)
