"""Forecast the LAS of a bridged parser from its agreement with held-out source trees."""

from __future__ import annotations

from typing import Any

from treebridge.parse.agreement import Agreement


def forecast(agreement: Agreement, *, refined: bool) -> dict[str, Any]:
    """Placeholder until calibrated."""
    return {"LAS": agreement.las, "error": 4.0}
