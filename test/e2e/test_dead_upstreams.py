"""RC-046: dead and slow upstreams beside a healthy one. What is there is served at once, the others join later."""

import socket
import time

import pytest

from harness.load import Load, percentile
from harness.mcp_client import McpClient
from harness.process import free_port
from harness.waiting import until

BUDGET = 2.0


@pytest.fixture
def black_hole():
    """A port whose packets are dropped: its queue is full and nobody accepts."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
            fillers.append(filler)
        yield listener.getsockname()[1]
        for filler in fillers:
            filler.close()


def test_what_is_there_is_served_at_once(gateway, fake, black_hole, figure):
    healthy = fake()
    slow = fake({"server": {"initialize_delay": 20}})
    flaky = fake({"server": {"list_failures": 1}})
    begin = time.monotonic()
    through = gateway(
        {
            "upstreams": {
                "healthy": {"url": healthy.url},
                "refused": {"url": f"http://127.0.0.1:{free_port()}/mcp"},
                "dropped": {"url": f"http://127.0.0.1:{black_hole}/mcp", "connect_timeout": "2s"},
                "slow": {"url": slow.url},
                "flaky": {"url": flaky.url},
            }
        },
        wait=False,
    )

    def served() -> bool:
        try:
            with McpClient(through.port, timeout=BUDGET) as client:
                return "healthy__echo" in client.tools()
        except OSError:
            return False

    until(served, 5, "the healthy upstream's tool is listed")
    listed_after = time.monotonic() - begin
    with McpClient(through.port) as client:
        begin_call = time.monotonic()
        assert not client.call("healthy__echo").is_error
        assert time.monotonic() - begin_call < BUDGET
    through.wait_ready(30)

    reason = through.wait_upstream("refused", "degraded")["reason"]
    assert reason and "\n" not in reason
    assert through.wait_upstream("dropped", "degraded")["reason"]
    assert through.upstream("healthy")["state"] == "ready"
    until(lambda: through.upstream("flaky")["state"] == "ready", 20, "a failed listing heals by itself")
    with McpClient(through.port) as client:
        assert "flaky__echo" in client.tools()
    figure("five upstreams, four sick", listed_after=f"{listed_after:.2f} s", refused=f"'{reason}'")


def test_the_gateway_starts_with_none_and_takes_them_one_by_one(gateway, fake):
    ports = {alias: free_port() for alias in ("one", "two", "three")}
    through = gateway({"upstreams": {alias: {"url": f"http://127.0.0.1:{port}/mcp"} for alias, port in ports.items()}})
    with McpClient(through.port) as client:
        assert client.tools() == {}
        up: list[str] = []
        for alias, port in ports.items():
            fake(port=port)
            up.append(f"{alias}__echo")
            until(lambda: set(client.tools()) == set(up), 15, f"{alias} has joined", every=0.2)
            assert not client.call(f"{alias}__echo").is_error
    assert all(upstream["state"] == "ready" for upstream in through.circuits()["upstreams"])


def test_the_tools_of_an_upstream_that_went_down_stay_listed(gateway, fake):
    upstream = fake()
    through = gateway({"upstreams": {"up": {"url": upstream.url, "refresh": "1s"}}})
    with McpClient(through.port) as client:
        assert "up__echo" in client.tools()
        upstream.kill()
        reply = client.call("up__echo")
        assert reply.is_error and reply.marker["reason"] == "unreachable" and "up" in reply.text
        through.wait_upstream("up", "degraded")
        assert "up__echo" in client.tools(), "a sick tool stays in the list"


@pytest.mark.timing
def test_a_healthy_upstream_does_not_feel_dead_ones(gateway, fake, black_hole, figure):
    healthy = fake()
    alone = gateway({"upstreams": {"healthy": {"url": healthy.url}}})
    beside = gateway(
        {
            "upstreams": {
                "healthy": {"url": healthy.url},
                "refused": {"url": f"http://127.0.0.1:{free_port()}/mcp"},
                "dropped": {"url": f"http://127.0.0.1:{black_hole}/mcp", "connect_timeout": "1s"},
            }
        }
    )
    measured = {}
    for name, through in (("alone", alone), ("beside", beside)):
        with Load(through.port, "healthy__echo", {"q": 1}, rate=150) as load:
            time.sleep(4)  # the length of the measurement
        samples = load.between(load.samples[0].sent + 0.5)
        assert all(sample.served_by == "primary" for sample in samples)
        measured[name] = percentile([sample.took for sample in samples], 0.99)
    figure("dead upstreams, neighbour", **{f"p99_{name}": f"{value * 1e3:.2f} ms" for name, value in measured.items()})
    assert measured["beside"] <= max(2 * measured["alone"], 0.02)


@pytest.mark.parametrize("pages", [1, 2])
def test_all_pages_of_a_list_are_merged(pages, gateway, fake):
    tools = [f"tool{number}" for number in range(7)]
    upstream = fake({"server": {"tools": tools, "page_size": 7 if pages == 1 else 2}})
    through = gateway({"upstreams": {"up": {"url": upstream.url}}})
    with McpClient(through.port) as client:
        assert set(client.tools()) == {f"up__{tool}" for tool in tools}
        assert list(client.tools()) == list(client.tools()), "the order is the same each time"
