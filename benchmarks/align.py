"""Word alignment: our engines against fast_align and eflomal, on the same words in the same run.

python benchmarks/align.py [--pairs 100000] [--languages pt es] [--only hmm …] [--scaling]
    [--fast-align PROGRAM] [--eflomal PYTHON]

PROGRAM is a build of clab/fast_align, PYTHON an interpreter that has eflomal; either is skipped
with a word where it is not given. TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("TREEBRIDGE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
LONG = 12  # words of a source sentence: Europarl's sentences are long, those of other sources short
ALIGNERS = ["fast_align", "fast-align", "fast-align × 2", "eflomal", "hmm", "hmm × 2"]
EFLOMAL = """
import sys, eflomal
pairs = [line.rstrip("\\n").split("\\t") for line in open(sys.argv[1], encoding="utf-8")]
sides = [[pair[side] + "\\n" for pair in pairs] for side in (0, 1)]
eflomal.Aligner().align(*sides, links_filename_fwd=sys.argv[2], links_filename_rev=sys.argv[3])
"""


def gold_file(language: str) -> Path:
    return SHARED / "data/gold-alignments" / f"xlwa.en-{language}.dev.tsv"


def write_words(path: Path, language: str, number: int) -> None:
    """The first long pairs of the bitext, then the gold pairs: words lower-cased."""
    from treebridge import Bitext
    from treebridge.align.score import read_gold

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


def ours(path: Path, name: str, threads: int, output: Path) -> dict[str, Any]:
    """Fit and align in this process; both directions are written as Pharaoh files."""
    import time

    from treebridge.align.encoded import encode_pairs
    from treebridge.align.engines import engine
    from treebridge.align.pharaoh import write_pharaoh
    from treebridge.align.symmetrize import symmetrize
    from treebridge.align.threads import Threads

    with Threads(threads) as pool, path.open(encoding="utf-8") as stream:
        small = encode_pairs([(["a", "b"], ["c", "d"])] * 3)
        engine(name).fit(small, pool).choices(small, pool)  # compile, or load what was compiled
        wall, cpu = time.perf_counter(), time.process_time()
        corpus = encode_pairs(tuple(side.split() for side in line.split("\t")) for line in stream)
        choices = engine(name).fit(corpus, pool).choices(corpus, pool)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        for method in ("forward", "reverse"):
            links = symmetrize(corpus, choices, method, pool)
            write_pharaoh(f"{output}.{method}", links, corpus)
    return {"wall": wall, "cpu": cpu, "memory": memory}


def in_child(path: Path, name: str, threads: int, output: Path) -> dict[str, Any]:
    """Measure in a fresh process, so that the memory is its own."""
    command = [sys.executable, __file__, "--child", name, str(threads), str(path), str(output)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def theirs(commands: list[tuple[list[str], Path | None]]) -> dict[str, Any]:
    """Run other people's programs one after the other, one core each."""
    wall = cpu = memory = 0.0
    for command, output in commands:
        timed = ["/usr/bin/time", "-f", "%e %U %S %M", *command]
        with (output or Path(os.devnull)).open("wb") as stream:
            done = subprocess.run(
                timed,
                stdout=stream,
                stderr=subprocess.PIPE,
                check=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        elapsed, user, system, size = map(float, done.stderr.decode().split("\n")[-2].split())
        wall, cpu, memory = wall + elapsed, cpu + user + system, max(memory, size / 1024)
    return {"wall": wall, "cpu": cpu, "memory": memory}


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

    from treebridge.align.aligner import Choices
    from treebridge.align.encoded import encode_pairs
    from treebridge.align.score import read_gold, score
    from treebridge.align.symmetrize import symmetrize
    from treebridge.align.threads import Threads

    with path.open(encoding="utf-8") as stream:
        corpus = encode_pairs(tuple(s.split() for s in line.split("\t")) for line in stream)
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


def scaling(args: argparse.Namespace, folder: Path) -> None:
    """Ten times the pairs: ten times the time, less than ten times the memory."""
    from treebridge import Bitext

    print("\nscaling on all pairs of en-pt, one core")
    print("| engine | pairs | words | CPU s | µs a word pair | MB |\n|---|---|---|---|---|---|")
    for number in (40_000, 100_000, 400_000):
        path = folder / "scaling.tsv"
        words = cells = 0
        bitext = Bitext.read(
            SHARED / "data/bitext/en-pt.tsv.xz", target_language="pt", limit=number
        )
        with path.open("w", encoding="utf-8") as stream:
            for pair in bitext:
                words += len(pair.source) + len(pair.target)
                cells += len(pair.source) * len(pair.target)
                stream.write("\t".join(" ".join(side) for side in pair) + "\n")
        for name in ("fast-align", "hmm"):
            spent = in_child(path, name, 1, folder / "scaling")
            print(
                f"| {name} | {number:,} | {words:,} | {spent['cpu']:.1f} "
                f"| {1e6 * spent['cpu'] / cells:.3f} | {spent['memory']:.0f} |",
                flush=True,
            )


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        name, threads, path, output = sys.argv[2:]
        print(json.dumps(ours(Path(path), name, int(threads), Path(output))))
        return
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--languages", nargs="*", default=["pt", "es"])
    parser.add_argument("--only", nargs="*", default=ALIGNERS, help=", ".join(ALIGNERS))
    parser.add_argument("--fast-align")
    parser.add_argument("--eflomal")
    parser.add_argument("--scaling", action="store_true", help="only this")
    args = parser.parse_args()
    if not (SHARED / "data/bitext").is_dir():
        sys.exit("no real data: put it in ../shared or name it with TREEBRIDGE_SHARED")
    with tempfile.TemporaryDirectory() as name:
        (scaling if args.scaling else compare)(args, Path(name))


if __name__ == "__main__":
    main()
