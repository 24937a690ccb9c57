"""One thread parses for all requests; requests that wait together are parsed in one batch."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from treebridge.corpus.sentence import Sentence
from treebridge.parse.parsed import Parsed

ParseMany = Callable[[str, list[Sentence]], list[Parsed]]


class Busy(Exception):
    """Too many requests are waiting."""


@dataclass
class _Job:
    model: str
    sentences: Sequence[Sentence]
    future: Future[Any]
    call: Callable[[], Any] | None = None  # other work that needs the encoders

    @property
    def words(self) -> int:
        return sum(map(len, self.sentences))


class Batcher:
    """A bounded queue; one thread calls `parse` with the sentences of several requests."""

    def __init__(self, parse: ParseMany, limit: int = 128, words: int = 3000):
        self._parse = parse
        self._limit = limit
        self._words = words  # approximate batch size
        self._waiting: deque[_Job] = deque()
        self._change = threading.Condition()
        self._open = True
        self._thread = threading.Thread(target=self._work, name="parsing", daemon=True)
        self._thread.start()

    def submit(self, model: str, sentences: Sequence[Sentence]) -> Future[list[Parsed]]:
        """Queue sentences to parse; raise Busy if the queue is full."""
        return self._add(_Job(model, sentences, Future()))

    def submit_call(self, call: Callable[[], Any]) -> Future[Any]:
        """Queue other work for the same thread."""
        return self._add(_Job("", (), Future(), call))

    def _add(self, job: _Job) -> Future[Any]:
        with self._change:
            if len(self._waiting) >= self._limit:
                raise Busy
            self._waiting.append(job)
            self._change.notify()
        return job.future

    def __len__(self) -> int:
        return len(self._waiting)

    def close(self) -> None:
        """Finish the queue, then stop."""
        with self._change:
            self._open = False
            self._change.notify()
        self._thread.join(timeout=30)

    def _work(self) -> None:
        while batch := self._next():
            wanted = [job for job in batch if job.future.set_running_or_notify_cancel()]
            if wanted:
                self._run(wanted)

    def _next(self) -> list[_Job]:
        """The oldest job and those for the same model that fit into its batch."""
        with self._change:
            while not self._waiting:
                if not self._open:
                    return []
                self._change.wait()
            batch = [self._waiting.popleft()]
            if batch[0].call:
                return batch
            room = self._words - batch[0].words
            others: deque[_Job] = deque()
            while self._waiting:
                job = self._waiting.popleft()
                if not job.call and job.model == batch[0].model and job.words <= room:
                    room -= job.words
                    batch.append(job)
                else:
                    others.append(job)
            self._waiting = others
            return batch

    def _run(self, jobs: list[_Job]) -> None:
        try:
            if jobs[0].call:
                jobs[0].future.set_result(jobs[0].call())
                return
            parsed = self._parse(jobs[0].model, [s for job in jobs for s in job.sentences])
        except Exception as error:
            if len(jobs) == 1:
                jobs[0].future.set_exception(error)
                return
            for job in jobs:  # one bad request must not fail the others
                self._run([job])
            return
        start = 0
        for job in jobs:
            job.future.set_result(parsed[start : start + len(job.sentences)])
            start += len(job.sentences)
