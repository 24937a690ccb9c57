"""Durations and sizes in words."""

from __future__ import annotations


def minutes(seconds: float) -> str:
    """A duration.

    >>> minutes(42), minutes(600)
    ('42 s', '10 min')
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def megabytes(size: float) -> str:
    """A size on disk.

    >>> megabytes(24_400_000)
    '24.4 MB'
    """
    return f"{size / 1e6:,.1f} MB"
