"""Every knob of docs/retries.md, seen from the server."""

import itertools
import time

import pytest

from harness.drill import DEADLINE, GARBAGE, QUICK, READING, Drill
from harness.faulty_server import Fault
from harness.mcp_client import McpClient
from harness.scripted_http import Answer
from harness.together import together


@pytest.fixture
def drill(gateway, serve):
    return lambda **options: Drill(gateway, serve, **options)


def gaps(through: Drill, run: str) -> list[float]:
    """The seconds between the arrivals of a call."""
    arrivals = through.tools.arrived("tools/call")
    moments = [each.at for each in arrivals if each.message["params"]["arguments"]["run"] == run]
    return [after - before for before, after in itertools.pairwise(moments)]


def calls_together(through: Drill, count: int, tool: str = "reading") -> list[str]:
    """The runs of calls made at once, each by a client of its own."""
    runs = [through.run() for _ in range(count)]

    def one(run: str) -> None:
        with through.client() as client:
            client.call(f"up__{tool}", {"run": run})

    together([lambda run=run: one(run) for run in runs])
    return runs


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_attempts_is_the_number_of_tries(attempts, drill):
    through = drill(retry={**QUICK, "attempts": attempts})
    through.fail(GARBAGE)
    with through.client() as client:
        reply = client.call("up__reading", {"run": "one"})
    assert through.server.arrived["one"] == attempts
    assert reply.marker["steps"][0] == ("primary:failed" if attempts == 1 else f"primary:failed x{attempts}")
    assert through.retries("reading") == attempts - 1


def test_without_the_key_nothing_is_tried_again(gateway, fake):
    upstream = fake({"calls": {"echo": {"do": "html"}}})
    through = gateway({"upstreams": {"up": {"url": upstream.url}}, "tools": {"up__echo": {"read_only": True}}})
    with McpClient(through.port) as client:
        assert client.call("up__echo").marker["steps"] == ["primary:failed"]
    assert len(upstream.arrived("tools/call")) == 1


def test_backoff_is_the_most_of_the_first_pause(drill):
    long, short = (
        drill(deadline=20, retry={"attempts": 2, "backoff": backoff, "longest_pause": "1s"})
        for backoff in ("600ms", "1ms")
    )
    pauses = {}
    for through in (long, short):
        through.fail(GARBAGE)
        pauses[through] = sorted(gap for run in calls_together(through, 12) for gap in gaps(through, run))
        assert len(pauses[through]) == 12
    assert pauses[short][6] < 0.1, "half of them come at once, whatever else this machine does"
    assert pauses[long][-1] > 0.1, "twelve pauses below a sixth of the limit: once in 10^9"
    assert pauses[long][6] < 0.6 + 0.2
    assert pauses[long][-1] - pauses[long][0] > 0.05, "they differ: it is jitter, not a fixed pause"


def test_longest_pause_ends_the_doubling(drill):
    bounded, free = (
        drill(deadline=30, retry={"attempts": 5, "backoff": "50ms", "longest_pause": longest})
        for longest in ("50ms", "10s")
    )
    last: dict[Drill, list[float]] = {bounded: [], free: []}
    for through in (bounded, free):
        for _ in range(7):
            through.save_up()
            through.fail(GARBAGE)
            last[through] += [gaps(through, run)[3] for run in calls_together(through, 2)]
    assert sorted(last[bounded])[7] < 0.05 + 0.1
    assert max(last[free]) > 0.15, "each is up to 400 ms: all of fourteen below 150 once in 10^6"


def test_a_pause_that_the_deadline_does_not_allow_is_not_begun(drill):
    through = drill(deadline=1, retry={"attempts": 5, "backoff": "1m", "longest_pause": "1m"})
    through.fail(GARBAGE)
    with through.client() as client:
        begin = time.monotonic()
        for _ in range(5):
            client.call("up__reading", {"run": through.run()})
        assert time.monotonic() - begin <= 5 * 1.2
        assert through.second_tools.carried_out.total() >= 3, "time is left for what comes after"


@pytest.mark.parametrize("tool", ["plain", "reading"])
def test_retry_after_is_waited_for(tool, drill):
    through = drill(deadline=10)
    answer = Answer(429, b"", None, {"Retry-After": "1"})
    through.fail(Fault("instead", answer=answer, carried_out=False), times=1)
    with through.client() as client:
        assert client.call(f"up__{tool}", {"run": "one"}).text == "done one"
    (pause,) = gaps(through, "one")
    assert 1.0 <= pause <= 2.0


def test_503_with_retry_after_is_waited_for_if_the_tool_reads(drill):
    through = drill(deadline=10)
    answer = Answer(503, b"", None, {"Retry-After": "1"})
    through.fail(Fault("instead", answer=answer), times=1)
    with through.client() as client:
        assert client.call("up__reading", {"run": "one"}).text == "done one"
        assert gaps(through, "one")[0] >= 1.0
        client.call("up__plain", {"run": "two"})
    assert through.server.arrived["two"] == 1, "it may have been done"


@pytest.mark.parametrize("value", ["0", "-5", "abc", ""])
def test_a_retry_after_that_says_nothing_is_a_short_pause_at_most(value, drill):
    through = drill(deadline=10)
    answer = Answer(429, b"", None, {"Retry-After": value})
    through.fail(Fault("instead", answer=answer, carried_out=False), times=1)
    with through.client() as client:
        assert client.call("up__reading", {"run": "one"}).text == "done one"
    assert sum(gaps(through, "one")) < 2.0


@pytest.mark.parametrize("value", ["60", "999999", "9" * 30])
def test_a_retry_after_beyond_the_deadline_is_not_waited_for(value, drill):
    through = drill()
    answer = Answer(429, b"", None, {"Retry-After": value})
    through.fail(Fault("instead", answer=answer, carried_out=False))
    with through.client() as client:
        begin = time.monotonic()
        reply = client.call("up__reading", {"run": "one"})
        assert time.monotonic() - begin < DEADLINE / 2
    assert reply.marker["served_by"] == "tool"
    if len(value) < 10:  # no number of seconds otherwise
        assert through.server.arrived["one"] == 1


@pytest.mark.parametrize("budget, most, fewest", [("0%", 0, 0), ("10%", 10, 10), ("20%", 13, 12), ("100%", 50, 48)])
def test_retry_budget_is_the_share_of_calls(budget, most, fewest, drill):
    """Ten are lent and paid back first: of sixty-five calls a tenth is less than that, a fifth is thirteen."""
    through = drill(budget=budget)
    through.fail(GARBAGE)
    calls = 50 if budget == "100%" else 65
    with through.client() as client:
        for _ in range(calls):
            client.call("up__reading", {"run": through.run()})
    retries = through.server.arrived.total() - calls
    assert fewest <= retries <= most
    assert through.retries("reading") == retries


def test_the_budget_is_the_servers_and_not_the_tools(drill):
    through = drill(budget="1%")
    through.fail(GARBAGE)
    with through.client() as client:
        for _ in range(10):
            for tool in READING:
                client.call(f"up__{tool}", {"run": through.run()})
    assert sum(through.retries(tool) for tool in READING) == 10


def test_a_breaker_that_opens_ends_the_retries(drill):
    through = drill(deadline=20, retry={"attempts": 5, "backoff": "500ms", "longest_pause": "1s"},
                    breaker={"minimum_calls": 5, "certainty": "none", "cooldown": "1m"})  # fmt: skip
    through.fail(Fault("instead", answer=Answer(502, b"", None)))
    with through.client() as client:
        for _ in range(4):
            client.call("up__plain", {"run": through.run()})  # they count for the server, which has both tools
        reply = client.call("up__reading", {"run": "fifth"})
    assert through.gateway.state("up", "server") == "open"
    assert 1 <= through.server.arrived["fifth"] < 5
    assert reply.marker["steps"][0].startswith("primary:failed"), "what the server said, and not our refusal"
    assert reply.marker["served_by"] == "tool"
