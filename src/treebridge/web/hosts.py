"""By which names a server may be called.

A web site can point its own name at 127.0.0.1 (DNS rebinding): a visitor's browser then takes a
local server for a part of that site and hands over what it answers. The browser still says in
`Host` which name it used.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

LOCAL = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::\d*)?")


def allowed_hosts(bound: str, host: str, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Names for a server that listens on the address `bound`; none where any may be used."""
    if not more and not ipaddress.ip_address(bound).is_loopback:
        return ()
    own = f"[{host}]" if ":" in host else host
    return tuple(dict.fromkeys(name.lower() for name in (*LOCAL, own, *more)))


def is_allowed(header: str, hosts: Sequence[str]) -> bool:
    """Whether a `Host` header names one of these, with any port."""
    found = _HOST.fullmatch(header.strip().lower())
    return not hosts or (found is not None and found[1] in hosts)
