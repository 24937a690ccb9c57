"""Encoders by name: from a folder, from the cache, or from the Hugging Face hub."""

from __future__ import annotations

import fnmatch
import shutil
from pathlib import Path
from typing import Any

from treebridge.checksums import file_sha256, find_damage
from treebridge.errors import TreebridgeError, first_line
from treebridge.records import FIX, read_record

PRETRAINED = "pretraining.json"  # what `pretrain` keeps about the encoders it makes
_TOKENIZER = ["tokenizer*.json", "special_tokens_map.json", "added_tokens.json", "vocab.*",
              "target_vocab.json", "merges.txt", "*.model", "*.spm"]  # fmt: skip
_WEIGHTS = [["*.onnx.gz"], ["*.safetensors", "*.safetensors.index.json"], ["pytorch_model*.bin*"]]


def find_encoder(name: str, *, offline: bool = False) -> Path:
    """The folder of an encoder; a hub name is downloaded once and then taken from the cache.

    `name@revision` pins a branch, a tag or a commit of the hub.
    """
    if Path(name).is_dir():
        if not (Path(name) / "config.json").is_file():
            raise TreebridgeError("this folder has no config.json; is it an encoder?", file=name)
        return Path(name)
    repository, at, revision = name.partition("@")
    if name.startswith((".", "/", "~")) or repository.count("/") > 1:
        raise TreebridgeError("there is no such folder", file=name)
    if at and not revision:
        raise TreebridgeError(f"{name!r}: expected a branch, tag or commit of the hub after the @")
    return _cached(repository, revision or None) or _download(repository, revision or None, offline)


def commit_of(folder: Path) -> str:
    """The commit of the hub that a folder of its cache holds; empty for other folders."""
    return folder.name if folder.parent.name == "snapshots" else ""


def check_encoder(folder: Path) -> None:
    """Refuse a folder that `pretrain` wrote and that has changed since."""
    note = folder / PRETRAINED
    if note.exists() and (damage := find_damage(folder, read_record(note).get("files", {}))):
        raise TreebridgeError(
            f"damaged: {damage}; {FIX}, or remove {PRETRAINED} if the change was meant", file=folder
        )


def copy_encoder(found: Path, folder: Path) -> None:
    """Copy what makes up an encoder into a new folder."""
    folder.mkdir(parents=True)
    names = [path.name for path in found.iterdir()]
    for name in ["config.json", *_matching(names, _TOKENIZER), *_pick_weights(names)]:
        shutil.copyfile(found / name, folder / name)


def _cached(name: str, revision: str | None) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(name, "config.json", revision=revision)
    except HFValidationError:
        raise TreebridgeError(
            f"{name!r} is neither a folder nor a name of the hub (such as bert-base-uncased)"
        ) from None
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    names = [path.name for path in folder.iterdir()]
    complete = _pick_weights(names) and _matching(names, _TOKENIZER)
    return folder if complete and all(path.exists() for path in folder.iterdir()) else None


def _download(name: str, pinned: str | None, offline: bool) -> Path:
    from huggingface_hub import HfApi, constants, hf_hub_download
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    shown = f"{name}@{pinned}" if pinned else name
    if offline or constants.HF_HUB_OFFLINE:
        raise TreebridgeError(
            f"encoder {shown!r} is not in the cache and --offline forbids to fetch it; "
            "fetch it once without, or give a folder"
        )
    try:
        info = HfApi().model_info(name, revision=pinned, files_metadata=True)
        files = {file.rfilename: file for file in info.siblings or []}
        # The configuration comes last and by the name of its revision, which makes the cache
        # remember which commit that is.
        wanted = [*_matching(list(files), _TOKENIZER), *_pick_weights(list(files)), "config.json"]
        if "config.json" not in files or not _pick_weights(list(files)):
            raise TreebridgeError(
                f"{name!r} on the hub has no config.json with torch weights; choose another encoder"
            )
        folder = Path()
        for file in wanted:
            revision = pinned if file == "config.json" else info.sha
            path = Path(hf_hub_download(name, file, revision=revision))
            _check(path, files[file], name)
            folder = path.parent
    except GatedRepoError:
        raise TreebridgeError(
            f"{name!r} is gated on the hub; ask for access there, then: hf auth login"
        ) from None
    except RevisionNotFoundError:
        raise TreebridgeError(
            f"the encoder {name!r} on the hub has no revision {pinned!r}; expected a branch, tag "
            "or commit"
        ) from None
    except RepositoryNotFoundError:
        raise TreebridgeError(
            f"there is no encoder {name!r} on the hub, nor a folder of that name; "
            "check the spelling (private ones need: hf auth login)"
        ) from None
    except TreebridgeError:
        raise
    except Exception as error:  # the HTTP library under the hub's client changes between releases
        raise TreebridgeError(
            f"the hub could not be reached for {shown!r} ({first_line(error)}); "
            "what was fetched is kept, run again to go on, or give a folder"
        ) from error
    return folder


def _pick_weights(names: list[str]) -> list[str]:
    """Safetensors where there are any, else pickled weights."""
    for patterns in _WEIGHTS:
        if found := _matching(names, patterns):
            return found
    return []


def _matching(names: list[str], patterns: list[str]) -> list[str]:
    """Files at the top of the repository that match."""
    return [
        name
        for name in names
        if "/" not in name and any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]


def _check(path: Path, file: Any, name: str) -> None:
    """Compare a large file with the checksum that the hub states for it."""
    wanted = getattr(file.lfs, "sha256", None) if file.lfs else None
    if wanted is None:
        return
    if file_sha256(path) != wanted:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise TreebridgeError(
            f"{file.rfilename} of {name!r} arrived damaged (wrong checksum) and was removed; "
            "run again to fetch it anew"
        )
