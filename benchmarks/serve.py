"""How many requests `treebridge serve` answers: many clients against one, on this machine.

    python benchmarks/serve.py --model FOLDER [--clients 64] [--seconds 60]

Reports requests per second, the 99th percentile of the time an answer takes, errors by status
code (a full queue answers 503), and the server's memory before and after. On a machine that is busy
with other work, the server's processor time for an answer is what can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

SENTENCES = [
    "The old bank of the town did not approve the loan.",
    "She said that it would rain in the evening.",
    "Nobody knows why the river is so high this year.",
    "They have been waiting for an answer since Monday.",
]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", default="es")
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
        load(address, server.pid, 1, 5, chosen.text)  # warm up
        before = memory(server.pid)
        one = load(address, server.pid, 1, chosen.seconds / 3, chosen.text)
        half = load(address, server.pid, chosen.clients, chosen.seconds / 2, chosen.text)
        middle = memory(server.pid)
        many = load(address, server.pid, chosen.clients, chosen.seconds, chosen.text)
        after = memory(server.pid)
    finally:
        server.terminate()
        server.wait(30)
    print("clients  requests/s  p50 ms  p99 ms  processor ms an answer  answers by status")
    for clients, run in ((1, one), (chosen.clients, half), (chosen.clients, many)):
        p50, p99 = (1000 * run.times[int(len(run.times) * share)] for share in (0.5, 0.99))
        figures = f"{run.rate:10.1f}  {p50:6.0f}  {p99:6.0f}  {1000 * run.processor:22.1f}"
        print(f"{clients:7}  {figures}  {dict(run.codes)}")
    print(f"{chosen.clients} clients get {many.rate / one.rate:.1f} times as much done as one,")
    print(f"with {one.processor / many.processor:.1f} times as many answers a processor second")
    print(f"memory: {before:.0f} MiB at first, {middle:.0f} under load, {after:.0f} at the end")


class Run(NamedTuple):
    """What some clients got in a while."""

    rate: float  # answers a second
    processor: float  # seconds of the server's processor time for an answer
    times: list[float]  # how long each took, sorted
    codes: Counter[int]  # status codes


def load(address: str, server: int, clients: int, seconds: float, texts: list[str]) -> Run:
    """Have clients ask one thing after the other."""
    times: list[float] = []
    codes: Counter[int] = Counter()
    before, began = processor_time(server), time.perf_counter()
    asyncio.run(ask_all(address, clients, seconds, texts, times, codes))
    spent, passed = processor_time(server) - before, time.perf_counter() - began
    return Run(len(times) / passed, spent / max(1, len(times)), sorted(times), codes)


async def ask_all(
    address: str, clients: int, seconds: float, texts: list[str],
    times: list[float], codes: Counter[int],
) -> None:  # fmt: skip
    end = time.perf_counter() + seconds
    place = urlsplit(address)

    async def ask(number: int) -> None:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        while (start := time.perf_counter()) < end:
            code = await post(reader, writer, {"text": texts[number % len(texts)]})
            number += 1
            codes[code] += 1
            if code == 200:
                times.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(ask(number) for number in range(clients)))


async def post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, content: object) -> int:
    """The status code of an answer, which is read; a library would compute more than the server."""
    body = json.dumps(content).encode()
    head = "POST /parse HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
    writer.write(f"{head}{len(body)}\r\n\r\n".encode() + body)
    answer = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(answer.split(b"content-length:")[1].split()[0]))
    return int(answer.split()[1])


def memory(process: int) -> float:
    """Resident, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def processor_time(process: int) -> float:
    """Seconds that all threads of a process have computed."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
