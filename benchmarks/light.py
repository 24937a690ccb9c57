"""The light path against torch: cold start, throughput, memory, and whether the trees are the same.

    python benchmarks/light.py MODEL GOLD.conllu [--packed FOLDER] [--bits 7] [--sentences 2000]

MODEL is a folder that `build` or `refine` left, unpacked; without --packed it is packed first. GOLD
has sentences to parse and trees to score. Everything runs on one core, in processes of its own, one
way after the other; seconds are processor time, and only their ratios mean anything elsewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path
from typing import Any

SENTENCE = "El banco aprobó el préstamo ayer."
WORK = """
import json, re, sys, time
import treebridge as tb
parser = tb.Parser.load(sys.argv[1])
sentences = [tuple(words) for words in json.load(open(sys.argv[2], encoding="utf-8"))]
list(parser.parse(sentences[:20]))
start = time.process_time()
parsed = (p.sentence for p in parser.parse(sentences, retag=True))
trees = [(s.heads, s.upos, s.deprels) for s in parsed]
seconds = time.process_time() - start
memory = int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1000
json.dump({"seconds": seconds, "memory": memory, "trees": trees}, sys.stdout)
"""


def measured(command: list[str]) -> tuple[str, float]:
    """What a command printed, and its processor seconds."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command[:4])} … failed")
    return printed, usage.ru_utime + usage.ru_stime


def cold_start(model: str) -> float:
    """Processor seconds from the command to the first tree; the best of three."""
    command = [sys.executable, "-m", "treebridge", "parse", "--model", model, SENTENCE]
    return min(measured(command)[1] for _ in range(3))


def best_run(model: str, text: Path) -> dict[str, Any]:
    """Trees, processor seconds and peak memory (MB) of parsing a text; the fastest of three."""
    command = [sys.executable, "-c", WORK, model, str(text)]
    runs = [json.loads(measured(command)[0]) for _ in range(3)]
    return min(runs, key=lambda run: float(run["seconds"]))


def one_by_one(model: str, sentences: list[list[str]]) -> bool:
    """Whether sentences have the same trees alone as together."""
    import treebridge as tb

    parser = tb.Parser.load(model)
    together = [parsed.sentence for parsed in parser.parse([tuple(words) for words in sentences])]
    return all(parser([tuple(w)])[0] == t for w, t in zip(sentences, together, strict=True))


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("model")
    options.add_argument("gold", type=Path)
    options.add_argument("--packed", help="the same model, packed")
    options.add_argument("--bits", type=int, default=7)
    options.add_argument("--sentences", type=int, default=2000)
    chosen = options.parse_args()
    import treebridge as tb
    from treebridge.corpus.trees import tree_problem
    from treebridge.parse.score import score
    from treebridge.recipes.pack import pack

    with tempfile.TemporaryDirectory() as place:
        packed = chosen.packed or f"{place}/packed"
        if not chosen.packed:
            pack(chosen.model, packed, bits=chosen.bits)
        size = sum(path.stat().st_size for path in Path(packed).rglob("*") if path.is_file())
        gold = list(tb.Treebank.read(chosen.gold))
        # A file that is too short is read again from the beginning.
        forms = [list(s.forms) for s in islice(cycle(gold), max(chosen.sentences, len(gold)))]
        text = Path(place) / "sentences.json"
        text.write_text(json.dumps(forms), encoding="utf-8")
        words = sum(map(len, forms))
        ways = {"torch": chosen.model, "light": packed}
        starts = {way: cold_start(model) for way, model in ways.items()}
        results = {way: best_run(model, text) for way, model in ways.items()}
    scores, trees = {}, {}
    for way, result in results.items():
        found = [
            sentence.annotate(heads=heads, upos=upos, deprels=labels)
            for sentence, (heads, upos, labels) in zip(gold, result["trees"], strict=False)
        ]
        trees[way] = [tuple(t) for part in result["trees"] for t in zip(*part, strict=True)]
        scores[way] = score(gold, found).values
    print(f"{len(forms):,} sentences, {words:,} words; packed model {size / 1e6:.2f} MB\n")
    print(f"{'':34}{'torch':>10}{'light':>10}{'ratio':>8}")

    def row(name: str, torch: float, light: float, ratio: float, digits: int = 2) -> None:
        print(f"{name:34}{torch:10,.{digits}f}{light:10,.{digits}f}{ratio:8.2f}")

    row("cold start, processor seconds", *starts.values(), starts["torch"] / starts["light"])
    speeds = [words / results[way]["seconds"] for way in ways]
    row("words per second", *speeds, speeds[1] / speeds[0], digits=0)
    memory = [results[way]["memory"] for way in ways]
    row("peak memory, MB", *memory, memory[0] / memory[1], digits=0)
    for name in ("UAS", "LAS", "UPOS"):
        both = [scores[way][name] for way in ways]
        row(f"{name} (convention paper)", *both, both[1] / both[0])
    heads = [a[:2] == b[:2] for a, b in zip(trees["torch"], trees["light"], strict=True)]
    print(f"words with the same head and tag: {100 * sum(heads) / len(heads):.2f} %")
    bad = sum(tree_problem(heads) is not None for heads, _, _ in results["light"]["trees"])
    print(f"trees that are not trees with one root: {bad}")
    if chosen.packed:
        same = one_by_one(chosen.packed, [list(s.forms) for s in gold[:200]])
        print(f"200 sentences have the same trees alone as together: {same}")


if __name__ == "__main__":
    main()
