"""The end of a gateway leaves nothing behind: what it has counted is told, and nobody waits for its probes."""

from harness.mcp_client import McpClient
from harness.waiting import until

TOOL = "up__echo"
LEASES = f"cb1:{{up}}:p:{TOOL}"
BREAKER = {
    "window": "10s",
    "cooldown": "1s",
    "growth": 1,
    "jitter": "0%",
    "p99": "0s",
    "probes_in_flight": 1,
    "probes_needed": 3,
    "probe_failures_allowed": 0,
    "probe_wait": "0ms",
    "ramp": "0s",
}


def test_an_unused_lease_is_given_back(fleet, fake, redis):
    upstream = fake()
    server = redis()
    gateways = fleet(2, server.url, upstream, BREAKER)
    ending, staying = gateways
    upstream.call("echo", "rpc_error", code=-32603)
    gateways.call_each(TOOL, 9)
    gateways.wait(TOOL, "open", 3)
    upstream.call("echo", "answer")

    # A call that may not wait is refused, and has a lease fetched for the one after it.
    with McpClient(ending.port) as client:

        def lease_lies_ready() -> bool:
            if server.ask("ZCARD", LEASES) == 0:
                client.call(TOOL)
            leases = server.ask("ZRANGE", LEASES, 0, -1)
            return bool(leases) and not leases[0].endswith(b"used")

        until(lease_lies_ready, 5, "a lease lies ready", every=0.02)
    ending.stop()
    assert server.ask("ZRANGE", LEASES, 0, -1) == []
    assert int(server.ask("HGET", f"cb1:{{up}}:s:{TOOL}", "gen")) == staying.circuit(TOOL)["generation"]


def test_the_last_calls_are_counted(fleet, fake, redis):
    """The calls of the last moment, which no flush has told yet."""
    server = redis()
    ending, staying = fleet(2, server.url, fake(), BREAKER)
    until(lambda: staying.circuit(TOOL)["calls"] == 2, 3, "a first call of each is counted")
    with McpClient(ending.port) as client:
        for _ in range(7):
            client.call(TOOL)
    ending.stop()
    until(lambda: staying.circuit(TOOL)["calls"] == 9, 3, "the other gateway shows all of them")


def test_an_end_without_redis_is_no_longer(fleet, fake, redis):
    server = redis()
    (ending,) = fleet(1, server.url, fake(), BREAKER)
    with McpClient(ending.port) as client:
        client.call(TOOL)
        server.pause()
        client.call(TOOL)
    try:
        assert ending.stop() < 2
    finally:
        server.resume()
