"""A slow read gets a second try beside it: the tail of the answers gets short, and the load grows by the budget at most."""

import asyncio
import random
import time

import pytest

from harness.carriers import HttpCarrier, upstream_of
from harness.load import percentile
from harness.mcp_client import McpClient
from harness.tool_server import ToolServer, text_result, tool
from harness.waiting import until

SEED = 20261130
STALL = 1.0


class Stuttering(ToolServer):
    """Every so often an answer takes a second; which ones, the seed says."""

    def __init__(self, hints: dict, share: float):
        super().__init__([tool("read", annotations=hints)], read=self.read)
        self.random, self.share = random.Random(SEED), share
        self.seen: dict[int, int] = {}
        self.given_up = 0

    async def read(self, call) -> dict:
        number = call.arguments["n"]
        self.seen[number] = self.seen.get(number, 0) + 1
        if self.random.random() < self.share:
            try:
                await asyncio.sleep(STALL)
            except asyncio.CancelledError:
                self.given_up += 1
                raise
        return text_result(str(number))


def configuration(carrier, **rule) -> dict:
    off = {"mode": "disabled"}
    return {
        "upstreams": {"up": {**upstream_of(carrier), "breaker": off}},
        "tools": {"up__*": {"deadline": "5s", "breaker": off, **rule}},
    }


def lengths(gate, calls: int) -> list[float]:
    took = []
    with McpClient(gate.port) as client:
        for number in range(calls):
            begin = time.monotonic()
            assert client.call("up__read", {"n": number}).text == str(number)
            took.append(time.monotonic() - begin)
    return took


def test_the_tail_gets_short_and_the_load_stays_within_the_budget(gateway, serve, figure):
    calls, share = 400, 0.02
    carrier = serve(HttpCarrier(server := Stuttering({"readOnlyHint": True}, 0)))
    gate = gateway(configuration(carrier, hedge={"quantile": "95%", "least": "30ms"}))
    lengths(gate, 60)  # what is usual
    server.share = share
    server.seen.clear()

    hedged = lengths(gate, calls)
    arrived = sum(server.seen.values())

    plain = gateway(configuration(carrier))
    server.random.seed(SEED)
    unhedged = lengths(plain, calls)

    figure(
        f"hedging, seed {SEED}",
        p99_hedged=f"{percentile(hedged, 0.99) * 1e3:.0f} ms",
        p99_plain=f"{percentile(unhedged, 0.99) * 1e3:.0f} ms",
        load=f"{arrived / calls:.3f}x",
    )
    assert percentile(unhedged, 0.99) > STALL * 0.9, "without it the tail is as long as the stall"
    assert percentile(hedged, 0.99) < STALL / 2
    assert arrived <= calls * 1.1 + 10
    assert f'switchgear_hedges_total{{tool="up__read"}} {arrived - calls}' in gate.metrics()


@pytest.mark.parametrize("hints", [{}, {"idempotentHint": True}, {"destructiveHint": True}], ids=str)
def test_a_tool_that_may_write_is_never_called_twice(hints, gateway, serve):
    carrier = serve(HttpCarrier(server := Stuttering(hints, 0)))
    gate = gateway(configuration(carrier, hedge={"quantile": "50%", "least": "10ms"}))
    lengths(gate, 60)
    server.share = 0.2
    server.seen.clear()
    lengths(gate, 30)
    assert set(server.seen.values()) == {1}


def test_the_loser_is_cancelled(gateway, serve):
    carrier = serve(HttpCarrier(server := Stuttering({"readOnlyHint": True}, 0)))
    gate = gateway(configuration(carrier, hedge={"quantile": "95%", "least": "30ms"}))
    lengths(gate, 60)
    server.share = 0.5
    server.random.seed(SEED)
    lengths(gate, 10)
    hedges = sum(server.seen.values()) - 70
    assert hedges > 0
    until(lambda: server.given_up > 0 and not server.running, 3, "the slower try is given up at the server")
