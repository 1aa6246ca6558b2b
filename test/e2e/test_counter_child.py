"""As test_counter.py, for tool servers that are child processes: they die at any byte of the line that they read or
write, write half of it, or say nothing. A child may be started ten times a minute, so there are several, and few deaths
of each."""

import itertools
import random
from collections import Counter

import pytest

from conftest import SANITIZED
from harness.drill import OBSERVE
from harness.faulty_child import FaultyChild
from harness.faulty_server import CountingServer, Fault, FaultyCarrier
from harness.load import Callers
from harness.scripted_http import Answer
from test_counter import LARGE, seed_of_this_run

pytestmark = pytest.mark.slow

CHILDREN = 4 if SANITIZED else 8
RUNS_EACH = 80
DEATHS_EACH = 2
LONGEST_REQUEST = 300  # bytes of a line
LONGEST_ANSWER = 150
AT_ONCE = 64
RULE = {
    "deadline": "400ms",
    "breaker": OBSERVE,
    "retry": {"attempts": 3, "backoff": "2ms", "longest_pause": "10ms"},
    "fallback": [{"tool": {"name": "second__write"}}],
}
LINES = [b"not JSON", b"{", b"[]", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"2.0","id":987654321,"result":{}}', b"\xff\xfe"]


def plan_of(seed: int):
    """Of each child's calls a few are its death, every second one goes well, and the others get no answer."""
    dice = random.Random(seed)
    faults: dict[str, Fault] = {}
    for child in range(CHILDREN):
        numbers = [number for number in range(RUNS_EACH) if number % 2]
        dying = dice.sample(numbers, DEATHS_EACH)
        for number in numbers:
            where = dice.choice(["request", "answer", "answer"])
            at = dice.randrange(1, LONGEST_REQUEST) if where == "request" else dice.randrange(LONGEST_ANSWER)
            fault = Fault(where, at, "close" if number in dying else "stall")
            if number not in dying and number % 10 == 1:
                fault = Fault("instead", answer=Answer(0, dice.choice(LINES)))
            faults[f"child{child}-{number}"] = fault
    return lambda run, arrival: faults.get(run) if arrival == 0 else None


def test_a_call_of_a_child_is_carried_out_once_at_most(gateway, serve, figure):
    seed = seed_of_this_run()
    tools = [CountingServer("write") for _ in range(CHILDREN + 1)]
    children = [serve(FaultyChild(each)) for each in tools[:CHILDREN]]
    second = serve(FaultyCarrier(tools[CHILDREN]))
    for child in children:
        child.plan = plan_of(seed)
    upstreams = {f"child{number}": {"command": child.command} for number, child in enumerate(children)}
    upstreams["second"] = {"url": second.url}
    common = {"retry_budget": "100%", "breaker": OBSERVE}
    through = gateway(
        {
            "upstreams": {alias: {**common, **given} for alias, given in upstreams.items()},
            "tools": {"*": RULE, "second__write": {"breaker": OBSERVE, "fallback": []}},
        }
    )
    calls = {}
    for number, child in itertools.product(range(RUNS_EACH), range(CHILDREN)):
        arguments = {"run": f"child{child}-{number}"}
        if number % 20 == 7:
            arguments["pad"] = "x" * LARGE
        calls[arguments["run"]] = (f"child{child}__write", arguments)

    samples = {}
    waiting = iter(calls.items())
    with Callers(through.port, AT_ONCE) as callers:
        while block := dict(itertools.islice(waiting, AT_ONCE)):
            for alias in upstreams:
                through.wait_upstream(alias, "ready")
            samples |= zip(block, callers.all(block.values()), strict=True)

    done = sum((each.carried_out for each in tools), Counter())
    arrived = sum((each.arrived for each in [*children, second]), Counter())
    starts = sum(child.started for child in children)
    figure(
        "a counter, children",
        calls=len(samples),
        carried_out=done.total(),
        most_of_one=max(done.values()),
        by_the_second=tools[CHILDREN].carried_out.total(),
        outcome_unknown=sum("outcome" in sample.marker for sample in samples.values()),
        starts=starts,
        seed=seed,
    )
    assert all(sample.message is not None for sample in samples.values())
    twice = {run: count for run, count in done.items() if count > 1}
    assert not twice, f"SWITCHGEAR_SEED={seed}: {twice}, as {[samples[run] for run in list(twice)[:3]]}"
    assert max(arrived.values()) == 1, f"SWITCHGEAR_SEED={seed}: a byte of a call went twice"
    for run, sample in samples.items():
        if sample.served_by in ("primary", "tool") and not sample.result.get("isError"):
            assert done[run] == 1, f"{run} was said to be done: {sample}"
        elif "outcome" not in sample.marker:
            assert done[run] == 0, f"SWITCHGEAR_SEED={seed}: {run} was done, and nobody says that it may be: {sample}"
    assert starts > CHILDREN, "children died, and others took their place"
    assert sum(sample.served_by == "primary" for sample in samples.values()) > 0.3 * len(samples)
