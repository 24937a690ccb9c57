"""Downloads: resumed after interruptions, verified, and moved into place when complete."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from treebridge.checksums import file_sha256
from treebridge.errors import TreebridgeError, first_line
from treebridge.progress import QUIET, Progress

BLOCK = 1 << 18
ATTEMPTS = 3  # before giving up on a connection that keeps breaking
TIMEOUT = 30  # seconds without a byte


@dataclass(frozen=True)
class Remote:
    """A remote file, with its size and checksum if known."""

    url: str
    licence: str
    size: int | None = None
    sha256: str | None = None


def fetch(remote: Remote, path: Path, progress: Progress = QUIET) -> Path:
    """Download a file to `path` unless it exists, and write its checksum beside it (`….sha256`)."""
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
                    f"the download was interrupted after {part.stat().st_size:,} bytes; "
                    "run again to resume it",
                    file=remote.url,
                )
    except urllib.error.HTTPError as error:
        what = "file not found" if error.code == 404 else f"the server answered {error.code}"
        raise TreebridgeError(
            f"{what} ({error.reason}); download it by hand and save it as {path}", file=remote.url
        ) from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise TreebridgeError(
            f"download failed ({first_line(Exception(reason))}); check the network and run again "
            f"to resume it, or save the file as {path}",
            file=remote.url,
        ) from None
    found = file_sha256(part)
    if remote.sha256 and found != remote.sha256:
        part.unlink()
        _tag(part).unlink(missing_ok=True)
        raise TreebridgeError(
            f"damaged download, now removed: expected checksum {remote.sha256[:16]}…, "
            f"found {found[:16]}…; run again, or save the right file as {path}",
            file=remote.url,
        )
    Path(f"{path}.sha256").write_text(f"{found}  {path.name}\n", encoding="utf-8")
    _tag(part).unlink(missing_ok=True)
    part.replace(path)
    return path


def remote_size(url: str) -> int | None:
    """Ask the server for the size of a file; None if it does not tell."""
    try:
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=5) as answer:
            return int(answer.headers["Content-Length"])
    except (OSError, ValueError, TypeError, http.client.HTTPException):
        return None


def _transfer(url: str, part: Path, progress: Progress) -> bool:
    """Download the rest of a file; False if the connection broke."""
    have = part.stat().st_size if part.exists() else 0
    tag = _tag(part)
    headers = {"User-Agent": "treebridge"}
    # Without an ETag the remote file may have changed since the first part.
    if have and tag.exists():
        headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text()}
    request = urllib.request.Request(url, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != 416:
            raise
        part.unlink(missing_ok=True)  # longer than the remote file: start over
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
