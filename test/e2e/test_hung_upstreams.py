"""RC-001, RC-002 (a): an upstream takes the call and goes silent. The caller gets one answer, in time, that says so."""

import os
import time

import pytest

from harness.load import percentile
from harness.mcp_client import McpClient
from harness.servers import stdio_command
from harness.together import together
from harness.waiting import until

DEADLINE = 1.0
CALLERS = 25
VARIANTS = ["stall", "head_then_stall", "half_body", "comments", "child"]
OBSERVE = {"mode": "observe"}  # the breaker counts but does not step in: every call is to reach the silent tool


def start(gateway, fake, variant: str, deadline: float):
    """A gateway with the silent tool `sick__stall` and the healthy `well__echo`."""
    silent = None
    if variant == "child":
        sick = {"command": stdio_command()}
    else:
        silent = fake({"server": {"tools": ["stall"]}, "calls": {"stall": {"do": variant}}})
        sick = {"url": silent.url}
    healthy = fake()
    configuration = {
        "upstreams": {"sick": {**sick, "breaker": OBSERVE}, "well": {"url": healthy.url}},
        "tools": {"sick__*": {"deadline": f"{int(deadline * 1000)}ms", "breaker": OBSERVE}},
    }
    return gateway(configuration), silent


def timed(client: McpClient, tool: str, number: int):
    begin = time.monotonic()
    reply = client.call(tool, {"nonce": number}, id=f"call-{number}")
    return reply, time.monotonic() - begin


def healthy_p99(port: int) -> float:
    with McpClient(port) as client:
        calls = [timed(client, "well__echo", number) for number in range(200)]
    assert all(reply.marker == {} and not reply.is_error for reply, _ in calls)
    return percentile([took for _, took in calls], 0.99)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_caller_is_told_of_the_timeout_in_time(variant, gateway, fake):
    through, silent = start(gateway, fake, variant, DEADLINE)
    callers = [McpClient(through.port).initialize() for _ in range(CALLERS)]

    answers = together([lambda client=client, number=number: timed(client, "sick__stall", number)
                        for number, client in enumerate(callers)])  # fmt: skip

    for number, (reply, took) in enumerate(answers):
        assert reply.status == 200
        assert reply.message["id"] == f"call-{number}"
        assert reply.is_error
        assert reply.marker["reason"] == "timeout"
        assert "sick" in reply.text
        assert DEADLINE <= took <= DEADLINE * 1.2, f"answered after {took:.3f} s"
    # One failure a call, and the request is let go of.
    until(lambda: through.circuit("sick__stall")["failures"] == CALLERS, 3, "one failure is counted for each call")
    if silent is not None:
        until(lambda: silent.state()["stalled"] == 0, 3, "the upstream's requests are released")
    for client in callers:
        client.close()


@pytest.mark.timing
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_healthy_upstream_does_not_feel_a_hung_one(variant, gateway, fake, figure):
    through, _ = start(gateway, fake, variant, DEADLINE)
    alone = healthy_p99(through.port)
    callers = [McpClient(through.port).initialize() for _ in range(50)]
    beside, *_ = together(
        [lambda: healthy_p99(through.port)] + [lambda client=client: client.call("sick__stall") for client in callers]
    )
    for client in callers:
        client.close()
    figure(f"neighbour of {variant}", p99_alone=f"{alone * 1e3:.2f} ms", p99_beside=f"{beside * 1e3:.2f} ms")
    # 50 threads of this very test share the cores with the gateway, hence the floor.
    assert beside <= max(2 * alone, 0.05)


@pytest.mark.parametrize("variant", VARIANTS)
def test_hung_calls_leave_nothing_behind(variant, gateway, fake):
    through, _ = start(gateway, fake, variant, 0.1)
    callers = [McpClient(through.port).initialize() for _ in range(20)]

    def many_calls(client: McpClient) -> None:
        for _ in range(50 // (2 if os.environ.get("SWITCHGEAR_SANITIZED") else 1)):
            assert client.call("sick__stall").marker["reason"] == "timeout"

    together([lambda client=client: client.call("sick__stall") for client in callers])
    descriptors, threads = through.process.descriptors(), through.process.threads()
    together([lambda client=client: many_calls(client) for client in callers])

    assert through.process.threads() == threads
    until(lambda: through.process.descriptors() <= descriptors, 5, "descriptors are back at the start value")
    for client in callers:
        client.close()
