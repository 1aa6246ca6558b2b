"""Waiting that ends: until something is true, or a failure at the limit."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T], limit: float, what: str, every: float = 0.02) -> T:
    """The first true value of `condition`; fails the test after `limit` seconds, naming `what`."""
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"{what}: not within {limit} s (last: {value!r})")
        time.sleep(every)


def holds(condition: Callable[[], bool], span: float, what: str, every: float = 0.05) -> None:
    """Fails as soon as `condition` is false within `span` seconds."""
    deadline = time.monotonic() + span
    while time.monotonic() < deadline:
        assert condition(), f"{what}: no longer true"
        time.sleep(every)
