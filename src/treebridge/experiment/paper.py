"""Table 1 of Xu & Koehn (2021): UAS and LAS on test, by the names of our rows."""

from __future__ import annotations

LANGUAGES = ("en", "es", "pt", "ro", "pl", "fi", "el")
_ROWS = {
    "fasttext": (
        "88.55/86.36 73.57/65.13 72.41/60.69 60.27/46.79 75.88/59.48 62.32/40.78 71.51/61.46"
    ),
    "multilingual-uncased": (
        "93.45/91.52 82.11/72.51 80.89/68.90 72.08/56.91 85.27/69.76 72.76/49.64 81.72/68.35"
    ),
    "multilingual": (
        "93.32/91.34 82.83/74.08 80.80/68.68 70.76/56.04 83.77/68.01 71.82/48.84 78.24/65.92"
    ),
    "word": ("93.70/91.78 82.43/73.86 79.77/67.35 71.13/57.28 84.58/69.53 74.65/51.06 82.29/69.88"),
    "sense": (
        "93.70/91.78 82.55/73.92 80.34/67.80 71.46/57.57 84.71/69.56 74.81/51.14 82.33/70.10"
    ),
    "word+in": (
        "94.21/92.01 83.70/75.14 81.48/69.04 74.65/59.68 84.32/70.45 75.07/51.75 83.76/71.11"
    ),
    "sense+in": (
        "94.21/92.01 83.91/75.39 81.99/69.49 74.78/59.83 84.57/70.52 75.31/51.99 84.05/71.26"
    ),
}
PAPER: dict[tuple[str, str], tuple[float, float]] = {
    (system, language): (float(uas), float(las))
    for system, row in _ROWS.items()
    for language, cell in zip(LANGUAGES, row.split(), strict=True)
    for uas, las in [cell.split("/")]
}
