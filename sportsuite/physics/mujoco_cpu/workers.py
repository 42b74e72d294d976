"""Threads that run the compiled loop, and what happens when MuJoCo meets an error on one of them.

MuJoCo reports an error by calling a handler that must not return: C programs leave it with longjmp or by ending the
process. Neither is possible here, so a thread that meets an error is parked for good inside the handler, the error is
raised on the calling thread with the world's number, and the thread is replaced. Errors inside a step are faults of a
model (an impossible option, memory that cannot be had), never a matter of an unstable state, so this stays rare.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import os
import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from sportsuite.physics.mujoco_cpu import layout

logger = logging.getLogger(__name__)

_LOG_ERROR = 3  # mjLOG_ERROR
_LOOK_AGAIN_S = 2.0
_here = threading.local()


class Failure(NamedTuple):
    """An error met by a thread.

    Attributes:
        worker: Number of the thread.
        message: What MuJoCo, or Python, said.
        parked: True if the thread is stuck inside MuJoCo for good.
    """

    worker: int
    message: str
    parked: bool


class _LogMessage(ctypes.Structure):
    """The head of ``mjLogMessage``; what follows is not read."""

    _fields_ = [("level", ctypes.c_int), ("topic", ctypes.c_int), ("subject", ctypes.c_char * 1024)]


_HANDLER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_LogMessage))


def _on_message(message: object) -> None:
    """MuJoCo's log handler on our threads: warnings are counted elsewhere, an error parks the thread."""
    if message.contents.level != _LOG_ERROR:
        return
    worker, done = _here.worker, _here.done
    done.put(Failure(worker, message.contents.subject.decode(errors="replace"), True))
    threading.Event().wait()


@functools.cache
def _handler() -> object:
    return _HANDLER(_on_message)


def _catch_errors() -> None:
    """Install the handler for the calling thread alone; other users of MuJoCo keep theirs."""
    try:
        install = layout.library()._mjPRIVATE_setTlsLogHandler
    except AttributeError:
        logger.warning("this MuJoCo has no per-thread log handler: an error inside a step ends the process")
        return
    install.argtypes, install.restype = [_HANDLER], ctypes.c_void_p
    install(_handler())


def usable_cores() -> int:
    """Return how many cores this process may run on (its affinity, where the system tells it)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _next(source: queue.SimpleQueue) -> Any:
    """Take an item, however long it takes.

    A process that was stopped and continued (Ctrl-Z, fg) has been seen with a thread asleep before a queue that wasn't
    empty; looking again now and then costs nothing and wakes it.
    """
    while True:
        try:
            return source.get(timeout=_LOOK_AGAIN_S)
        except queue.Empty:
            continue


def _serve(worker: int, inbox: queue.SimpleQueue, done: queue.SimpleQueue) -> None:
    _here.worker, _here.done = worker, done
    _catch_errors()
    while (job := _next(inbox)) is not None:
        try:
            job(worker)
        except Exception as error:  # noqa: BLE001 - handed to the caller, who raises it
            done.put(Failure(worker, f"{type(error).__name__}: {error}", False))
        else:
            done.put(None)


class WorkerPool:
    """Threads that wait for a job and run it together, one call each.

    Args:
        count: Number of threads, at least 1.
    """

    def __init__(self, count: int) -> None:
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._inboxes: list[queue.SimpleQueue] = []
        for worker in range(count):
            self._inboxes.append(queue.SimpleQueue())
            threading.Thread(
                target=_serve, args=(worker, self._inboxes[-1], self._done), name=f"mujoco-{worker}", daemon=True
            ).start()

    def run(self, job: Callable[[int], None]) -> list[Failure]:
        """Call ``job(thread number)`` on every thread and wait for all.

        Args:
            job: Function that releases the interpreter lock while it works.

        Returns:
            What went wrong, empty if nothing did. After a parked thread the pool must not be used again.
        """
        for inbox in self._inboxes:
            inbox.put(job)
        failures, interrupted = [], None
        for _ in self._inboxes:
            try:
                result = _next(self._done)
            except KeyboardInterrupt as error:  # the threads are in the middle of writing state: let them finish
                interrupted, result = error, _next(self._done)
            if result is not None:
                failures.append(result)
        if interrupted is not None:
            raise interrupted
        return failures

    def close(self) -> None:
        """Let the threads end once they are idle."""
        for inbox in self._inboxes:
            inbox.put(None)
