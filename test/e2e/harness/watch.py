"""Follows the breakers of a gateway: every change of state, with its moment."""

import http.client
import json
import threading
import time
from dataclasses import dataclass

from harness.gateway import Gateway


@dataclass
class Change:
    """`at` on time.monotonic(); `scope` is the breaker's name, with "server:" in front for an upstream."""

    at: float
    scope: str
    state: str
    reason: str


class Watch:
    """Polls /api/circuits for as long as the `with` block lasts."""

    def __init__(self, gateway: Gateway, every: float = 0.02):
        self.connection = http.client.HTTPConnection("127.0.0.1", gateway.admin_port, timeout=5)
        self.every = every
        self.changes: list[Change] = []
        self.known: dict[str, str] = {}
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, name="watch")

    def __enter__(self) -> "Watch":
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stopping.set()
        self.thread.join(10)
        self.connection.close()

    def _run(self) -> None:
        while not self.stopping.is_set():
            try:
                self.connection.request("GET", "/api/circuits")
                text = self.connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                self.connection.close()  # the next request opens it again
                continue
            self._take(json.loads(text)["circuits"], time.monotonic())
            self.stopping.wait(self.every)

    def _take(self, circuits: list[dict], now: float) -> None:
        for circuit in circuits:
            scope = circuit["name"]
            if circuit["kind"] == "server" and not scope.startswith("server:"):
                scope = f"server:{scope}"
            if self.known.get(scope, "closed") != circuit["state"]:
                # The gateway says for how long it has been so: a poll that comes late does not move the moment.
                moment = now - circuit["since_ms"] / 1000
                self.changes.append(Change(moment, scope, circuit["state"], circuit["reason"]))
            self.known[scope] = circuit["state"]

    def first(self, state: str, after: float, scope: str | None = None) -> Change | None:
        for change in list(self.changes):
            if change.at >= after and change.state == state and scope in (None, change.scope):
                return change
        return None

    def states(self, scope: str) -> list[str]:
        return [change.state for change in self.changes if change.scope == scope]
