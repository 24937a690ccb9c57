"""Word alignment: our engines against fast_align and eflomal, on the same words in the same run.

python benchmarks/align.py [--pairs 100000] [--languages pt es] [--only hmm …]
    [--scaling | --threads] [--fast-align PROGRAM] [--eflomal PYTHON]

PROGRAM is a build of clab/fast_align, PYTHON an interpreter that has eflomal; either is skipped
with a word where it is not given. TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from pathlib import Path
from typing import Any

from common.aligners import EFLOMAL, in_child, theirs
from common.shared import SHARED

LONG = 12  # words of a source sentence: Europarl's sentences are long, those of other sources short
ENGINES = ["fast-align", "hmm"]
SIZES = 40_000, 100_000, 400_000
ALIGNERS = ["fast_align", "fast-align", "fast-align × 2", "eflomal", "hmm", "hmm × 2"]


def gold_file(language: str) -> Path:
    return SHARED / "data/gold-alignments" / f"xlwa.en-{language}.dev.tsv"


def write_words(path: Path, language: str, number: int) -> None:
    """The first long pairs of the bitext, then the gold pairs: words lower-cased."""
    from treebridge import Bitext
    from treebridge.alignment.score import read_gold

    bitext = Bitext.read(
        SHARED / "data/bitext" / f"en-{language}.tsv.xz",
        target_language=language,
        contractions=False,  # gold links are between words as they are written
    )
    long = (pair for pair in bitext if len(pair.source) >= LONG)
    pairs = [(pair.source, pair.target) for pair in itertools.islice(long, number)]
    if len(pairs) < number:
        sys.exit(f"en-{language} has only {len(pairs):,} pairs of {LONG} words and more")
    pairs += [(pair.source, pair.target) for pair in read_gold(gold_file(language))]
    with path.open("w", encoding="utf-8") as stream:
        for pair in pairs:
            stream.write("\t".join(" ".join(side).lower() for side in pair) + "\n")


def measure(name: str, path: Path, output: Path, args: argparse.Namespace) -> dict[str, Any] | None:
    if name == "fast_align":
        if not args.fast_align:
            print("fast_align: skipped, --fast-align names no build of it")
            return None
        bars = path.with_suffix(".bars")
        bars.write_text(path.read_text("utf-8").replace("\t", " ||| "), encoding="utf-8")
        call = [args.fast_align, "-i", str(bars), "-d", "-o", "-v"]
        return theirs(
            [(call, Path(f"{output}.forward")), ([*call, "-r"], Path(f"{output}.reverse"))]
        )
    if name == "eflomal":
        if not args.eflomal:
            print("eflomal: skipped, --eflomal names no Python that has it")
            return None
        files = [str(path), f"{output}.forward", f"{output}.reverse"]
        return theirs([([args.eflomal, "-c", EFLOMAL, *files], None)])
    engine, _, threads = name.partition(" × ")
    return in_child(path, engine, int(threads or 1), output)


def read_links(path: Path) -> list[set[tuple[int, int]]]:
    with path.open(encoding="utf-8") as stream:
        return [
            {(int(i), int(j)) for i, _, j in (link.partition("-") for link in line.split())}
            for line in stream
        ]


def figures(output: Path, path: Path, language: str, pairs: int) -> dict[str, Any]:
    """Errors on the gold pairs, and how many one-to-one links the bitext gets."""
    import numpy as np

    from treebridge.alignment.aligner import Choices
    from treebridge.alignment.indexed import index_pairs
    from treebridge.alignment.score import read_gold, score
    from treebridge.alignment.symmetrize import symmetrize
    from treebridge.alignment.threads import Threads

    with path.open(encoding="utf-8") as stream:
        corpus = index_pairs(tuple(s.split() for s in line.split("\t")) for line in stream)
    choices = Choices.none(corpus)
    for n, links in enumerate(read_links(Path(f"{output}.forward"))):
        for i, j in links:
            choices.forward[corpus.target.at[n] + j] = i
    for n, links in enumerate(read_links(Path(f"{output}.reverse"))):
        for i, j in links:
            choices.reverse[corpus.source.at[n] + i] = j
    gold = [pair.links for pair in read_gold(gold_file(language))]
    result: dict[str, Any] = {}
    with Threads() as threads:
        for method in ("forward", "intersection", "grow-diag-final-and"):
            links = symmetrize(corpus, choices, method, threads)
            last = [links[n].tolist() for n in range(pairs, len(links))]
            result[method] = 100 * score(last, gold).aer
            if method == "intersection":
                result["precision"] = 100 * score(last, gold).precision
                result["one-to-one"] = int(np.sum(links.first(pairs).total))
    return result


def compare(args: argparse.Namespace, folder: Path) -> None:
    for language in args.languages:
        path = folder / f"{language}.tsv"
        write_words(path, language, args.pairs)
        print(f"\nen-{language}: {args.pairs:,} pairs and the gold pairs, both directions")
        print(
            "| | AER forward | intersection | grow-diag-final-and | one-to-one links (precision) "
            "| CPU s | wall s | MB |\n|---|---|---|---|---|---|---|---|"
        )
        for name in args.only:
            output = folder / f"{language}.{name.replace(' ', '')}"
            spent = measure(name, path, output, args)
            if spent:
                f = figures(output, path, language, args.pairs)
                print(
                    f"| {name} | {f['forward']:.2f} | {f['intersection']:.2f} "
                    f"| {f['grow-diag-final-and']:.2f} "
                    f"| {f['one-to-one']:,} ({f['precision']:.1f}) | {spent['cpu']:.0f} "
                    f"| {spent['wall']:.0f} | {spent['memory']:.0f} |",
                    flush=True,
                )


def write_bitext(path: Path, number: int) -> tuple[int, int]:
    """The first pairs of en-pt, long or short; return their words and their word pairs."""
    from treebridge import Bitext

    words = cells = 0
    bitext = Bitext.read(SHARED / "data/bitext/en-pt.tsv.xz", target_language="pt", limit=number)
    with path.open("w", encoding="utf-8") as stream:
        for pair in bitext:
            words += len(pair.source) + len(pair.target)
            cells += len(pair.source) * len(pair.target)
            stream.write("\t".join(" ".join(side) for side in pair) + "\n")
    return words, cells


def scaling(args: argparse.Namespace, folder: Path) -> None:
    """Ten times the pairs: ten times the time, less than ten times the memory."""
    print("\nscaling on all pairs of en-pt, one core")
    print("| engine | pairs | words | CPU s | µs a word pair | MB |\n|---|---|---|---|---|---|")
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in ENGINES}
    for number in SIZES:
        path = folder / "scaling.tsv"
        words, cells = write_bitext(path, number)
        for name in ENGINES:
            spent = in_child(path, name, 1, folder / "scaling")
            rates[name].append((1e6 * spent["cpu"] / cells, spent["memory"]))
            print(
                f"| {name} | {number:,} | {words:,} | {spent['cpu']:.1f} "
                f"| {rates[name][-1][0]:.3f} | {spent['memory']:.0f} |",
                flush=True,
            )
    for name, measured in rates.items():
        times = [rate for rate, _ in measured]
        print(
            f"{name}: time for a word pair within {max(times) / min(times) - 1:.0%}; "
            f"{measured[-1][1] / measured[0][1]:.1f} times the memory for "
            f"{SIZES[-1] / SIZES[0]:.0f} times the pairs"
        )


def threads(args: argparse.Namespace, folder: Path) -> None:
    """What a second core gives by the clock; the machine must have nothing else to do."""
    path = folder / "threads.tsv"
    write_bitext(path, SIZES[0])
    print(f"\n{SIZES[0]:,} pairs of en-pt, seconds by the clock, the better of two runs")
    print("| engine | one thread | two threads | gain |\n|---|---|---|---|")
    for name in ENGINES:
        one, two = (
            min(in_child(path, name, number, folder / "threads")["wall"] for _ in range(2))
            for number in (1, 2)
        )
        print(f"| {name} | {one:.1f} | {two:.1f} | {one / two:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--languages", nargs="*", default=["pt", "es"])
    parser.add_argument("--only", nargs="*", default=ALIGNERS, help=", ".join(ALIGNERS))
    parser.add_argument("--fast-align")
    parser.add_argument("--eflomal")
    parser.add_argument("--scaling", action="store_true", help="only this")
    parser.add_argument("--threads", action="store_true", help="only this")
    args = parser.parse_args()
    if not (SHARED / "data/bitext").is_dir():
        sys.exit("no real data: put it in ../shared or name it with TREEBRIDGE_SHARED")
    with tempfile.TemporaryDirectory() as name:
        run = scaling if args.scaling else threads if args.threads else compare
        run(args, Path(name))


if __name__ == "__main__":
    main()
