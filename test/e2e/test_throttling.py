"""RC-068: a tool that asks for fewer calls gets none until its time is over, from no replica; nobody takes that for a
failure; and whoever is refused is told when to come again."""

import math
import time
from email.utils import formatdate

import pytest

from harness.fleet import QUICK, Fleet, FleetLoad, assert_all_answered, metric
from harness.mcp_client import MARKER, McpClient, Reply, initialize_params
from harness.modern_client import ModernClient
from harness.together import together
from harness.waiting import holds, until

pytestmark = [pytest.mark.seconds, pytest.mark.slow]

TOOL = "up__echo"
CALLERS = 100
SLACK = 0.4  # what a busy machine may add before the first call that is let through
PROPAGATION = 0.25  # after this the other replicas must know; it takes a millisecond or two
FIXED = [{"static": {"text": "a fixed text"}}]


def throttle(upstream, retry_after: str | None, status: int = 429, **options) -> None:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    upstream.call(
        "echo",
        "raw_body",
        status=status,
        headers={**headers, **options.pop("headers", {})},
        body="slow down",
        type="text/plain",
        **options,
    )


def arrivals(upstream) -> list[float]:
    """When each call came, on time.monotonic()."""
    return [entry["at"] for entry in upstream.arrived("tools/call")]


def start(gateway, upstream, **rule):
    return gateway({"upstreams": {"up": {"url": upstream.url}}, "tools": {TOOL: {"deadline": "5s", **rule}}})


def all_at_once(gateway, count: int = CALLERS) -> list[Reply]:
    with McpClient(gateway.port) as client:
        doubles = [client.double() for _ in range(count)]
        replies = together([lambda double=double: double.call(TOOL) for double in doubles])
        for double in doubles:
            double.close()
    return replies


def refused_well(reply: Reply) -> float:
    """A refusal that says when to come again, in the head and in the marker alike; the seconds of the marker."""
    assert reply.status == 200 and reply.media_type == "application/json"
    assert reply.is_error and len(reply.messages) == 1
    seconds = reply.marker["retry_after_ms"] / 1000
    assert int(reply.headers["retry-after"]) == max(1, math.ceil(seconds))
    return seconds


def is_healthy(gateway) -> None:
    """No breaker has counted anything, and nothing looks as if the server were dead."""
    for kind, name in (("tool", TOOL), ("server", "up")):
        circuit = gateway.circuit(name, kind)
        assert circuit["state"] == "closed" and circuit["failures"] == 0, circuit
    assert metric(gateway, "switchgear_upstream_ready", upstream="up") == 1
    assert metric(gateway, "switchgear_breaker_refused_total") == 0
    for reason in ("open", "unreachable", "upstream_error", "timeout"):
        assert metric(gateway, "switchgear_calls_total", reason=reason) == 0


# ---- every form of Retry-After, and a hundred callers


@pytest.mark.parametrize(
    ("said", "status", "length"),
    [("1", 429, 1), ("2", 429, 2), ("0", 429, 1), ("-5", 429, 1), ("abc", 429, 1), (None, 429, 1), ("2", 503, 2)],
)
def test_no_call_comes_before_the_time_is_over(gateway, fake, figure, said, status, length):
    upstream = fake()
    gate = start(gateway, upstream)
    throttle(upstream, said, status, delay=0.1)
    for reply in all_at_once(gate):
        assert refused_well(reply) <= length
        assert reply.marker["reason"] == "throttled" and reply.marker["state"] == "closed"
    burst = arrivals(upstream)
    upstream.call("echo", "answer")
    with McpClient(gate.port) as client:
        until(lambda: not client.call(TOOL).is_error, length + 2, "the tool is called again", every=0.005)
    came = arrivals(upstream)[len(burst)] - max(burst) - 0.1
    assert length <= came <= length + SLACK
    assert metric(gate, "switchgear_throttled_total", tool=TOOL) == len(burst)
    assert metric(gate, "switchgear_pause_seconds", tool=TOOL) == 0
    is_healthy(gate)
    figure(f"{status}, Retry-After {said}", next_call_after=f"{came:.3f} s", calls_of_the_burst=len(burst))


@pytest.mark.parametrize("off", [0, -86_400 * 365, 86_400 * 365])
def test_a_date_is_honoured_whatever_the_servers_clock_says(gateway, fake, off):
    upstream = fake()
    gate = start(gateway, upstream)
    began = time.time()
    ends = math.floor(began) + 3
    # Where the clocks differ the server's own date says so.
    date = {"Date": formatdate(began + off, usegmt=True)} if off else {}
    throttle(upstream, formatdate(ends + off, usegmt=True), headers=date)
    with McpClient(gate.port) as client:
        assert 0 < refused_well(client.call(TOOL)) <= 3
        upstream.call("echo", "answer")
        until(lambda: not client.call(TOOL).is_error, 5, "the tool is called again", every=0.005)
    assert len(arrivals(upstream)) == 2
    assert arrivals(upstream)[1] - arrivals(upstream)[0] >= ends - began - 0.1
    is_healthy(gate)


def test_a_date_that_has_passed_and_a_time_without_end_are_bounded(gateway, fake):
    upstream = fake()
    for said, length in ((formatdate(time.time() - 3600, usegmt=True), 1), ("999999", 300), ("9" * 50, 300)):
        gate = start(gateway, upstream)
        throttle(upstream, said)
        with McpClient(gate.port) as client:
            client.call(TOOL)
            assert length - 1 < refused_well(client.call(TOOL)) <= length
            assert length - 1 < metric(gate, "switchgear_pause_seconds", tool=TOOL) <= length


def test_a_503_without_a_time_is_a_failure_like_any_other(gateway, fake):
    upstream = fake()
    gate = start(gateway, upstream)
    for said in (None, "abc", "-5"):
        throttle(upstream, said, 503)
        with McpClient(gate.port) as client:
            assert client.call(TOOL).marker["reason"] == "upstream_error"
    assert len(arrivals(upstream)) == 3
    assert metric(gate, "switchgear_throttled_total") == 0


def test_the_other_tools_of_the_server_are_called(gateway, fake):
    upstream = fake({"server": {"tools": ["echo", "other"]}})
    gate = start(gateway, upstream)
    throttle(upstream, "30")
    with McpClient(gate.port) as client:
        client.call(TOOL)
        refused_well(client.call(TOOL))
        assert not client.call("up__other").is_error


# ---- what callers get meanwhile


def test_the_fallback_takes_over_at_once(gateway, fake):
    upstream = fake()
    gate = start(gateway, upstream, fallback=FIXED, retry={"attempts": 3})
    throttle(upstream, "30")
    all_at_once(gate, 1)
    began = time.monotonic()
    for reply in all_at_once(gate):
        assert reply.text.startswith("a fixed text") and not reply.is_error
        assert reply.marker["steps"] == ["primary:throttled", "static:hit"]
        assert "retry-after" not in reply.headers
    assert time.monotonic() - began < 2, "nobody waits for what cannot be in time"
    assert len(arrivals(upstream)) == 1
    is_healthy(gate)


def test_a_second_tool_that_throttles_too_is_left_alone_as_well(gateway, fake):
    """What the first tool's callers bring is no more than the second one wants."""
    upstream, second = fake(), fake()
    steps = [{"tool": {"name": "second__echo"}}, *FIXED]
    gate = gateway(
        {
            "upstreams": {"up": {"url": upstream.url}, "second": {"url": second.url}},
            "tools": {TOOL: {"deadline": "5s", "fallback": steps}},
        }
    )
    throttle(upstream, "30")
    throttle(second, "30")
    all_at_once(gate, 1)
    assert len(arrivals(second)) == 1
    for reply in all_at_once(gate):
        assert reply.marker["steps"] == ["primary:throttled", "tool:throttled", "static:hit"]
    assert len(arrivals(upstream)) == len(arrivals(second)) == 1


def test_a_short_pause_is_waited_out_by_who_may_try_again(gateway, fake):
    """And those who waited together do not come back together."""
    upstream = fake()
    gate = start(gateway, upstream, fallback=FIXED, retry={"attempts": 2, "backoff": "500ms"})
    throttle(upstream, "1", times=1)
    with McpClient(gate.port) as client:
        first, waiting = together([lambda: client.call(TOOL), lambda: time.sleep(0.2) or all_at_once(gate, 30)])
    assert all(reply.marker == {} for reply in [first, *waiting]), "the tool itself has answered"
    came = arrivals(upstream)
    back = [each - came[0] for each in came[1:]]
    assert len(back) == 31
    assert min(back) >= 1 and max(back) <= 1.5 + SLACK
    assert max(back) - min(back) >= 0.2
    is_healthy(gate)


# ---- refusals of an open breaker


@pytest.mark.parametrize("make_client", [McpClient, ModernClient], ids=["legacy", "modern"])
def test_an_open_breaker_says_when_to_come_again(gateway, fake, make_client):
    upstream = fake({"calls": {"echo": {"do": "rpc_error", "code": -32603}}})
    gate = gateway({"upstreams": {"up": {"url": upstream.url}}, "breaker": {**QUICK, "cooldown": "7s"}})
    with make_client(gate.port) as client:
        until(lambda: client.call(TOOL).messages[0].get("result"), 5, "the breaker has opened")
        reply = client.call(TOOL, id="mine")
    assert reply.message["id"] == "mine"
    assert reply.marker["reason"] == "open"
    assert 5 < refused_well(reply) <= 7


def test_a_gateway_with_too_many_sessions_says_when_to_come_again(gateway, fake):
    gate = gateway({"upstreams": {"up": {"url": fake().url}}, "sessions": {"most": 1}})
    with McpClient(gate.port):
        late = McpClient(gate.port)
        reply = late.request("initialize", initialize_params(), id="mine")
        late.close()
    assert reply.status == 503 and reply.media_type == "application/json"
    assert reply.message["id"] == "mine" and reply.error["code"] == -31003
    assert reply.headers["retry-after"] == "5"
    assert reply.error["data"][MARKER]["retry_after_ms"] == 5000


# ---- several replicas


def throttled_fleet(fleet, redis_url: str, upstream, count: int, **rule) -> Fleet:
    return fleet(count, redis_url, upstream, {}, tools={TOOL: {"deadline": "5s", **rule}})


def configuration(redis_url: str, upstream) -> dict:
    return {"state": redis_url, "upstreams": {"up": {"url": upstream.url}}}


@pytest.mark.parametrize(("count", "callers"), [(2, 1), (3, 100)])
def test_no_replica_calls_before_the_time_is_over(fleet, fake, redis, figure, count, callers):
    upstream = fake()
    gateways = throttled_fleet(fleet, redis().url, upstream, count)
    upstream.control(clear_journal=True)
    throttle(upstream, "2", delay=0.05)
    if callers == 1:
        all_at_once(gateways[0], 1)
    else:
        together([lambda gate=gate: all_at_once(gate, callers // count) for gate in gateways])
    for gate in gateways:
        until(lambda gate=gate: metric(gate, "switchgear_pause_seconds", tool=TOOL) > 0, PROPAGATION, "it is known")
    burst = len(arrivals(upstream))
    ends = max(arrivals(upstream)) + 0.05 + 2
    if callers == 1:
        assert burst == 1
    upstream.call("echo", "answer")
    with FleetLoad(gateways, TOOL, 100) as load:
        until(lambda: time.monotonic() > ends + 1, 5, "some time after the pause")
    later = arrivals(upstream)[burst:]
    assert min(later) >= ends, "nobody came early"
    assert min(later) <= ends + SLACK
    assert_all_answered(load.between())
    # By whoever of them was called.
    assert sum(metric(gate, "switchgear_throttled_total", tool=TOOL) for gate in gateways) == burst
    for gate in gateways:
        is_healthy(gate)
    figure(f"{count} replicas, {callers} callers", burst=burst, first_call_after=f"{min(later) - ends + 2:.3f} s")


def test_a_replica_that_starts_during_the_pause_honours_it(fleet, gateway, fake, redis):
    upstream, server = fake(), redis()
    gateways = throttled_fleet(fleet, server.url, upstream, 1)
    upstream.control(clear_journal=True)
    throttle(upstream, "8")
    all_at_once(gateways[0], 1)
    ends = arrivals(upstream)[0] + 8
    upstream.call("echo", "answer")
    late = gateway(configuration(server.url, upstream))
    assert time.monotonic() < ends - 1, "too slow to tell"
    for reply in all_at_once(late, 20):
        assert 0 < refused_well(reply) <= 8
    assert len(arrivals(upstream)) == 1
    with McpClient(late.port) as client:
        until(lambda: not client.call(TOOL).is_error, 12, "the pause is over")
    assert arrivals(upstream)[1] >= ends
    assert server.ask("PTTL", "cb1:{fleet}:pauses") <= 300_000, "it goes by itself"


def test_redis_may_be_killed_in_the_middle(fleet, fake, redis):
    upstream, server = fake(), redis()
    gateways = throttled_fleet(fleet, server.url, upstream, 2)
    upstream.control(clear_journal=True)
    throttle(upstream, "4")
    all_at_once(gateways[0], 1)
    ends = arrivals(upstream)[0] + 4
    upstream.call("echo", "answer")
    until(lambda: metric(gateways[1], "switchgear_pause_seconds", tool=TOOL) > 0, PROPAGATION, "it is known")
    with FleetLoad(gateways, TOOL, 60) as load:
        server.kill()
        until(lambda: time.monotonic() > ends + 1, 7, "some time after the pause")
    assert_all_answered(load.between())
    assert max(sample.took for sample in load.between()) < 0.5
    assert min(arrivals(upstream)[1:]) >= ends
    # Each alone now.
    throttle(upstream, "30")
    for gate in gateways:
        all_at_once(gate, 1)
    burst = len(arrivals(upstream))
    for gate in gateways:
        assert refused_well(all_at_once(gate, 1)[0]) > 25
    assert len(arrivals(upstream)) == burst


def test_a_redis_that_comes_back_brings_what_was_said_without_it(fleet, fake, redis):
    upstream, server = fake(), redis()
    gateways = throttled_fleet(fleet, server.url, upstream, 2)
    server.kill()
    gateways.wait_local()
    throttle(upstream, "30")
    all_at_once(gateways[0], 1)
    holds(lambda: metric(gateways[1], "switchgear_pause_seconds", tool=TOOL) == 0, 0.5, "nobody has told the other")
    server.start()
    until(lambda: metric(gateways[1], "switchgear_pause_seconds", tool=TOOL) > 0, 5, "it is told then")
    assert metric(gateways[1], "switchgear_pause_seconds", tool=TOOL) < 30
