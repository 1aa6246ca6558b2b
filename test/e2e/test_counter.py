"""A tool that counts is carried out once a call at most, wherever the exchange breaks: 10,000 calls, cut at every byte
of request and answer, with retries, hedges, a second tool, and a breaker that trips and probes meanwhile.

SWITCHGEAR_SEED=N repeats a run's faults.
"""

import itertools
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from conftest import SANITIZED
from harness.faulty_server import CountingServer, Fault, FaultyCarrier, hinted
from harness.fleet import events, metric
from harness.load import Callers, Sample
from harness.modern_server import ModernServer, modern_carrier
from harness.scripted_http import Answer
from harness.waiting import until

pytestmark = pytest.mark.slow

RUNS = 1_000 if SANITIZED else 10_000
READING_RUNS = RUNS // 10
AT_ONCE = 40
LONGEST_REQUEST = 900  # bytes; a cut beyond the end comes when all is read
LONGEST_ANSWER = 300
STRETCH = RUNS // 10  # calls; in every second stretch the guarded tool is well
LARGE = 400_000  # bytes of an argument: its request is cut while it is still being written

OBSERVE = {"mode": "observe"}
EAGER = {"mode": "enforce", "error_rate": "15%", "minimum_calls": 5, "certainty": "none", "outage_threshold": 0,
         "window": "10s", "p99": "0s", "cooldown": "1s", "growth": 1, "jitter": "0%", "ramp": "0s", "probe_share": "25%",
         "probes_in_flight": 3, "probes_needed": 3, "probe_failures_allowed": 2}  # fmt: skip
RULE = {
    "deadline": "500ms",
    "retry": {"attempts": 3, "backoff": "2ms", "longest_pause": "10ms"},
    "hedge": {"quantile": "50%", "least": "8ms"},
    "fallback": [{"tool": {"name": "second__write"}}],
}

HTML = b"<html><body>502 Bad Gateway</body></html>"
WRONG_ID = b'{"jsonrpc":"2.0","id":987654321,"result":{"content":[]}}'
CARRIED_OUT = [
    Answer(500, b"boom", "text/plain"),
    Answer(502, HTML, "text/html"),
    Answer(503, b"busy", "text/plain"),
    Answer(504),
    Answer(408),
    Answer(200, HTML, "text/html"),
    Answer(200, b"", "application/json"),
    Answer(200, b'{"jsonrpc":"2.0","id":', "application/json"),
    Answer(200, b"\xff\x00\xfe", "application/json"),
    Answer(200, WRONG_ID, "application/json"),
    Answer(200, b"data: {\n\n", "text/event-stream"),
    Answer(202),
    Answer(302, b"", None, {"Location": "/mcp"}),
]
DECLINED = [Answer(429, b"", None, {"Retry-After": "0"}), Answer(429)]


def faults() -> Iterator[Fault]:
    """Each once, but for those that cost a deadline: of them a few."""
    for how in ("reset", "close"):
        yield from (Fault("request", at, how) for at in range(1, LONGEST_REQUEST))
        for streamed_too in (False, True):
            yield from (Fault("answer", at, how, streamed=streamed_too) for at in range(LONGEST_ANSWER))
        yield from (Fault("after", how=how, streamed=number % 2 == 0) for number in range(200))
    yield from (Fault("request", at, "stall") for at in range(1, LONGEST_REQUEST, 30))
    yield from (Fault("answer", at, "stall", streamed=at % 20 == 0) for at in range(0, LONGEST_ANSWER, 10))
    yield from (Fault("instead", answer=answer) for answer in CARRIED_OUT * 20)


class Dice:
    """What becomes of every arrival of a call, from a seed: the same whatever the order in which they come."""

    def __init__(self, seed: int, runs: int):
        self.seed = seed
        shuffled = random.Random(seed)
        self.first: list[Fault] = []
        while len(self.first) < runs:
            self.first += shuffled.sample(all_faults := list(faults()), len(all_faults))
        self.all = all_faults

    def plan(self, run: str, arrival: int) -> Fault | None:
        """A later arrival goes well more often than not: that one would be the second deed."""
        name, number = run.split("-")
        chance = random.Random(f"{self.seed} {run} {arrival}").random()
        if name == "shy":
            return Fault("instead", answer=DECLINED[int(number) % 2], carried_out=False) if arrival == 0 else None
        if name == "guarded" and int(number) // STRETCH % 2:
            return None
        if arrival == 0:
            return self.first[int(number)]
        return self.all[int(chance * 3 * len(self.all))] if chance < 1 / 3 else None

    def plan_of_second(self, run: str, arrival: int) -> Fault | None:
        """A server that declines is left alone for a while; all the others need this one."""
        return None if run.startswith("shy") else self.plan(run, arrival)


class Weather:
    """What no call brings on: the server restarts, ends idle connections, and resets new ones unread."""

    def __init__(self, seed: int, servers: list[FaultyCarrier]):
        self.random = random.Random(seed)
        self.servers = servers
        self.stopping = threading.Event()
        self.seen: Counter[str] = Counter()
        self.thread = threading.Thread(target=self._run, name="weather")

    def __enter__(self) -> "Weather":
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stopping.set()
        self.thread.join(20)

    def _run(self) -> None:
        while not self.stopping.wait(self.random.uniform(0.02, 0.3)):
            server = self.random.choice(self.servers)
            what = self.random.choice(["restart", "cut", "cut", "unread", "unread"])
            self.seen[what] += 1
            if what == "restart":
                server.restart(away=self.random.uniform(0.0, 0.05))
            elif what == "cut":
                server.cut_all(how=self.random.choice(["close", "reset"]))
            else:
                server.unread += self.random.randint(1, 3)


class ModernCountingServer(CountingServer, ModernServer):
    pass


class Counted:
    """The same tools behind servers of both eras, a second server that can do the same, and one ledger of all deeds."""

    def __init__(self, gateway, serve, dice: Dice, operator: dict | None = None):
        tools = ["write", "guarded", "shy", hinted("read", "readOnlyHint")]
        self.tools = [CountingServer(*tools), ModernCountingServer(*tools), CountingServer("write")]
        self.servers = [
            serve(FaultyCarrier(self.tools[0])),
            serve(modern_carrier(self.tools[1], FaultyCarrier)),
            serve(FaultyCarrier(self.tools[2])),
        ]
        upstreams = {}
        for alias, server in zip(("legacy", "modern", "second"), self.servers, strict=True):
            server.plan = dice.plan
            upstreams[alias] = {"url": server.url, "retry_budget": "100%", "breaker": OBSERVE}
        self.servers[2].plan = dice.plan_of_second
        rules = {f"{era}__*": {**RULE, **(operator or {})} for era in ("legacy", "modern")}
        guarded = {f"{era}__guarded": {"breaker": EAGER} for era in ("legacy", "modern")}
        second = {"second__*": {"deadline": RULE["deadline"]}}
        self.gateway = gateway({"upstreams": upstreams, "breaker": OBSERVE, "tools": {**rules, **guarded, **second}})

    def carried_out(self) -> Counter[str]:
        return sum((each.carried_out for each in self.tools), Counter())

    def arrived(self) -> Counter[str]:
        return sum((each.arrived for each in self.servers), Counter())

    def declined(self) -> Counter[str]:
        return sum((each.declined for each in self.servers), Counter())


def calls_to(names: list[str], count: int) -> dict[str, tuple[str, dict]]:
    """By run: calls to these tools of both eras in turn. Now and then one is long."""
    tools = itertools.cycle([(era, name) for name in names for era in ("legacy", "modern")])
    calls = {}
    for number, (era, name) in zip(range(count), tools, strict=False):
        arguments = {"run": f"{name}-{number}"}
        if number % 100 < 3:
            arguments["pad"] = "x" * LARGE
        calls[arguments["run"]] = (f"{era}__{name}", arguments)
    return calls


def seed_of_this_run() -> int:
    seed = int(os.environ.get("SWITCHGEAR_SEED") or random.SystemRandom().randrange(10**9))
    print(f"SWITCHGEAR_SEED={seed} repeats it")
    return seed


def play(counted: Counted, seed: int, calls: dict[str, tuple[str, dict]]) -> dict[str, Sample]:
    """Makes the calls in all weathers; each has its one answer."""
    with Weather(seed, counted.servers) as weather, Callers(counted.gateway.port, AT_ONCE) as callers:
        samples = dict(zip(calls, callers.all(calls.values()), strict=True))
    lost = {run: sample for run, sample in samples.items() if sample.message is None}
    assert not lost, f"{len(lost)} calls without an answer, as {next(iter(lost.items()))}"
    print("weather:", dict(weather.seen))
    return samples


def bring_back(counted: Counted) -> dict[str, Sample]:
    """Calls that go well, until no breaker is open: however fast the others were, each was probed."""
    samples = {}
    numbers = itertools.count(RUNS + STRETCH)
    with Callers(counted.gateway.port, 1) as callers:

        def all_closed() -> bool:
            for era in ("legacy", "modern"):
                run = f"guarded-{next(numbers)}"
                (samples[run],) = callers.all([(f"{era}__guarded", {"run": run})])
            return all(counted.gateway.state(f"{era}__guarded") == "closed" for era in ("legacy", "modern"))

        until(all_closed, 20, "the breakers close", every=0.1)
    return samples


def told(samples: dict[str, Sample]) -> Counter[str]:
    return Counter("unknown" if each.marker.get("outcome") else each.served_by for each in samples.values())


def test_a_call_is_carried_out_once_at_most_wherever_it_breaks(gateway, serve, figure):
    seed = seed_of_this_run()
    counted = Counted(gateway, serve, Dice(seed, RUNS))
    began = time.monotonic()
    samples = play(counted, seed, calls_to(["write", "write", "guarded"] * 16 + ["shy"], RUNS))
    took = time.monotonic() - began
    samples |= bring_back(counted)

    done, arrived, declined = counted.carried_out(), counted.arrived(), counted.declined()
    changes = Counter(each["to"] for each in events(counted.gateway, "transition") if "guarded" in each["scope"])
    figure(
        "a counter, cut everywhere",
        calls=len(samples),
        carried_out=done.total(),
        most_of_one=max(done.values()),
        told=", ".join(f"{how} {count}" for how, count in sorted(told(samples).items())),
        breakers=f"open {changes['open']}, probed {changes['half_open']}, closed again {changes['closed']}",
        took=f"{took:.0f} s",
        seed=seed,
    )
    twice = {run: count for run, count in done.items() if count > 1}
    assert not twice, f"SWITCHGEAR_SEED={seed}: {twice}, as {[samples[run] for run in list(twice)[:3]]}"
    assert done.total() <= len(samples)
    # Nor does a byte of it go anywhere again, unless the server has said that it did nothing.
    again = {run: count for run, count in arrived.items() if count > 1 + declined[run]}
    assert not again, f"SWITCHGEAR_SEED={seed}: {again}"
    for run, sample in samples.items():
        if sample.served_by in ("primary", "tool") and not sample.result.get("isError"):
            assert done[run] == 1, f"{run} was said to be done: {sample}"
        elif "outcome" not in sample.marker:
            assert done[run] == 0, f"SWITCHGEAR_SEED={seed}: {run} was done, and nobody says that it may be: {sample}"
    # It was no walk in the sun.
    sizes = set().union(*(server.request_sizes for server in counted.servers))
    assert max(size for size in sizes if size < LARGE) < LONGEST_REQUEST, "not cut at every byte"
    assert max(size for server in counted.servers for size in server.answer_sizes) < LONGEST_ANSWER
    assert len(arrived) > 0.8 * len(samples)
    assert changes["open"] >= 1 and changes["half_open"] >= 1 and changes["closed"] >= 1


def test_what_reads_is_tried_again_on_the_same_ground(gateway, serve, figure):
    seed = seed_of_this_run()
    counted = Counted(gateway, serve, Dice(seed, READING_RUNS))
    samples = play(counted, seed, calls_to(["read"], READING_RUNS))
    done = counted.carried_out()
    figure("a reader, cut everywhere", calls=len(samples), carried_out=done.total(), most_of_one=max(done.values()),
           told=", ".join(f"{how} {count}" for how, count in sorted(told(samples).items())))  # fmt: skip
    assert max(done.values()) > 1
    assert counted.arrived().total() > 1.5 * len(samples)
    if not SANITIZED:  # too few calls there to know what is usual
        hedges = sum(metric(counted.gateway, "switchgear_hedges_total", tool=f"{era}__read") for era in ("legacy", "modern"))
        assert hedges > 0
    assert sum(sample.served_by in ("primary", "tool") for sample in samples.values()) > 0.4 * len(samples)


def test_the_count_would_show_it(gateway, serve):
    """The operator says of the same tool that it only reads: now deeds are done twice, and it is seen."""
    seed = seed_of_this_run()
    counted = Counted(gateway, serve, Dice(seed, READING_RUNS), {"read_only": True})
    play(counted, seed, calls_to(["write"], READING_RUNS))
    done = counted.carried_out()
    assert sum(count > 1 for count in done.values()) > READING_RUNS / 20
