"""Follows the breakers of a gateway: every change of state, with the moment at which it was seen."""

import threading
import time
from dataclasses import dataclass

from harness.gateway import Gateway


@dataclass
class Change:
    """`scope` is the breaker's name, with "server:" in front for an upstream."""

    at: float
    scope: str
    state: str
    reason: str


class Watch:
    """Polls /api/circuits for as long as the `with` block lasts."""

    def __init__(self, gateway: Gateway, every: float = 0.02):
        self.gateway = gateway
        self.every = every
        self.changes: list[Change] = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, name="watch")

    def __enter__(self) -> "Watch":
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stopping.set()
        self.thread.join(10)

    def _run(self) -> None:
        known: dict[str, str] = {}
        while not self.stopping.is_set():
            try:
                circuits = self.gateway.circuits()["circuits"]
            except OSError:
                continue
            now = time.monotonic()
            for circuit in circuits:
                scope = circuit["name"]
                if circuit["kind"] == "server" and not scope.startswith("server:"):
                    scope = f"server:{scope}"
                if known.get(scope, "closed") != circuit["state"]:
                    self.changes.append(Change(now, scope, circuit["state"], circuit["reason"]))
                known[scope] = circuit["state"]
            self.stopping.wait(self.every)

    def first(self, state: str, after: float, scope: str | None = None) -> Change | None:
        for change in list(self.changes):
            if change.at >= after and change.state == state and scope in (None, change.scope):
                return change
        return None

    def states(self, scope: str) -> list[str]:
        return [change.state for change in self.changes if change.scope == scope]
