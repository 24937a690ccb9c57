"""Fetching files: resumed where they broke off, checked, whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from treebridge.errors import TreebridgeError, first_line
from treebridge.progress import QUIET, Progress

BLOCK = 1 << 18
ATTEMPTS = 3  # a transfer that breaks off goes on by itself so many times
TIMEOUT = 30  # seconds without a byte


@dataclass(frozen=True)
class Remote:
    """A file somewhere else; its size and checksum where they are known."""

    url: str
    licence: str
    size: int | None = None
    sha256: str | None = None


def fetch(remote: Remote, path: Path, progress: Progress = QUIET) -> Path:
    """The file, downloaded to `path` unless it is there.

    Beside it stands its checksum (`….sha256`), so that others can be compared with it.
    """
    if path.exists():
        return path
    part = path.with_name(path.name + ".part")
    progress.say(f"downloading {path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, ATTEMPTS + 1):
            if _transfer(remote.url, part, progress):
                break
            if attempt == ATTEMPTS:
                raise TreebridgeError(
                    f"the transfer broke off after {part.stat().st_size:,} bytes, which are kept; "
                    "run again to go on",
                    file=remote.url,
                )
    except urllib.error.HTTPError as error:
        what = "there is no such file" if error.code == 404 else f"the server says {error.code}"
        raise TreebridgeError(
            f"{what} ({error.reason}); get it by hand and put it at {path}", file=remote.url
        ) from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise TreebridgeError(
            f"cannot be fetched ({first_line(Exception(reason))}); is there a network? What was "
            f"fetched is kept, run again to go on, or put the file at {path}",
            file=remote.url,
        ) from None
    found = checksum(part)
    if remote.sha256 and found != remote.sha256:
        part.unlink()
        _tag(part).unlink(missing_ok=True)
        raise TreebridgeError(
            f"arrived damaged and was removed: its checksum is {found[:16]}…, not "
            f"{remote.sha256[:16]}…; run again, or put the right file at {path}",
            file=remote.url,
        )
    Path(f"{path}.sha256").write_text(f"{found}  {path.name}\n", encoding="utf-8")
    _tag(part).unlink(missing_ok=True)
    part.replace(path)
    return path


def remote_size(url: str) -> int | None:
    """What the server says the size is, None where it says nothing or cannot be asked."""
    try:
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=5) as answer:
            return int(answer.headers["Content-Length"])
    except (OSError, ValueError, TypeError, http.client.HTTPException):
        return None


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _transfer(url: str, part: Path, progress: Progress) -> bool:
    """Fetch what is missing of a file; False where the connection broke off."""
    have = part.stat().st_size if part.exists() else 0
    tag = _tag(part)
    headers = {"User-Agent": "treebridge"}
    # Without a tag nobody could say whether the rest still belongs to what we have.
    if have and tag.exists():
        headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text()}
    request = urllib.request.Request(url, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != 416:
            raise
        part.unlink(missing_ok=True)  # more than there is: begin anew
        tag.unlink(missing_ok=True)
        return False
    with answer:
        resumed = answer.status == 206
        done = have if resumed else 0
        length = answer.headers["Content-Length"]
        total = done + int(length) if length else None
        if answer.headers["ETag"]:
            tag.write_text(answer.headers["ETag"])
        with part.open("ab" if resumed else "wb") as stream:
            try:
                while block := answer.read(BLOCK):
                    stream.write(block)
                    done += len(block)
                    if total:
                        progress.advance(part.stem, done / total)
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, http.client.IncompleteRead):
                    stream.write(error.partial)
                return False
    return total is None or done >= total


def _tag(part: Path) -> Path:
    return part.with_name(part.name + ".etag")
