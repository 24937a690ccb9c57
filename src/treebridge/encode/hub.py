"""Encoders by name: from a folder, from the cache, or from the Hugging Face hub."""

from __future__ import annotations

import fnmatch
import shutil
from pathlib import Path
from typing import Any

from treebridge.checksums import file_sha256, find_damage
from treebridge.errors import TreebridgeError, first_line
from treebridge.records import FIX, read_record

PRETRAINED = "pretraining.json"  # how `pretrain` made an encoder
_TOKENIZER = ["tokenizer*.json", "special_tokens_map.json", "added_tokens.json", "vocab.*",
              "target_vocab.json", "merges.txt", "*.model", "*.spm"]  # fmt: skip
_WEIGHTS = [["*.onnx.gz"], ["*.safetensors", "*.safetensors.index.json"], ["pytorch_model*.bin*"]]


def find_encoder(name: str, *, offline: bool = False) -> Path:
    """Return the folder of an encoder; a hub name is downloaded once and then cached.

    `name@revision` pins a branch, a tag or a commit of the hub.
    """
    if Path(name).is_dir():
        if not (Path(name) / "config.json").is_file():
            raise TreebridgeError("this folder has no config.json; is it an encoder?", file=name)
        return Path(name)
    repository, at, revision = name.partition("@")
    if name.startswith((".", "/", "~")) or repository.count("/") > 1:
        raise TreebridgeError("folder not found", file=name)
    if at and not revision:
        raise TreebridgeError(f"{name!r}: expected a branch, tag or commit of the hub after the @")
    return _cached(repository, revision or None) or _download(repository, revision or None, offline)


def commit_of(folder: Path) -> str:
    """Return the commit of a folder in the hub's cache; empty for other folders."""
    return folder.name if folder.parent.name == "snapshots" else ""


def check_encoder(folder: Path) -> None:
    """Refuse a folder that has changed since `pretrain` wrote it."""
    note = folder / PRETRAINED
    if note.exists() and (damage := find_damage(folder, read_record(note).get("files", {}))):
        raise TreebridgeError(
            f"damaged: {damage}; {FIX}, or remove {PRETRAINED} if you changed it on purpose",
            file=folder,
        )


def copy_encoder(found: Path, folder: Path) -> None:
    """Copy the files of an encoder into a new folder."""
    folder.mkdir(parents=True)
    names = [path.name for path in found.iterdir()]
    for name in ["config.json", *_matching(names, _TOKENIZER), *_pick_weights(names)]:
        shutil.copyfile(found / name, folder / name)


def weight_files(folder: Path) -> list[str]:
    """The names of the files that hold an encoder's weights."""
    return _pick_weights([path.name for path in folder.iterdir()])


def _cached(name: str, revision: str | None) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(name, "config.json", revision=revision)
    except HFValidationError:
        raise TreebridgeError(
            f"{name!r} is neither a folder nor a hub name (such as bert-base-uncased)"
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
            f"encoder {shown!r} is not in the cache and offline mode prevents downloading it; "
            "download it once while online, or use a folder"
        )
    try:
        info = HfApi().model_info(name, revision=pinned, files_metadata=True)
        files = {file.rfilename: file for file in info.siblings or []}
        # config.json comes last and by revision name, so that the cache records the commit.
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
            f"{name!r} is gated on the hub; request access there, then run: hf auth login"
        ) from None
    except RevisionNotFoundError:
        raise TreebridgeError(
            f"encoder {name!r} has no revision {pinned!r} on the hub; "
            "expected a branch, tag or commit"
        ) from None
    except RepositoryNotFoundError:
        raise TreebridgeError(
            f"found no encoder {name!r} on the hub and no folder of that name; "
            "check the spelling (private encoders need: hf auth login)"
        ) from None
    except TreebridgeError:
        raise
    except Exception as error:  # the HTTP library of the hub's client varies with its version
        raise TreebridgeError(
            f"the hub could not be reached for {shown!r} ({first_line(error)}); "
            "run again to resume the download, or use a folder"
        ) from error
    return folder


def _pick_weights(names: list[str]) -> list[str]:
    """Choose the graph of a packed encoder, else safetensors, else pickled weights."""
    for patterns in _WEIGHTS:
        if found := _matching(names, patterns):
            return found
    return []


def _matching(names: list[str], patterns: list[str]) -> list[str]:
    """Top-level files that match one of the patterns."""
    return [
        name
        for name in names
        if "/" not in name and any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]


def _check(path: Path, file: Any, name: str) -> None:
    """Verify a large file by the hub's checksum."""
    wanted = getattr(file.lfs, "sha256", None) if file.lfs else None
    if wanted is None:
        return
    if file_sha256(path) != wanted:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise TreebridgeError(
            f"{file.rfilename} of {name!r} was damaged (wrong checksum) and has been removed; "
            "run again to download it"
        )
