"""RC-041: lists that come in pages are listed whole, or stay what they were."""

import asyncio
import time

import pytest

from harness.carriers import HttpCarrier, SseCarrier, StdioCarrier, upstream_of
from harness.mcp_client import McpClient
from harness.modern_server import ModernServer, modern_carrier
from harness.tool_server import SILENCE, RpcError, ToolServer, tool
from harness.waiting import until

CHANGED = "notifications/tools/list_changed"
# What a server may put into a cursor, page by page.
ODD_CURSORS = ["a b&c=d%20\"\\", "zażółć/日本\u2028\U0001f600", "x" * 3000, "0", "==", "{\"page\":4}", "\t"]
CARRIERS = {"HTTP": HttpCarrier, "HTTP+SSE": SseCarrier, "stdio": StdioCarrier, "modern HTTP": modern_carrier}


class Pages:
    """Answers tools/list in pages. `last`: members of the last page besides its tools."""

    def __init__(self, count: int, size: int = 50, last: dict | None = None):
        self.tools = [tool(f"tool-{number}", description=f"number {number}") for number in range(count)]
        self.size = size
        self.last = last or {}
        self.before_page = {}  # number of the page -> async function, once
        self.more: dict = {}

    async def __call__(self, call) -> dict:
        cursor = call.params.get("cursor")
        page = 0 if cursor is None else next((n for n in range(1, 1000) if cursor_of(n) == cursor), None)
        if page is None:
            raise RpcError(-32602, "Invalid cursor")
        if page in self.before_page:
            await self.before_page.pop(page)()
        start = page * self.size
        result = {"tools": self.tools[start : start + self.size], **self.more}
        if start + self.size < len(self.tools):
            return {**result, "nextCursor": cursor_of(page + 1)}
        return {**result, **self.last}


def cursor_of(page: int) -> str:
    return ODD_CURSORS[page % len(ODD_CURSORS)] + "#" * (page // len(ODD_CURSORS))


def start(gateway, serve, pages: Pages, carrier: str = "HTTP", **settings):
    server = (ModernServer if carrier == "modern HTTP" else ToolServer)()
    if carrier == "modern HTTP":
        pages.more = {"ttlMs": 0, "cacheScope": "private"}
    server.answers["tools/list"] = pages
    through = gateway({"upstreams": {"up": upstream_of(serve(CARRIERS[carrier](server)))}, **settings})
    return through, server


def names(count: int) -> list[str]:
    return [f"up__tool-{number}" for number in range(count)]


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("last", [{}, {"nextCursor": None}, {"nextCursor": ""}], ids=["missing", "null", "empty"])
def test_all_pages_are_listed_and_all_tools_can_be_called(last, carrier, gateway, serve):
    through, _ = start(gateway, serve, Pages(101, last=last), carrier)
    with McpClient(through.port) as client:
        result = client.request("tools/list").result
        assert sorted(each["name"] for each in result["tools"]) == sorted(names(101))
        assert not result.get("nextCursor")
        for number in (0, 49, 50, 99, 100):
            assert client.call(f"up__tool-{number}", {"n": number}).text == f'{{"n": {number}}}'


def test_a_slow_page_delays_the_list_and_nothing_else(gateway, serve):
    pages = Pages(101)
    pages.before_page[1] = lambda: asyncio.sleep(0.5)
    through, _ = start(gateway, serve, pages)
    with McpClient(through.port) as client:
        until(lambda: len(client.tools()) == 101, 5, "all are listed")


def failing_pages():
    async def refuse():
        raise RpcError(-32603, "the database is away")

    return {"an error": refuse, "no page in time": lambda: asyncio.sleep(1.5)}


@pytest.mark.parametrize("failure", failing_pages())
def test_a_page_that_fails_never_makes_the_list_short(failure, gateway, serve):
    """The old list stays, the upstream is degraded, and one full pass makes it well again."""
    pages = Pages(101)
    server = ToolServer()
    server.answers["tools/list"] = pages
    url = serve(HttpCarrier(server)).url
    through = gateway({"upstreams": {"up": {"url": url, "handshake_timeout": "500ms", "refresh": "1s"}}})
    with McpClient(through.port) as client:
        assert len(client.tools()) == 101
        until(lambda: server.channels, 5, "the gateway listens")
        pages.tools = pages.tools[:80]
        pages.before_page[1] = failing_pages()[failure]
        server.tell(CHANGED)
        until(lambda: through.upstream("up")["state"] == "degraded", 5, "it is known to be degraded")
        assert len(client.tools()) == 101, "the list from before"
        assert not client.call("up__tool-100").is_error
        until(lambda: len(client.tools()) == 80, 10, "a full pass brings the new list", every=0.1)
        through.wait_upstream("up", "ready")


def test_a_first_list_whose_page_fails_once_comes_a_little_later(gateway, serve):
    async def refuse():
        raise RpcError(-32603, "once")

    def all_or_none(client) -> bool:
        count = len(client.tools())
        assert count in (0, 101), "a part of the list is worse than none"
        return count == 101

    pages = Pages(101)
    pages.before_page[1] = refuse
    through, _ = start(gateway, serve, pages)
    with McpClient(through.port) as client:
        until(lambda: all_or_none(client), 15, "all of them, at once")


def test_pages_without_end_are_ended(gateway, serve):
    """Each cursor leads to the next page, or back to the first: a list that cannot be had, and no memory filled."""

    async def for_ever(call) -> dict:
        turn = len(server.arrived("tools/list"))
        return {"tools": [tool(f"tool-{turn % 50}")], "nextCursor": "again"}

    server = ToolServer()
    server.answers["tools/list"] = for_ever
    other = ToolServer(["echo"])
    upstreams = {"up": {"url": serve(HttpCarrier(server)).url}, "other": {"url": serve(HttpCarrier(other)).url}}
    through = gateway({"upstreams": upstreams})
    with McpClient(through.port) as client:
        assert not client.call("other__echo").is_error
        until(lambda: through.upstream("up")["state"] == "degraded", 20, "it is said to be wrong", every=0.1)
        assert through.upstream("up")["reason"]


def test_a_rule_for_a_tool_of_the_last_page_holds(gateway, serve):
    """A rule that names just one tool, of page three."""

    async def stall(call):
        await call.cancelled.wait()
        return SILENCE

    pages = Pages(101)
    through, server = start(gateway, serve, pages, tools={"up__tool-100": {"deadline": "200ms"}})
    server.calls["tool-100"] = stall
    with McpClient(through.port) as client:
        begin = time.monotonic()
        assert client.call("up__tool-100").marker["reason"] == "timeout"
        assert time.monotonic() - begin < 2


def test_a_cursor_that_the_gateway_did_not_give_is_invalid(gateway, serve):
    """On every replica alike: what one gives, each takes."""
    pages = Pages(101)
    server = ToolServer()
    server.answers["tools/list"] = pages
    url = serve(HttpCarrier(server)).url
    replicas = [gateway({"upstreams": {"up": {"url": url}}}) for _ in range(2)]
    clients = [McpClient(each.port).initialize() for each in replicas]
    for client in clients:
        for cursor in ("made-up", "", cursor_of(1), "x" * 10_000):
            assert client.request("tools/list", {"cursor": cursor}).error["code"] == -32602, cursor
    found, cursor, turn = [], None, 0
    while True:
        params = {"cursor": cursor} if cursor else {}
        result = clients[turn % 2].request("tools/list", params).result
        found += [each["name"] for each in result["tools"]]
        cursor, turn = result.get("nextCursor"), turn + 1
        if not cursor:
            break
    assert sorted(found) == sorted(names(101))
    for client in clients:
        client.close()


@pytest.mark.timing
def test_five_thousand_tools_are_listed_in_two_seconds(gateway, serve, figure):
    through, _ = start(gateway, serve, Pages(5000, size=100))
    with McpClient(through.port) as client:
        until(lambda: len(client.tools()) == 5000, 10, "all are listed")
        begin = time.monotonic()
        assert len(client.tools()) == 5000
        took = time.monotonic() - begin
        figure("tools/list of 5,000", took=f"{took * 1000:.0f} ms")
        assert took < 2
        assert not client.call("up__tool-4999").is_error
