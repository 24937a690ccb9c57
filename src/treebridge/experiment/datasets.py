"""The datasets of an experiment: local files if they exist, downloads otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from treebridge.corpus.bitext import Bitext
from treebridge.corpus.download import Remote, fetch, remote_size
from treebridge.errors import TreebridgeError
from treebridge.experiment import catalog
from treebridge.experiment.inputs import AnyEncoder, Source, Target
from treebridge.progress import QUIET, Progress


@dataclass(frozen=True)
class Supply:
    """A data folder, and the user's replacements for the paper's data."""

    data: Path
    part: str = "test"  # part of the treebanks to score
    corpus: str = catalog.CORPUS
    pairs: int | None = None
    encoders: Mapping[str, str] = field(default_factory=dict)  # by language
    multilingual: Mapping[str, str] = field(default_factory=dict)  # by role
    vectors: Mapping[str, str] = field(default_factory=dict)  # by language
    dictionaries: Mapping[str, str] = field(default_factory=dict)  # by language
    offline: bool = False
    progress: Progress = QUIET

    def source(self) -> Source:
        """The source language, English."""
        entry = catalog.entry(catalog.SOURCE)
        return Source(
            entry.code,
            entry.name,
            self._trees(entry, self.part),
            self._encoders(entry),
            self._trees(entry, "train"),
            self._trees(entry, "dev"),
        )

    def target(self, code: str) -> Target:
        """One of the paper's target languages."""
        entry = catalog.entry(code)
        dictionary = self.dictionaries.get(code)
        return Target(
            entry.code,
            entry.name,
            self._trees(entry, self.part),
            self._encoders(entry),
            lambda: self._bitext(code),
            Path(dictionary) if dictionary else None,
        )

    def needs(self, codes: Sequence[str], roles: Sequence[str]) -> list[Need]:
        """Files and encoders that an experiment needs, whether available or not."""
        found = []
        for code in (catalog.SOURCE, *codes):
            entry = catalog.entry(code)
            parts = {"train", "dev", self.part} if code == catalog.SOURCE else {self.part}
            for part in sorted(parts):
                path = self._treebank_path(entry, part)
                found.append(Need(path.name, path, entry.remote(part)))
            if code != catalog.SOURCE and "own" in roles:
                path, remote = self._bitext_path(code)
                own = path.name.startswith(f"{catalog.SOURCE}-{code}.tsv")
                found.append(Need(f"parallel text en-{code}", path, None if own else remote))
            if "own" in roles:
                name = self.encoders.get(code, entry.encoder)
                found.append(Need(f"encoder {name}", Path(name), None))
            if "vectors" in roles:
                path = self._vectors_path(code)
                found.append(Need(path.name, path, catalog.vectors(code)))
        for role, name in {**catalog.MULTILINGUAL, **self.multilingual}.items():
            if role in roles:
                found.append(Need(f"encoder {name}", Path(name), None))
        return found

    def _trees(self, entry: catalog.Entry, part: str) -> Callable[[], Path]:
        path = self._treebank_path(entry, part)
        return lambda: self._get(entry.remote(part), path)

    def _treebank_path(self, entry: catalog.Entry, part: str) -> Path:
        return self.data / f"ud-{catalog.UD}" / f"UD_{entry.treebank}" / entry.file(part)

    def _encoders(self, entry: catalog.Entry) -> dict[str, AnyEncoder]:
        path = self._vectors_path(entry.code)
        return {
            "own": self.encoders.get(entry.code, entry.encoder),
            **catalog.MULTILINGUAL,
            **self.multilingual,
            "vectors": lambda: self._get(catalog.vectors(entry.code), path),
        }

    def _vectors_path(self, code: str) -> Path:
        given = self.vectors.get(code)
        return Path(given) if given else self.data / "vectors" / f"wiki.{code}.align.vec"

    def _bitext_path(self, code: str) -> tuple[Path, Remote]:
        """The path of the parallel text (a local TSV if it exists) and its download address."""
        remote = catalog.corpus(self.corpus, code)
        local = self.data / "bitext" / f"{catalog.SOURCE}-{code}.tsv"
        for path in (local, *(local.with_name(f"{local.name}.{end}") for end in ("xz", "gz"))):
            if path.exists():
                return path, remote
        name = remote.url.rpartition("/")[2]
        return self.data / "bitext" / self.corpus.replace("/", "-") / name, remote

    def _bitext(self, code: str) -> Bitext:
        path, remote = self._bitext_path(code)
        self._get(remote, path)
        return Bitext.read(path, target_language=code, limit=self.pairs)

    def _get(self, remote: Remote, path: Path) -> Path:
        if not path.exists() and self.offline:
            raise TreebridgeError(
                f"not found, and offline mode prevents downloading it from {remote.url}", file=path
            )
        if path.exists():
            return path
        return fetch(remote, path, self.progress)


@dataclass(frozen=True)
class Need:
    """A file or encoder that an experiment needs."""

    what: str
    path: Path
    remote: Remote | None  # None: the user's own, or downloaded by the hub's client

    @property
    def licence(self) -> str:
        """Its licence."""
        if self.remote is not None:
            return self.remote.licence
        return "your own" if self.path.exists() else "see the hub"

    @property
    def there(self) -> bool:
        """Whether it is available on this machine."""
        if self.path.exists():
            return True
        if self.remote is not None:
            return False
        from treebridge.encode.hub import find_encoder

        try:
            find_encoder(str(self.path), offline=True)
        except TreebridgeError:
            return False
        return True

    def size(self) -> int | None:
        """Size of the download in bytes, if known."""
        if self.remote is None:
            return None
        return self.remote.size or remote_size(self.remote.url)
