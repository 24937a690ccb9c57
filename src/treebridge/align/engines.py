"""The aligners by name."""

from __future__ import annotations

from pathlib import Path

from treebridge.align.aligner import FORMAT, KIND, Aligner, read_parts
from treebridge.align.fast_align import FastAlign, FastAlignSettings
from treebridge.align.hmm import Hmm, HmmSettings
from treebridge.artefact import read_config
from treebridge.errors import TreebridgeError

_ENGINES: dict[str, tuple[type[Aligner], type]] = {
    FastAlign.engine: (FastAlign, FastAlignSettings),
    Hmm.engine: (Hmm, HmmSettings),
}
DEFAULT = Hmm.engine


def engine(name: str) -> type[Aligner]:
    """The engine of this name."""
    if name not in _ENGINES:
        raise TreebridgeError(f"no aligner is called {name!r}; take {' or '.join(_ENGINES)}")
    return _ENGINES[name][0]


def load_aligner(folder: str | Path) -> Aligner:
    """A model that `Aligner.save` wrote, whichever engine it is of."""
    folder = Path(folder)
    config = read_config(folder, KIND, FORMAT)
    kind = engine(config["engine"])
    settings = _ENGINES[kind.engine][1](**config["settings"])
    return kind(*read_parts(folder), settings, config["trained"], config["made"])
