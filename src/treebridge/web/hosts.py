"""Host names that a server answers to.

A web site can point its own name at 127.0.0.1 (DNS rebinding): a visitor's browser then treats a
local server as part of that site and lets the site read its responses. The `Host` header still
contains the name that the browser used.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

LOCAL = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::\d*)?")


def allowed_hosts(bound: str, host: str, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Host names for a server bound to an address; empty if any name is allowed."""
    if not more and not ipaddress.ip_address(bound).is_loopback:
        return ()
    own = f"[{host}]" if ":" in host else host
    return tuple(dict.fromkeys(name.lower() for name in (*LOCAL, own, *more)))


def is_allowed(header: str, hosts: Sequence[str]) -> bool:
    """Whether a `Host` header contains an allowed name, with any port."""
    found = _HOST.fullmatch(header.strip().lower())
    return not hosts or (found is not None and found[1] in hosts)
