"""Official clients through the gateway on official servers: what they see is what they see without it."""

import json
import subprocess
import sys

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from harness.mcp_client import McpClient
from harness.process import SUPPORT
from harness.servers import EVERYTHING_STDIO, NODE_FOLDER

ALIAS = "ev"
STEPS = 4
CALLS = [
    {"name": "echo", "arguments": {"message": 'grüße, "quoted" \u2028 and 日本'}},
    {"name": "get-sum", "arguments": {"a": 0.1, "b": 2}},
    {"name": "get-sum", "arguments": {"a": "not a number"}},  # a tool error, told by the server
    {"name": "get-structured-content", "arguments": {"location": "Chicago"}},
    {"name": "get-tiny-image", "arguments": {}},
    {"name": "get-annotated-message", "arguments": {"messageType": "error", "includeImage": True}},
    {"name": "get-resource-links", "arguments": {"count": 3}},
    {"name": "trigger-long-running-operation", "arguments": {"duration": 0.4, "steps": STEPS}, "progress": True},
]


def exported(name: str) -> str:
    return f"{ALIAS}__{name}"


def upstream_settings(transport: str, request) -> dict:
    if transport == "http":
        return {"url": request.getfixturevalue("everything").url}
    return {"command": EVERYTHING_STDIO}


def by_name(tools: list[dict]) -> dict[str, dict]:
    return {tool["name"]: tool for tool in tools}


def assert_same_tools(direct: list[dict], through: list[dict]) -> None:
    """Every tool, equal but for the exported name. One that can only run as a task may be held back."""
    expected = {
        exported(name): {**tool, "name": exported(name)}
        for name, tool in by_name(direct).items()
        if (tool.get("execution") or {}).get("taskSupport") != "required"
    }
    seen = by_name(through)
    task_only = {exported(name) for name in by_name(direct)} - set(expected)
    assert set(seen) - task_only == set(expected)
    for name, tool in expected.items():
        assert seen[name] == tool


def assert_progress(steps: list[dict]) -> None:
    """In order and complete; the SDKs may drop the last step when the result arrives together with it."""
    expected = [{"progress": step, "total": STEPS} for step in range(1, STEPS + 1)]
    assert steps in (expected, expected[:-1])


def typescript(job: dict) -> dict:
    run = subprocess.run(
        ["node", NODE_FOLDER / "client.mjs"], input=json.dumps(job), capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


async def python(server, mode: str, rename) -> dict:
    """What the Python SDK's client sees: {"tools": [...], "answers": [{"result", "progress"}]}."""
    async with Client(server, mode=mode, read_timeout_seconds=30) as client:
        tools, cursor = [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            if (cursor := page.next_cursor) is None:
                break
        answers = []
        for call in CALLS:
            steps = []

            async def on_progress(progress, total, message, steps=steps):
                steps.append({"progress": int(progress), "total": int(total)})

            result = await client.call_tool(
                rename(call["name"]), call["arguments"], progress_callback=on_progress if call.get("progress") else None
            )
            answers.append(
                {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True), "progress": steps}
            )
        return {"tools": tools, "answers": answers, "version": client.protocol_version}


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_typescript_client_sees_the_server_as_it_is(transport, gateway, node, request):
    upstream = upstream_settings(transport, request)
    through_gateway = gateway({"upstreams": {ALIAS: upstream}})
    direct = typescript({**upstream, "calls": CALLS})
    calls = [{**call, "name": exported(call["name"])} for call in CALLS]
    through = typescript({"url": through_gateway.url, "calls": calls})

    assert_same_tools(direct["tools"], through["tools"])
    assert "tools" in through["capabilities"]
    for call, expected, seen in zip(CALLS, direct["answers"], through["answers"], strict=True):
        assert seen.get("result") == expected["result"], call
        if call.get("progress"):
            assert_progress(seen["progress"])
            assert_progress(expected["progress"])


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_python_client_sees_the_server_as_it_is(transport, mode, gateway, node, request):
    upstream = upstream_settings(transport, request)
    through_gateway = gateway({"upstreams": {ALIAS: upstream}})
    command = upstream.get("command")
    server = stdio_client(StdioServerParameters(command=command[0], args=command[1:])) if command else upstream["url"]
    direct = anyio.run(python, server, "legacy", lambda name: name)
    through = anyio.run(python, through_gateway.url, mode, exported)

    assert_same_tools(direct["tools"], through["tools"])
    for call, expected, seen in zip(CALLS, direct["answers"], through["answers"], strict=True):
        assert seen["result"] == expected["result"], call
        if call.get("progress"):
            assert_progress(seen["progress"])


def test_progress_is_relayed_with_the_callers_own_token(gateway, everything):
    through = gateway({"upstreams": {ALIAS: {"url": everything.url}}})
    for token in ("my-token", "", 0, 7, 9007199254740993, "ünï"):
        with McpClient(through.port) as client:
            arguments = {"duration": 0.2, "steps": STEPS}
            reply = client.call(exported("trigger-long-running-operation"), arguments, meta={"progressToken": token})
        assert reply.media_type == "text/event-stream"
        assert reply.messages[-1] == reply.message, "the response ends the stream"
        steps = [notification["params"] for notification in reply.notifications]
        assert [step["progress"] for step in steps] == [1, 2, 3, 4]
        assert all(step["progressToken"] == token and type(step["progressToken"]) is type(token) for step in steps)


def test_no_progress_is_sent_to_a_caller_who_did_not_ask(gateway, everything):
    through = gateway({"upstreams": {ALIAS: {"url": everything.url}}})
    with McpClient(through.port) as client:
        reply = client.call(exported("trigger-long-running-operation"), {"duration": 0.2, "steps": STEPS})
    assert reply.notifications == []
    assert "completed" in reply.text


def test_a_plain_name_is_exported_as_it_is(gateway, everything):
    through = gateway({"names": "plain", "upstreams": {ALIAS: {"url": everything.url}}})
    with McpClient(through.port) as client:
        assert "echo" in client.tools()
        assert client.call("echo", {"message": "plain"}).text == "Echo: plain"


def test_servers_on_both_transports_are_merged(gateway, everything):
    python_server = [sys.executable, str(SUPPORT / "sdk_stdio_server.py")]
    through = gateway({"upstreams": {"web": {"url": everything.url}, "child": {"command": python_server}}})
    with McpClient(through.port) as client:
        tools = client.tools()
        assert {"web__echo", "child__reverse", "child__divide"} <= set(tools)
        assert client.call("web__get-sum", {"a": 2, "b": 3}).is_error is False
        assert client.call("child__reverse", {"text": "stressed"}).result["structuredContent"] == {"result": "desserts"}
        division = client.call("child__divide", {"dividend": 1, "divisor": 0})
        assert division.is_error and not division.marker, "a tool's own error is passed on as it is"
