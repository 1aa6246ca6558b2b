"""A small MCP tool server on stdin and stdout whose manners are chosen by its arguments and by the tool that is called.

Modes (any number): noise, chatty, unbroken_stderr, close_stderr, crlf, paged, slow_start, exit_at_once, old_revision,
ignore_eof, grandchild.
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

modes = set(sys.argv[1:])
lock = threading.Lock()
received = []


def put(data):
    with lock:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def send(message):
    end = b"\r\n" if "crlf" in modes else b"\n"
    put(json.dumps(message).encode() + end)


def result(request, value):
    send({"jsonrpc": "2.0", "id": request["id"], "result": value})


def text(request, value):
    result(request, {"content": [{"type": "text", "text": value}]})


def later(request, seconds, value):
    token = request["params"].get("_meta", {}).get("progressToken")
    time.sleep(seconds)
    if token is not None:
        send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 9}})
    text(request, value)


def call(request):
    params = request["params"]
    name, arguments = params["name"], params.get("arguments", {})
    if name == "echo":
        text(request, arguments.get("text", ""))
    elif name == "pid":
        text(request, str(os.getpid()))
    elif name == "environment":
        text(request, os.environ.get(arguments["name"], "") + " in " + os.getcwd())
    elif name == "descriptors":
        text(request, " ".join(sorted(os.listdir("/proc/self/fd"), key=int)[:-1]))
    elif name == "received":
        text(request, json.dumps(received))
    elif name == "stall":
        pass
    elif name == "read_nothing":
        time.sleep(arguments["seconds"])
        text(request, "awake")
    elif name == "later":
        threading.Thread(target=later, args=(request, arguments["seconds"], arguments["text"]), daemon=True).start()
    elif name == "progress":
        token = params["_meta"]["progressToken"]
        for step in range(3):
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": step}})
        text(request, json.dumps(token))
    elif name == "big":
        message = {"jsonrpc": "2.0", "id": request["id"]} if arguments.get("id_first") else {}
        message["result"] = {"content": [{"type": "text", "text": "x" * arguments["size"]}]}
        message.update({"jsonrpc": "2.0", "id": request["id"]})
        data = json.dumps(message).encode() + b"\n"
        step = arguments.get("step", len(data))
        for at in range(0, len(data), step):
            put(data[at : at + step])
    elif name == "two_in_one_write":
        line = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        put((line + "\n" + json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}}) + "\n").encode())
    elif name == "last_words":
        put(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"content": []}}).encode())
        os._exit(0)
    elif name == "die":
        sys.stderr.write("out of cheese\n")
        sys.stderr.flush()
        os._exit(3)
    elif name == "close_stdout":
        os.close(1)
        time.sleep(60)
    elif name == "burst":
        sys.stderr.write(("e" * 99 + "\n") * (arguments["size"] // 100))
        sys.stderr.flush()
        text(request, "done")
    elif name == "ask_client":
        send({"jsonrpc": "2.0", "id": "s1", "method": "ping"})
        send({"jsonrpc": "2.0", "id": "s2", "method": "sampling/createMessage", "params": {}})
        text(request, "asked")
    elif name == "announce":
        modes.add("more_tools")
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        text(request, "announced")
    else:
        send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32602, "message": "Unknown tool"}})


def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}


def handle(message):
    method = message.get("method")
    if method == "initialize":
        version = "1999-01-01" if "old_revision" in modes else message["params"]["protocolVersion"]
        result(message, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "small", "version": "1"}})
    elif method == "tools/list":
        cursor = message.get("params", {}).get("cursor")
        if "paged" in modes and cursor != "two":
            result(message, {"tools": [tool("echo")], "nextCursor": "two"})
        else:
            result(message, {"tools": [tool("stall")] + ([tool("extra")] if "more_tools" in modes else [])})
    elif method == "tools/call":
        call(message)


def main():
    if "exit_at_once" in modes:
        sys.stderr.write("no licence found\n")
        sys.exit(7)
    if "ignore_eof" in modes:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "grandchild" in modes:
        # On its own stdin, as a wrapper's server would be; it says its number where the test reads it.
        other = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
        sys.stderr.write("grandchild %d\n" % other.pid)
    if "slow_start" in modes:
        time.sleep(0.3)
    if "chatty" in modes:
        sys.stderr.write(("c" * 63 + "\n") * 4096)
    if "unbroken_stderr" in modes:
        sys.stderr.buffer.write(b"\xff" + b"u" * (10 * 1024 * 1024))
    sys.stderr.flush()
    if "close_stderr" in modes:
        os.close(2)
    if "noise" in modes:
        put(b"Welcome to small 1.0\n\n\x1b[32mready\x1b[0m\n{\"level\":\"info\"}\nContent-Length: 12\r\n\r\n42\n[1]\n")
    for line in sys.stdin.buffer:
        received.append(line.decode("utf-8", "replace"))
        handle(json.loads(line))
    while "ignore_eof" in modes:
        time.sleep(1)


main()
