"""Where the real data is: beside the repository, or where TREEBRIDGE_SHARED says."""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(os.environ.get("TREEBRIDGE_SHARED") or Path(__file__).resolve().parents[3] / "shared")
