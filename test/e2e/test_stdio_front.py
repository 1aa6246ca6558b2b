"""`switchgear stdio FILE`: the gateway for one client that launched it."""

import json
import sys
import urllib.request
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from test_sdk_clients import typescript

from harness.piped_gateway import MODERN_META, PipedGateway
from harness.process import SUPPORT, free_port, tool_servers_of
from harness.servers import stdio_command
from harness.waiting import until


def small(*modes: str) -> dict:
    return {"upstreams": {"small": {"command": [sys.executable, str(SUPPORT / "stdio_server.py"), *modes]}}}


def scripted(journal=None, **script) -> dict:
    return {"upstreams": {"child": {"command": stdio_command(script, journal)}}}


def call(name: str, arguments: dict | None = None, meta: dict | None = None) -> dict:
    return {"name": name, "arguments": arguments or {}, **({"_meta": meta} if meta else {})}


def text_of(response: dict) -> str:
    return response["result"]["content"][0]["text"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_python_client_launches_it(mode, tmp_path):
    through = PipedGateway(small(), tmp_path)

    async def talk() -> tuple:
        command = through.command
        server = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
        async with Client(server, mode=mode, read_timeout_seconds=30) as client:
            tools = await client.list_tools()
            result = await client.call_tool("small__echo", {"text": "grüße \u2028"})
            return client.protocol_version, [tool.name for tool in tools.tools], result.content[0].text

    version, tools, text = anyio.run(talk)
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert {"small__echo", "small__stall"} <= set(tools)
    assert text == "grüße \u2028"


def test_the_typescript_client_launches_it(tmp_path, node):
    through = PipedGateway(small(), tmp_path)
    calls = [{"name": "small__echo", "arguments": {"text": "grüße \u2028"}}, {"name": "small__nothing"}]
    seen = typescript({"command": through.command, "calls": calls})
    assert "small__echo" in [tool["name"] for tool in seen["tools"]]
    assert seen["answers"][0]["result"]["content"][0]["text"] == "grüße \u2028"
    assert seen["answers"][1]["error"]["code"] == -32602


def test_both_eras_share_the_pipe(tmp_path):
    with PipedGateway(small(), tmp_path) as through:
        discovered = through.ask(0, "server/discover", {"_meta": MODERN_META})
        assert "2026-07-28" in discovered["result"]["supportedVersions"]
        assert through.initialize()["result"]["protocolVersion"] == "2025-11-25"
        modern = through.ask("m", "tools/call", call("small__echo", {"text": "new"}, MODERN_META))
        assert text_of(modern) == "new" and modern["result"]["resultType"] == "complete"
        legacy = through.ask(1, "tools/call", call("small__echo", {"text": "old"}))
        assert text_of(legacy) == "old" and "resultType" not in legacy["result"]
        wrong = through.ask(2, "tools/list", {"_meta": {**MODERN_META, next(iter(MODERN_META)): "2099-01-01"}})
        assert wrong["error"]["code"] == -32022


def test_progress_comes_before_the_answer_with_the_clients_token(tmp_path):
    with PipedGateway(small(), tmp_path) as through:
        through.initialize()
        for id, meta in ((0, {}), ("0", MODERN_META)):
            before: list = []
            through.ask(id, "tools/call", call("small__progress", meta={"progressToken": "t", **meta}), before)
            steps = [one["params"] for one in before if one["method"] == "notifications/progress"]
            assert [(step["progressToken"], step["progress"]) for step in steps] == [("t", n) for n in range(3)]


def test_changed_lists_are_told_to_clients_of_both_eras(tmp_path):
    with PipedGateway(small(), tmp_path) as through:
        through.initialize()
        wanted = {"_meta": MODERN_META, "notifications": {"toolsListChanged": True}}
        through.send({"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen", "params": wanted})
        assert through.receive()["method"] == "notifications/subscriptions/acknowledged"
        through.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("small__announce")})
        seen = [through.receive() for _ in range(3)]  # the answer, and one notification for each
        told = [one for one in seen if one.get("method") == "notifications/tools/list_changed"]
        tags = [one.get("params", {}).get("_meta", {}).get("io.modelcontextprotocol/subscriptionId") for one in told]
        assert sorted(tags, key=str) == [None, "news"]
        assert "small__extra" in json.dumps(through.ask(2, "tools/list"))
        # A stream ends with an answer when the client says no more, and with none when the client takes it back.
        through.close_input()
        assert through.receive()["result"]["resultType"] == "complete"
        assert through.receive() is None
        assert through.ended() == 0


def test_a_call_that_is_taken_back_has_no_answer_and_ends_at_the_child(tmp_path):
    journal = tmp_path / "received"
    with PipedGateway(scripted(journal), tmp_path) as through:
        through.initialize()
        for id, meta in (("old", None), ("new", MODERN_META)):
            stalled = call("child__stall", meta=meta)
            through.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": stalled})
            through.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            before: list = []
            through.ask(f"after {id}", "ping" if meta is None else "tools/list", {"_meta": meta} if meta else {}, before)
            assert before == []
        until(lambda: through.ask("p", "ping") and True, 1, "it goes on")


def test_bad_lines_get_their_errors_and_the_next_is_read(tmp_path):
    with PipedGateway({**small(), "limits": {"max_request": "64KiB"}}, tmp_path) as through:
        assert through.ask(1, "tools/list")["error"]["code"] == -32600, "initialize comes first"
        assert through.ask(2, "ping")["result"] == {}
        through.initialize("2025-03-26")
        through.send(b"not json\n", b"\n", b'{"jsonrpc":"2.0"}\n', b"x" * 100_000 + b"\n")
        assert [through.receive()["error"]["code"] for _ in range(3)] == [-32700, -32600, -31008]
        assert through.ask(3, "no/such/method")["error"]["code"] == -32601
        assert through.ask(4, "initialize", {"protocolVersion": "2025-11-25"})["error"]["code"] == -32600
        batch = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in (7, 8)]
        through.send(json.dumps(batch).encode() + b"\n")
        assert [one["id"] for one in through.receive()] == [7, 8]
        assert through.ask(5, "ping")["result"] == {}


def test_stdout_has_one_message_a_line_whatever_a_tool_says(tmp_path):
    with PipedGateway(scripted(stderr="steady", framing="pieces"), tmp_path) as through:
        through.initialize()
        tricky = {"text": 'line\r\nbreak \u2028 \u2029 "quoted" \x00 ü'}
        assert json.loads(text_of(through.ask(1, "tools/call", call("child__echo", tricky)))) == tricky
        big = through.ask(2, "tools/call", call("child__big", {"size": 3_000_000}))
        assert len(text_of(big)) == 3_000_000
        assert "\u2028" not in through.raw.decode() and "\u2029" not in through.raw.decode()


def test_calls_under_way_are_answered_after_the_input_has_ended(tmp_path):
    with PipedGateway(small(), tmp_path) as through:
        through.initialize()
        for id in range(100):
            echo = call("small__echo", {"text": str(id)})
            through.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": echo})
        through.close_input()
        answers = [through.receive() for _ in range(100)]
        assert sorted(int(text_of(one)) for one in answers) == list(range(100))
        assert through.receive() is None
        assert through.ended() == 0


@pytest.mark.parametrize("how", ["input", "output", "signal"])
def test_it_ends_with_its_client_and_takes_its_children_along(how, tmp_path):
    with PipedGateway({**scripted(), "drain": "200ms"}, tmp_path) as through:
        through.initialize()
        through.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("child__stall")})
        children = until(lambda: tool_servers_of(through.child.pid), 5, "there is a child")
        if how == "input":
            through.close_input()
        elif how == "signal":
            through.terminate()
        else:
            through.stop_reading()
            through.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        assert through.ended() == 0
        for pid in children:
            until(lambda pid=pid: not _runs(pid), 5, "the child has ended")


def _runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_no_port_is_opened_unless_the_admin_one_is_named(tmp_path):
    with PipedGateway(small(), tmp_path) as through:
        through.initialize()
        assert through.listening_sockets() == 0
    port = free_port()
    with PipedGateway({**small(), "admin": f"127.0.0.1:{port}"}, tmp_path) as through:
        through.initialize()
        assert through.listening_sockets() == 1
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            assert answer.status == 200


def test_a_bad_file_is_told_on_stderr_alone(tmp_path):
    with PipedGateway({"upstreams": 7}, tmp_path) as through:
        assert through.ended() == 1
        assert through.receive() is None
        assert "piped.yaml" in through.stderr
