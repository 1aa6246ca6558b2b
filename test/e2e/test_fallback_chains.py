"""RC-070: a chain of fallbacks tries each target once, within one deadline, and ends in one answer or one error."""

import asyncio
import json
import threading
import time

import pytest

from harness.carriers import HttpCarrier
from harness.mcp_client import McpClient
from harness.tool_server import SILENCE, RpcError, ToolServer, text_result, tool, until_cancelled
from harness.waiting import until

DEADLINE = 2.0
MINIMUM = 0.02  # what a hop needs at least, unless it says otherwise
ATTEMPTS = 2
READS = tool("q", annotations={"readOnlyHint": True})


async def fails(_call):
    raise RpcError(-32603, "the disk is full")


async def stalls(_call):
    await asyncio.sleep(8)
    return SILENCE


async def works(_call):
    return text_result("done")


class Chain:
    """Tool servers `a`, `b` and so on, each with one tool, and how often it was called."""

    def __init__(self, serve, names: str, **behaviours):
        self.servers = {name: ToolServer([READS], q=behaviours.get(name, fails)) for name in names}
        self.urls = {name: serve(HttpCarrier(server)).url for name, server in self.servers.items()}

    @property
    def upstreams(self) -> dict:
        return {name: {"url": url} for name, url in self.urls.items()}

    def calls(self, name: str) -> list[float]:
        """When each call came."""
        return [arrival.at for arrival in self.servers[name].arrived("tools/call")]

    def count(self) -> dict[str, int]:
        return {name: len(self.calls(name)) for name in self.servers}


def to(*names: str, **more) -> list[dict]:
    return [{"tool": {"name": f"{name}__q", **more}} for name in names]


def rule(*steps: dict, **more) -> dict:
    return {"deadline": f"{DEADLINE:.0f}s", "note": False, "fallback": list(steps), **more}


RETRY = {"retry": {"attempts": ATTEMPTS, "backoff": "5ms"}}
# Every breaker lets calls through, unless a test wants one to open.
WATCHING = {"breaker": {"mode": "observe"}}


def timed(client: McpClient, name: str = "a__q"):
    begin = time.monotonic()
    reply = client.call(name)
    return reply, begin, time.monotonic() - begin


def assert_one_error(reply, hops: str, took: float) -> None:
    """One error that lists the hops in their order and holds the primary's own."""
    assert reply.status == 200 and reply.is_error
    assert reply.marker["served_by"] == "none" and reply.marker["reason"] == "exhausted"
    assert len(reply.marker["steps"]) == len(hops) + 1
    places = [reply.text.index(f"tool {hop}__q (") for hop in hops]
    assert places == sorted(places), reply.text
    assert took <= DEADLINE * 1.1, f"{took:.2f} s"


@pytest.mark.timing
@pytest.mark.parametrize("primary", ["stall", "error"])
@pytest.mark.parametrize("hop", ["stall", "error"])
def test_a_chain_that_fails_tries_each_target_once_in_one_deadline(gateway, serve, primary, hop):
    how = {"stall": stalls, "error": fails}
    chain = Chain(serve, "abc", a=how[primary], b=how[hop], c=how[hop])
    through = gateway(
        {**WATCHING, "upstreams": chain.upstreams, "tools": {"*": RETRY, "a__q": rule(*to("b", "c"))}}
    )
    with McpClient(through.port) as client:
        reply, begin, took = timed(client)
    assert_one_error(reply, "bc", took)
    if primary == "error":
        assert "the disk is full" in reply.text
    else:
        assert "did not answer within" in reply.text
    for name, calls in chain.count().items():
        assert calls <= ATTEMPTS, f"{name} was called {calls} times"
    for name in "bc":
        for at in chain.calls(name):
            assert at - begin <= DEADLINE - MINIMUM + 0.005, f"{name} was begun with too little time left"


@pytest.mark.timing
def test_a_hop_that_needs_time_gets_it_from_those_before_it(gateway, serve):
    chain = Chain(serve, "abc", a=fails, b=stalls, c=works)
    steps = [*to("b"), *to("c", minimum_time="300ms")]
    through = gateway({**WATCHING, "upstreams": chain.upstreams, "tools": {"a__q": rule(*steps)}})
    with McpClient(through.port) as client:
        reply, begin, took = timed(client)
    assert reply.text == "done" and reply.marker["steps"] == ["primary:failed", "tool:timeout", "tool:hit"]
    assert DEADLINE - 0.4 <= took <= DEADLINE * 1.1
    assert DEADLINE - (chain.calls("c")[0] - begin) >= 0.29


@pytest.mark.timing
def test_a_hop_is_not_begun_with_less_than_it_needs(gateway, serve):
    chain = Chain(serve, "abc", a=fails, b=stalls, c=works)
    # What would take half of the time or more is not kept back.
    steps = [*to("b"), *to("c", minimum_time="1500ms")]
    through = gateway({**WATCHING, "upstreams": chain.upstreams, "tools": {"a__q": rule(*steps)}})
    with McpClient(through.port) as client:
        reply, _, took = timed(client)
    assert reply.marker["steps"] == ["primary:failed", "tool:timeout", "tool:no_time"]
    assert_one_error(reply, "bc", took)
    assert chain.calls("c") == []


@pytest.mark.timing
def test_open_breakers_are_skipped_at_once(gateway, serve, figure):
    chain = Chain(serve, "abcd", d=works)
    through = gateway(
        {"breaker": {"cooldown": "60s"}, "upstreams": chain.upstreams, "tools": {"a__q": rule(*to("b", "c", "d"))}}
    )
    with McpClient(through.port) as client:

        def open_all() -> bool:
            for name in "abc":
                client.call(f"{name}__q")
            return all(through.state(f"{name}__q") == "open" for name in "abc")

        until(open_all, 20, "the breakers open")
        before = chain.count()
        took = []
        for _ in range(100):
            reply, _, spent = timed(client)
            took.append(spent)
            assert reply.marker["steps"] == ["primary:refused", "tool:refused", "tool:refused", "tool:hit"]
        after = chain.count()
    assert {name: after[name] - before[name] for name in "abcd"} == {"a": 0, "b": 0, "c": 0, "d": 100}
    # The answer of `d` is in it, and this client's own time: both only add.
    median = sorted(took)[50]
    figure("open breakers skipped", median=f"{median * 1e3:.2f} ms, three of them and one call")
    assert min(took) < 0.005, f"{min(took) * 1e3:.1f} ms"


@pytest.mark.timing
def test_a_chain_of_open_breakers_alone_ends_at_once(gateway, serve):
    chain = Chain(serve, "abc")
    through = gateway(
        {"breaker": {"cooldown": "60s"}, "upstreams": chain.upstreams, "tools": {"a__q": rule(*to("b", "c"))}}
    )
    with McpClient(through.port) as client:

        def open_all() -> bool:
            for name in "abc":
                client.call(f"{name}__q")
            return all(through.state(f"{name}__q") == "open" for name in "abc")

        until(open_all, 20, "the breakers open")
        took = []
        for _ in range(100):
            reply, _, spent = timed(client)
            took.append(spent)
            assert_one_error(reply, "bc", spent)
            assert reply.marker["retry_after_ms"] > 0
    assert sorted(took)[50] < 0.005, f"{sorted(took)[50] * 1e3:.1f} ms"


def test_another_alias_of_the_same_server_is_tried_once(gateway, serve):
    chain = Chain(serve, "a")
    upstreams = {"a": {"url": chain.urls["a"]}, "b": {"url": chain.urls["a"]}}
    through = gateway({**WATCHING, "upstreams": upstreams, "tools": {"*": RETRY, "a__q": rule(*to("b"), *to("b"))}})
    with McpClient(through.port) as client:
        reply, _, took = timed(client)
    assert reply.marker["steps"][2] == "tool:repeated"
    assert_one_error(reply, "bb", took)
    assert len(chain.calls("a")) <= 2 * ATTEMPTS


def test_a_hop_does_not_begin_its_own_chain(gateway, serve):
    chain = Chain(serve, "abcd", c=works, d=works)
    tools = {"a__q": rule(*to("b")), "b__q": rule(*to("c", "d"))}
    through = gateway({**WATCHING, "upstreams": chain.upstreams, "tools": tools})
    with McpClient(through.port) as client:
        reply, _, took = timed(client)
        assert_one_error(reply, "b", took)
        assert chain.count() == {"a": 1, "b": 1, "c": 0, "d": 0}
        assert client.call("b__q").text == "done", "called itself it has its chain"
    assert chain.count() == {"a": 1, "b": 2, "c": 1, "d": 0}


def test_the_longest_chain_there_may_be(gateway, serve):
    names = "abcdefghi"
    chain = Chain(serve, names, i=works)
    through = gateway({**WATCHING, "upstreams": chain.upstreams, "tools": {"a__q": rule(*to(*names[1:]))}})
    with McpClient(through.port) as client:
        reply, _, took = timed(client)
    assert reply.text == "done" and took <= DEADLINE * 1.1
    assert reply.marker["steps"] == ["primary:failed", *["tool:failed"] * 7, "tool:hit"]
    assert chain.count() == dict.fromkeys(names, 1)


@pytest.mark.parametrize("other_hop", ["b", "c"])
def test_a_client_that_cancels_in_a_hop_stops_the_chain(gateway, serve, other_hop):
    # In the second hop: `b` or, when that has failed, `c`.
    chain = Chain(serve, "abcd", **{other_hop: until_cancelled, "d": works})
    through = gateway({**WATCHING, "upstreams": chain.upstreams, "tools": {"a__q": rule(*to("b", "c", "d"), deadline="10s")}})
    with McpClient(through.port) as client:
        double = client.double()
        calling = threading.Thread(target=double.call, args=("a__q",), kwargs={"id": "mine"})
        calling.start()
        until(lambda: chain.calls(other_hop), 5, "the hop is under way")
        params = {"requestId": "mine", "reason": "the user pressed stop"}
        assert client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).status == 202
        told = chain.servers[other_hop]
        until(lambda: told.arrived("notifications/cancelled"), 2, "the hop's server is told")
        calling.join(5)
        assert not calling.is_alive(), "the exchange does not end"
        double.close()
    assert chain.calls("d") == []
    if other_hop == "b":
        assert chain.calls("c") == []


def test_what_keeps_stand_ins_from_a_tool_is_said_once(gateway, serve):
    server = ToolServer([tool("q", outputSchema={"$ref": "http://elsewhere/schema"})])
    carrier = serve(HttpCarrier(server))
    through = gateway({"upstreams": {"a": {"url": carrier.url}}, "tools": {"a__q": rule({"static": {"text": "sorry"}})}})
    with McpClient(through.port) as client:
        for name in ("second", "third"):
            server.tools.append(name)
            until(lambda: server.channels, 5, "the gateway listens for changes")
            server.tell("notifications/tools/list_changed")
            until(lambda name=name: f"a__{name}" in client.tools(), 5, "the list is taken")
    problems = [line for line in through.process.stderr.splitlines() if "policy_problem" in line and "cannot be checked" in line]
    assert len(problems) == 1, problems
    assert "a__q" in problems[0] and "outputSchema" in problems[0]


# ---- what is refused when the file is read


def check(run_switchgear, folder, tools: dict) -> str:
    """The errors of `switchgear check`."""
    path = folder / "chain.yaml"
    upstreams = {name: {"url": f"http://127.0.0.1:1/{name}"} for name in "abc"}
    path.write_text(json.dumps({"upstreams": upstreams, "tools": tools}, indent=1))
    done = run_switchgear("check", path)
    assert done.returncode == 1, done.stdout
    return done.stderr + done.stdout


def test_a_step_that_names_its_own_tool_is_refused_at_load(run_switchgear, tmp_path):
    said = check(run_switchgear, tmp_path, {"a__q": rule(*to("a"))})
    assert "names the tool itself" in said and "chain.yaml:" in said


@pytest.mark.parametrize("circle", ["ab", "abc"])
def test_a_circle_is_refused_at_load_with_its_path(run_switchgear, tmp_path, circle):
    tools = {f"{name}__q": rule(*to(after)) for name, after in zip(circle, circle[1:] + circle[0])}
    said = check(run_switchgear, tmp_path, tools)
    path = " -> ".join(f"{name}__q" for name in circle + circle[0])
    assert path in said
    assert "chain.yaml:" in said and "fallback[1]" in said


def test_more_steps_than_there_may_be_are_refused_at_load(run_switchgear, tmp_path):
    names = [f"b{number}" for number in range(10)]
    assert "has more than 8 steps" in check(run_switchgear, tmp_path, {"a__q": rule(*to(*names))})
