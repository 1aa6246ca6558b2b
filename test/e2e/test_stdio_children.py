"""RC-049 and RC-050: children that chatter on stderr, and stdout that comes in any shape."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from harness.mcp_client import McpClient
from harness.process import tool_servers_of
from harness.servers import stdio_command
from harness.waiting import until

MEBIBYTE = 1024 * 1024


def start(gateway, script: dict, journal: Path | None = None, **settings):
    return gateway({"upstreams": {"child": {"command": stdio_command(script, journal)}}, **settings})


def child_pid(through) -> int:
    """The gateway's only tool server."""
    pids = tool_servers_of(through.pid)
    assert len(pids) == 1, pids
    return pids.pop()


@pytest.mark.parametrize("stderr", ["first", "steady", "unbroken", "invalid", "closed"])
def test_stderr_is_read_whatever_comes(stderr, gateway):
    through = start(gateway, {"stderr": stderr})
    with McpClient(through.port) as client:
        client.call("child__echo")
        before = through.process.resident_bytes()
        begin = time.monotonic()
        calls = 0
        while time.monotonic() - begin < 1.0:
            called = time.monotonic()
            assert client.call("child__echo", {"q": calls}).text == json.dumps({"q": calls})
            assert time.monotonic() - called < 0.5
            calls += 1
        assert calls > 20
    grown = through.process.resident_bytes() - before
    if not os.environ.get("SWITCHGEAR_SANITIZED"):  # a sanitizer keeps freed memory, to see it used
        assert grown < 8 * MEBIBYTE, f"memory grew by {grown} bytes"
    assert len(through.process.stderr) < MEBIBYTE, "logged at a limited rate"


def test_a_burst_on_stderr_during_a_call_is_swallowed(gateway):
    through = start(gateway, {})
    with McpClient(through.port) as client:
        client.call("child__echo")
        before = through.process.resident_bytes()
        assert not client.call("child__burst").is_error
        assert through.process.resident_bytes() - before < 8 * MEBIBYTE
        assert len(through.process.stderr) < MEBIBYTE


def test_what_a_dying_child_said_is_shown(gateway):
    command = [sys.executable, "-c", "import sys; sys.stderr.write('licence file missing\\n'); sys.exit(7)"]
    through = gateway({"upstreams": {"child": {"command": command}}})
    reason = through.wait_upstream("child", "degraded")["reason"]
    assert "licence file missing" in reason or "licence file missing" in through.process.stderr
    assert "\n" not in reason


NOISE = {
    "banner": {"stdout_first": "MyServer 1.0\nListening ...\n"},
    "colour codes": {"noise": "\x1b[32minfo\x1b[0m handling\n"},
    "blank lines": {"noise": "\n\n  \n"},
    "JSON that is not JSON-RPC": {"noise": '{"level":"info","message":"call"}\n[1,2]\n"text"\n42\nnull\n'},
    "an unknown response": {"noise": '{"jsonrpc":"2.0","id":987654321,"result":{}}\n'},
    "a foreign notification": {"noise": '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}\n'},
    "CRLF": {"framing": "crlf"},
    "one byte at a time": {"framing": "bytes"},
    "two messages in one write": {"after": '{"jsonrpc":"2.0","method":"notifications/message","params":{}}\n'},
    "a length header": {"noise": "Content-Length: 17\r\n\r\n"},
    "bytes that are no text": {"noise": "\u00ff\u00fe\ufffd\u0000\n"},
}


@pytest.mark.parametrize("noise", NOISE)
def test_good_messages_are_handled_whatever_stands_around_them(noise, gateway):
    through = start(gateway, NOISE[noise], limits={"max_answer": "1MiB"})
    with McpClient(through.port) as client:
        for number in range(5):
            assert json.loads(client.call("child__echo", {"number": number}).text) == {"number": number}
    assert through.upstream("child")["state"] == "ready"


def test_a_line_over_the_limit_spoils_one_call_at_most(gateway):
    """Nobody can tell whose answer such a line was to be, so the call that waits may be failed by it."""
    through = start(gateway, {"noise_line": 2 * MEBIBYTE}, limits={"max_answer": "1MiB"})
    with McpClient(through.port) as client:
        first = client.call("child__echo", {"number": 0})
        assert first.is_error or json.loads(first.text) == {"number": 0}
        for number in range(1, 5):
            assert json.loads(client.call("child__echo", {"number": number}).text) == {"number": number}


def test_a_large_message_in_small_pieces_arrives_whole(gateway):
    through = start(gateway, {"framing": "pieces"})
    with McpClient(through.port) as client:
        assert len(client.call("child__big", {"size": 5 * MEBIBYTE}).text) == 5 * MEBIBYTE
        assert client.call("child__echo", {"after": 1}).text == '{"after": 1}'


def test_an_answer_over_the_limit_fails_its_call_and_no_other(gateway):
    through = start(gateway, {}, limits={"max_answer": "1MiB"}, tools={"child__*": {"deadline": "3s"}})
    with McpClient(through.port) as client:
        pid = child_pid(through)
        reply = client.call("child__big", {"size": 3 * MEBIBYTE})
        assert reply.is_error and reply.marker["served_by"] == "none"
        assert client.call("child__echo", {"next": 1}).text == '{"next": 1}'
        assert child_pid(through) == pid, "the child lives on"


def test_a_last_message_without_a_line_end_is_taken(gateway):
    through = start(gateway, {})
    with McpClient(through.port) as client:
        assert client.call("child__exit").text == "goodbye"
        until(lambda: not client.call("child__echo", {"again": 1}).is_error, 10, "a new child answers", every=0.1)


def test_a_child_gets_one_line_of_json_for_each_message(gateway, tmp_path):
    journal = tmp_path / "received"
    through = start(gateway, {}, journal)
    tricky = {"text": 'line\r\nbreak \u2028 \u2029 "quoted" \\n \x00 ü', "\n": "\n"}
    with McpClient(through.port) as client:
        assert json.loads(client.call("child__echo", tricky).text) == tricky
        # A body that is pretty-printed: its line breaks must not reach the child.
        body = {
            "jsonrpc": "2.0",
            "id": 5,
            "method": "tools/call",
            "params": {"name": "child__echo", "arguments": tricky},
        }
        assert json.loads(client.post(json.dumps(body, indent=2).encode()).text) == tricky
        crlf = json.dumps(body, indent=2).replace("\n", "\r\n").encode()
        assert json.loads(client.post(crlf).text) == tricky
    lines = journal.read_bytes().split(b"\n")
    assert lines.pop() == b""
    messages = [json.loads(line) for line in lines]
    assert [message["method"] for message in messages if "id" not in message] == ["notifications/initialized"]
    assert sum(message["method"] == "tools/call" for message in messages) == 3


def test_a_child_that_dies_in_a_call_is_an_honest_error_and_is_replaced(gateway):
    through = start(gateway, {}, tools={"child__stall": {"deadline": "5s"}})
    with McpClient(through.port) as client:
        client.call("child__echo")
        pid = child_pid(through)
        waiting = McpClient(through.port).initialize()
        replies = []
        thread = threading.Thread(target=lambda: replies.append(waiting.call("child__stall")))
        thread.start()
        time.sleep(0.3)  # the call is on its way to the child
        begin = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        thread.join(10)
        assert time.monotonic() - begin < 1.5, "told at once, not at the deadline"
        assert replies[0].is_error and "child" in replies[0].text
        until(lambda: not client.call("child__echo").is_error, 10, "a new child answers", every=0.1)
        assert child_pid(through) != pid


def test_no_child_outlives_the_gateway(gateway):
    through = start(gateway, {"stderr": "steady"})
    with McpClient(through.port) as client:
        client.call("child__echo")
    pid = child_pid(through)
    through.stop()
    assert not Path(f"/proc/{pid}").exists()
    through.start()
    pid = child_pid(through)
    through.process.kill()
    until(lambda: not Path(f"/proc/{pid}").exists(), 5, "the child of a killed gateway ends too")
    through.start()
