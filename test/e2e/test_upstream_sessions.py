"""RC-016: the upstream forgets its sessions. The gateway starts a new one, once, and no caller notices."""

import time

import pytest

from harness.mcp_client import McpClient
from harness.together import together
from harness.waiting import until

CLIENTS = 10
DEADLINE = 3.0


def start(gateway, fake, server: dict, **settings):
    upstream = fake({"server": server, "calls": {"echo": {"do": "answer", "delay_up_to": 0.05}}})
    tools = {"up__*": {"deadline": f"{DEADLINE:.0f}s"}}
    through = gateway({"upstreams": {"up": {"url": upstream.url}}, "tools": tools, **settings})
    clients = [McpClient(through.port).initialize() for _ in range(CLIENTS)]
    for client in clients[:5]:
        assert not client.call("up__echo").marker
    return through, upstream, clients


def fifty_calls(through, clients) -> list:
    """50 calls under way at once: each of the ten clients has five connections."""
    doubles = []
    for client in clients:
        for _ in range(5):
            double = McpClient(through.port)
            double.session, double.version = client.session, client.version
            doubles.append(double)
    begin = time.monotonic()
    replies = together(
        [
            lambda double=double, number=number: double.call("up__echo", {"nonce": number})
            for number, double in enumerate(doubles)
        ]
    )
    for double in doubles:
        double.close()
    return [(reply, time.monotonic() - begin) for reply in replies]


@pytest.mark.parametrize(
    "server", [{"lost_status": 404}, {"lost_status": 404, "lost_id_echoed": True}, {"lost_status": 400}], ids=str
)
def test_one_new_session_and_every_call_succeeds(server, gateway, fake):
    through, upstream, clients = start(gateway, fake, server)
    assert len(upstream.arrived("initialize")) == 1
    upstream.control(forget_sessions=True)

    replies = fifty_calls(through, clients)

    for number, (reply, _) in enumerate(replies):
        assert not reply.is_error and not reply.marker
        assert f'"nonce": {number}' in reply.text
    initializes = upstream.arrived("initialize")
    assert len(initializes) == 2, "a single flight, whoever noticed first"
    assert all(entry["session"] is None for entry in initializes)
    assert len(upstream.arrived("notifications/initialized")) == 2
    assert len(upstream.arrived("tools/call")) <= 5 + 50 + 50, "a refused call is sent again once"
    for circuit in (through.circuit("up__echo"), through.circuit("up", "server")):
        assert not circuit or circuit["failures"] == 0
    # The clients' own sessions are what they were.
    for client in clients:
        assert not client.call("up__echo").is_error


@pytest.mark.parametrize(
    "server",
    [
        pytest.param({"reinitialize_status": 500}, id="the new session is refused"),
        pytest.param({"forget_at_once": True}, id="every new session is forgotten at once"),
        pytest.param({"forget_at_once": True, "lost_id_echoed": True}, id="the same, told under the call's id"),
    ],
)
def test_a_session_that_cannot_be_had_is_an_error_in_time_and_no_flood(server, gateway, fake, figure):
    # `observe`: no breaker stands between callers and upstream, so that what spares it is the pace of new sessions.
    through, upstream, clients = start(gateway, fake, {}, breaker={"mode": "observe"})
    upstream.control(forget_sessions=True, server=server, clear_journal=True)
    since = upstream.state()["now"]

    for reply, took in fifty_calls(through, clients):
        assert reply.is_error, "the upstream's session is not the caller's business"
        assert took <= DEADLINE * 1.2
    while (passed := upstream.state()["now"] - since) < 4:
        assert clients[0].call("up__echo").is_error

    attempts = len(upstream.arrived("initialize"))
    figure(f"lost session, {' '.join(server)}", initialize_attempts=attempts, per_second=f"{attempts / passed:.2f}")
    assert attempts <= 2 * passed + 1
    assert len(upstream.arrived("tools/call")) <= 2 * (50 + attempts), "the upstream is not flooded"

    upstream.control(server={"reinitialize_status": 200, "forget_at_once": False})
    until(lambda: not clients[0].call("up__echo").is_error, 35, "it heals by itself", every=0.25)
