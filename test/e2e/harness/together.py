"""Many things at once: threads whose results and failures come back."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def together(jobs: Iterable[Callable[[], T]]) -> list[T]:
    """Runs every job in a thread of its own; the results in the same order, or the first failure."""
    jobs = list(jobs)
    with ThreadPoolExecutor(max_workers=len(jobs)) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]
