"""Several gateways on one board: what each knows of a breaker, when it came to know it, and the calls through all."""

import datetime
import re
import time
from contextlib import ExitStack
from dataclasses import dataclass

from harness.gateway import Gateway
from harness.load import Load, Sample
from harness.mcp_client import McpClient
from harness.together import together
from harness.waiting import until


# A breaker that opens by outages alone, and whose times are exact and short.
QUICK = {
    "window": "10s",
    "growth": 1,
    "jitter": "0%",
    "p99": "0s",
    "probe_share": "25%",
    "probe_failures_allowed": 0,
    "ramp": "0s",
}


@dataclass
class Change:
    """A transition as one gateway logged it; `at` on time.monotonic()."""

    at: float
    gateway: int
    state: str
    reason: str
    generation: int


def _monotonic(stamp: str) -> float:
    moment = datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()
    return moment - time.time() + time.monotonic()


def events(gateway: Gateway, name: str) -> list[dict]:
    """The log lines of an event: its fields, and `at`."""
    found = []
    for line in gateway.process.stderr.splitlines():
        if parsed := re.match(r"(\S+Z) \w+ (\w+)(?: (.*))?$", line):
            if parsed[2] == name:
                fields = dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', parsed[3] or ""))
                found.append({"at": _monotonic(parsed[1]), **{key: text.strip('"') for key, text in fields.items()}})
    return found


def metric(gateway: Gateway, name: str, **labels) -> float:
    """The sum over all series with these labels; 0 when there is none."""
    total = 0.0
    for line in gateway.metrics().splitlines():
        if line.startswith((f"{name}{{", f"{name} ")) and all(
            f'{key}="{text}"' in line for key, text in labels.items()
        ):
            total += float(line.rsplit(" ", 1)[1])
    return total


def shared(gateway: Gateway) -> bool:
    """Redis decides, and not this replica alone."""
    connected = metric(gateway, "switchgear_board_flushes_total", result="answered") > 0
    return connected and metric(gateway, "switchgear_board_mode", mode="shared") == 1


def alone_for(gateway: Gateway) -> float:
    """Seconds for which this replica went on alone, over all times from being lost to being found."""
    total, since = 0.0, None
    changes = [(event["at"], name) for name in ("board_local", "board_shared") for event in events(gateway, name)]
    for at, name in sorted(changes):
        if name == "board_local":
            since = at if since is None else since
        elif since is not None:
            total, since = total + at - since, None
    return total + (time.monotonic() - since if since is not None else 0.0)


class Fleet:
    def __init__(self, gateways: list[Gateway]):
        self.gateways = gateways

    def __iter__(self):
        return iter(self.gateways)

    def __getitem__(self, index: int) -> Gateway:
        return self.gateways[index]

    def __len__(self) -> int:
        return len(self.gateways)

    def changes(self, scope: str) -> list[Change]:
        """All transitions of a scope that any gateway logged, in order of time."""
        found = [
            Change(event["at"], index, event["to"], event["reason"], int(event["generation"]))
            for index, gateway in enumerate(self.gateways)
            for event in events(gateway, "transition")
            if event["scope"] == scope
        ]
        return sorted(found, key=lambda change: change.at)

    def states(self, tool: str) -> list[str]:
        return [gateway.state(tool) for gateway in self.gateways]

    def wait(self, tool: str, state: str, limit: float) -> None:
        until(lambda: set(self.states(tool)) == {state}, limit, f"{tool} is {state} on every gateway")

    def wait_shared(self, limit: float = 10.0) -> None:
        for gateway in self.gateways:
            until(lambda gateway=gateway: shared(gateway), limit, f"{gateway.name} shares its breakers")

    def wait_local(self, limit: float = 10.0) -> None:
        for gateway in self.gateways:
            until(lambda gateway=gateway: not shared(gateway), limit, f"{gateway.name} goes on alone")

    def call_each(self, tool: str, times: int = 1) -> None:
        """`times` calls through every gateway, one after the other on each."""

        def calls(gateway: Gateway) -> None:
            with McpClient(gateway.port) as client:
                for _ in range(times):
                    client.call(tool)

        together([lambda gateway=gateway: calls(gateway) for gateway in self.gateways])

    def trip(self, tool: str, upstream) -> int:
        """The tool fails from now on, and its breaker is open on every gateway. The generation, which is the same for
        all: they share it."""
        upstream.call(tool.split("__")[1], "rpc_error", code=-32603)
        self.call_each(tool, 9 // len(self) + 2)
        self.wait(tool, "open", 3)
        (generation,) = {gateway.circuit(tool)["generation"] for gateway in self}
        return generation

    def log_counts(self, event: str) -> list[int]:
        return [len(events(gateway, event)) for gateway in self.gateways]


class FleetLoad:
    """Steady traffic through every gateway: `rate` calls a second over all of them."""

    def __init__(self, fleet: Fleet, tool: str, rate: float):
        self.loads = [Load(gateway.port, tool, {"q": 1}, rate / len(fleet)) for gateway in fleet]
        self.stack = ExitStack()

    def __enter__(self) -> "FleetLoad":
        for load in self.loads:
            self.stack.enter_context(load)
        return self

    def __exit__(self, *_) -> None:
        for load in self.loads:
            load.stopping.set()
        self.stack.close()

    def between(self, start: float = 0.0, end: float = float("inf")) -> list[Sample]:
        return sorted((each for load in self.loads for each in load.between(start, end)), key=lambda each: each.sent)


def assert_all_answered(samples: list[Sample]) -> None:
    """Redis is nobody's problem: each call has one well-formed answer."""
    lost = [sample for sample in samples if sample.status != 200 or sample.message is None]
    assert not lost, f"{len(lost)} of {len(samples)} calls got no answer: {lost[:3]}"
