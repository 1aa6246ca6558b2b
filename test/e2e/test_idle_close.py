"""RC-047: the server closes a kept connection just as it is used again. No deed is done twice, and a close that can be
seen costs nothing."""

import random
import threading
import time
from collections import Counter

import pytest

from harness.certificates import Authority
from harness.drill import OBSERVE, Drill
from harness.faulty_server import CountingServer, Fault, FaultyCarrier, hinted, well
from harness.fleet import metric
from harness.load import Callers, Sample
from harness.mcp_client import McpClient
from harness.tool_server import Loop
from harness.waiting import holds, until

IDLE_LIMIT_OF_NODE = 5.0  # seconds, the shortest of common servers; the gateway's own is four
TOOLS = ["read", "write"]
THRICE = {"attempts": 3, "backoff": "5ms", "longest_pause": "20ms"}


class Pair:
    """A tool that reads and one that writes, on each of the servers, and clients that use all in step."""

    def __init__(self, gateway, serve, clients: int, retry: dict | None = THRICE, servers: int = 1):
        self.tools = CountingServer(hinted("read", "readOnlyHint"), "write")
        self.servers = [serve(FaultyCarrier(self.tools)) for _ in range(servers)]
        self.server = self.servers[0]
        upstreams = {
            f"up{number}": {"url": server.url, "retry_budget": "100%", "breaker": OBSERVE}
            for number, server in enumerate(self.servers)
        }
        rule = {"deadline": "10s", "breaker": OBSERVE, **({"retry": retry} if retry else {})}
        self.gateway = gateway({"upstreams": upstreams, "tools": {"*": rule}})
        self.callers = Callers(self.gateway.port, clients)
        self.clients = clients
        self.samples: dict[str, Sample] = {}

    def burst(self, count: int | None = None) -> dict[str, Sample]:
        """A call by every client, all at once."""
        calls = {}
        for number in range(count or self.clients):
            tool, server = TOOLS[number % 2], number // 2 % len(self.servers)
            run = f"{tool}-{len(self.samples) + number}"
            calls[run] = (f"up{server}__{tool}", {"run": run})
        made = dict(zip(calls, self.callers.all(calls.values()), strict=True))
        self.samples.update(made)
        return made

    def warm_up(self) -> None:
        """As many kept connections as clients."""
        for server in self.servers:
            server.plan = well
        self.tools.delay = 0.1
        assert_served(self.burst())
        self.tools.delay = 0

    def arrived(self) -> Counter[str]:
        return sum((server.arrived for server in self.servers), Counter())

    def connected(self) -> int:
        return sum(server.connected for server in self.servers)

    def failures(self) -> int:
        circuits = [self.gateway.circuit("up0", "server"), *(self.gateway.circuit(f"up0__{tool}") for tool in TOOLS)]
        return sum(circuit["failures"] for circuit in circuits if circuit)

    def assert_healthy(self) -> None:
        """Every call went through, once, and no breaker has seen anything."""
        assert_served(self.samples)
        assert self.arrived().total() == len(self.samples) == self.tools.carried_out.total()
        holds(lambda: self.failures() == 0, 0.3, "no failure is counted")

    def assert_nothing_twice(self) -> None:
        """And who has no answer is told that nobody knows."""
        arrived = self.arrived()
        for run, sample in self.samples.items():
            if run.startswith("write"):
                assert self.tools.carried_out[run] <= 1, f"{run}: {sample}"
                assert arrived[run] <= 1, f"{run}: {sample}"
                assert sample.text == f"done {run}" or sample.marker["outcome"] == "unknown", sample


def assert_served(samples: dict[str, Sample]) -> None:
    for run, sample in samples.items():
        assert sample.text == f"done {run}", f"{run}: {sample}"


@pytest.fixture
def pair(gateway, serve):
    made: list[Pair] = []

    def start(clients: int, **options) -> Pair:
        made.append(Pair(gateway, serve, clients, **options))
        return made[-1]

    yield start
    for each in made:
        each.callers.__exit__()


@pytest.mark.slow
def test_a_race_with_the_servers_idle_limit(pair, figure):
    """(a): 2,000 calls of each tool, each on a connection that the server closes at about the same moment. Ten servers,
    since the budget of one has ten retries for one moment."""
    raced = pair(clients=120, servers=10)
    raced.warm_up()
    for server in raced.servers:
        server.idle_limit = 0.5
    for _ in range(34):
        time.sleep(random.uniform(0.49, 0.51))
        raced.burst()
    raced.assert_nothing_twice()
    assert_served({run: sample for run, sample in raced.samples.items() if run.startswith("read")})
    figure(
        "server's idle limit, raced",
        calls=len(raced.samples),
        connections=raced.connected(),
        outcome_unknown=sum("outcome" in sample.marker for sample in raced.samples.values()),
        tried_again=int(metric(raced.gateway, "switchgear_retries_total")),
    )
    assert raced.connected() > 2 * raced.clients, "connections were closed, or nothing was raced"


@pytest.mark.slow
def test_the_gateway_lets_go_before_common_servers_do(pair):
    """(a), with the gateway's idle limit below the server's: no error, and no retry needed."""
    patient = pair(clients=80, retry=None)
    patient.server.idle_limit = IDLE_LIMIT_OF_NODE
    patient.warm_up()
    connected = patient.server.connected
    patient.warm_up()
    assert patient.server.connected <= connected + 2, "connections are kept, and used again"
    for idle in (4.0, IDLE_LIMIT_OF_NODE):
        for _ in range(2):
            time.sleep(random.uniform(idle - 0.1, idle + 0.1))
            patient.burst()
    patient.assert_healthy()


@pytest.mark.parametrize("streamed", [False, True], ids=["JSON", "stream"])
def test_a_close_that_comes_with_the_answer_costs_nothing(streamed, pair):
    """(b)"""
    one_each = pair(clients=8, retry=None)
    one_each.server.plan = lambda run, arrival: Fault("after", how="close", streamed=streamed)
    for _ in range(500):
        one_each.burst()
    assert one_each.connected() >= len(one_each.samples)
    one_each.assert_healthy()


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_close_that_can_be_seen_costs_no_call(how, pair):
    idle = pair(clients=50, retry=None)
    for _ in range(10):
        idle.warm_up()
        idle.server.cut_all(how=how)
        idle.burst()
    idle.assert_healthy()


@pytest.mark.parametrize("retry", [None, THRICE], ids=["never again", "retries"])
def test_a_reset_after_the_deed_is_told_and_nothing_is_replayed_in_silence(retry, pair):
    """(c)"""
    busy = pair(clients=10, retry=retry)
    busy.warm_up()
    busy.server.plan = lambda run, arrival: Fault("answer", 0, "reset") if arrival == 0 else None
    made = busy.burst()
    busy.assert_nothing_twice()
    for run, sample in made.items():
        assert busy.tools.carried_out[run] == busy.server.arrived[run]
        if run.startswith("write"):
            assert sample.marker["outcome"] == "unknown" and busy.server.arrived[run] == 1
        elif retry:
            assert sample.text == f"done {run}" and busy.server.arrived[run] == 2
        else:
            assert sample.steps == ["primary:failed"] and busy.server.arrived[run] == 1
    until(lambda: busy.failures() == len(made), 2, "each is a failure, however the call ended")


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_restart_costs_no_call_of_what_is_kept(how, pair):
    """(d)"""
    kept = pair(clients=50)
    for _ in range(10):
        kept.warm_up()
        kept.server.restart(how=how)
        kept.burst()
    kept.assert_healthy()


def test_a_restart_that_takes_a_while_is_waited_for(pair):
    """(d), with calls while nobody listens: nothing was sent, so both tools are tried again."""
    kept = pair(clients=50, retry={"attempts": 5, "backoff": "1s", "longest_pause": "2s"})
    for _ in range(2):
        kept.warm_up()
        kept.server.shut()
        again = threading.Timer(0.1, kept.server.open_again)
        again.start()
        assert_served(kept.burst(count=4))
        again.join()
    assert kept.server.arrived.total() == len(kept.samples) == kept.tools.carried_out.total()


def test_a_tls_connection_that_its_server_has_closed_is_not_used(gateway, serve, tmp_path):
    """close_notify has come before the call is made; the FIN waits for ours."""
    authority = Authority(tmp_path)
    through = Drill(gateway, serve, tls=authority.issue("127.0.0.1"), authority=authority)

    async def close() -> None:
        for writer in list(through.server.writers):
            writer.close()

    with through.client() as client:
        for number in range(10):
            reply = client.call("up__plain", {"run": (run := f"run-{number}")})
            assert reply.text == f"done {run}", reply.text
            Loop.run(close())
            time.sleep(0.05)


def test_with_keep_alive_below_the_servers_limit_no_call_is_lost(gateway, serve):
    """RC-047 (a), (b): the server closes after 500 ms, and calls come just when it does."""
    tools = CountingServer("plain")
    server = serve(FaultyCarrier(tools))
    server.idle_limit = 0.5
    through = gateway({"upstreams": {"up": {"url": server.url, "keep_alive": "300ms"}}})
    with McpClient(through.port) as client:
        for number in range(16):
            reply = client.call("up__plain", {"run": (run := f"run-{number}")})
            assert reply.text == f"done {run}", reply.text
            time.sleep(0.49 + 0.02 * (number % 2))
    assert set(tools.carried_out.values()) == {1}
