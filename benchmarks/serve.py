"""How many requests `treebridge serve` answers: many clients against one, on this machine.

    python benchmarks/serve.py --model FOLDER [--clients 64] [--seconds 60]

Reports requests per second, the 99th percentile of the time an answer takes, errors by status
code (a full queue answers 503), and the server's memory before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx

SENTENCES = [
    "The old bank of the town did not approve the loan.",
    "She said that it would rain in the evening.",
    "Nobody knows why the river is so high this year.",
    "They have been waiting for an answer since Monday.",
]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", required=True)
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--text", nargs="*", default=SENTENCES)
    chosen = options.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-m", "treebridge", "serve", "--model", chosen.model, "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        address = server.stderr.readline().split()[0]
        asyncio.run(load(address, 1, 5, chosen.text))  # warm up
        before = memory(server.pid)
        one = asyncio.run(load(address, 1, chosen.seconds / 3, chosen.text))
        half = asyncio.run(load(address, chosen.clients, chosen.seconds / 2, chosen.text))
        middle = memory(server.pid)
        many = asyncio.run(load(address, chosen.clients, chosen.seconds, chosen.text))
        after = memory(server.pid)
    finally:
        server.terminate()
        server.wait(30)
    print("clients  requests/s  p50 ms  p99 ms  answers by status")
    for clients, (rate, times, codes) in ((1, one), (chosen.clients, half), (chosen.clients, many)):
        times.sort()
        p50, p99 = (1000 * times[int(len(times) * share)] for share in (0.5, 0.99))
        print(f"{clients:7}  {rate:10.1f}  {p50:6.0f}  {p99:6.0f}  {dict(codes)}")
    print(f"{chosen.clients} clients get {many[0] / one[0]:.1f} times as much done as one")
    print(f"memory: {before:.0f} MiB at first, {middle:.0f} under load, {after:.0f} at the end")


async def load(
    address: str, clients: int, seconds: float, texts: list[str]
) -> tuple[float, list[float], Counter[int]]:
    """Answers per second, how long each took, and their status codes."""
    times: list[float] = []
    codes: Counter[int] = Counter()
    end = time.perf_counter() + seconds

    async def ask(number: int) -> None:
        async with httpx.AsyncClient(timeout=60) as client:
            while (start := time.perf_counter()) < end:
                text = texts[number % len(texts)]
                answer = await client.post(f"{address}/parse", json={"text": text})
                number += 1
                codes[answer.status_code] += 1
                if answer.status_code == 200:
                    times.append(time.perf_counter() - start)

    began = time.perf_counter()
    await asyncio.gather(*(ask(number) for number in range(clients)))
    return len(times) / (time.perf_counter() - began), times, codes


def memory(process: int) -> float:
    """Resident, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


if __name__ == "__main__":
    main()
