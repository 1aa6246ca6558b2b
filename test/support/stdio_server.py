"""A small MCP tool server on stdin and stdout whose manners are chosen by its arguments and by the tool that is called.

Modes (any number): noise, chatty, unbroken_stderr, close_stderr, crlf, paged, slow_start, exit_at_once, old_revision,
first_revision, ignore_eof, grandchild, silent (no answer to methods that it does not know), shy (ends when anything
comes before initialize), modern (and not legacy), dual (both eras), full (prompts and resources as well), no_streams,
no_acks (streams are not acknowledged).
"""
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time

modes = set(sys.argv[1:])
lock = threading.Lock()
received = []
questions = {}  # by id: the call that waits for the answer
answers = {}  # by call: what came so far
streams = []  # the ids of subscriptions/listen that are open


def put(data):
    with lock:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def send(message):
    end = b"\r\n" if "crlf" in modes else b"\n"
    put(json.dumps(message).encode() + end)


def is_modern(request):
    return "io.modelcontextprotocol/protocolVersion" in request.get("params", {}).get("_meta", {})


def result(request, value):
    kind = {"resultType": "complete"} if is_modern(request) else {}
    send({"jsonrpc": "2.0", "id": request["id"], "result": {**kind, **value}})


def error(request, code, message):
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})


def ask(request, arguments):
    """Sends requests (and notifications); the call is answered with all that came back, in its order."""
    answers[request["id"]] = []
    count = sum("id" in question for question in arguments["questions"])
    for question in arguments["questions"]:
        if "id" in question:
            questions[question["id"]] = (request, count)
        send({"jsonrpc": "2.0", **question})


def take_answer(message):
    request, count = questions.pop(message["id"], (None, 0))
    if request is None:
        return
    answers[request["id"]].append(message)
    if len(answers[request["id"]]) == count:
        text(request, json.dumps(answers.pop(request["id"])))


def announce(kind):
    """Says that a list changed, as the clients of each era hear it."""
    notification = {"jsonrpc": "2.0", "method": "notifications/%s/list_changed" % kind}
    for stream in streams:
        tag = {"io.modelcontextprotocol/subscriptionId": stream}
        send({**notification, "params": {"_meta": tag}})
    if not modes & {"modern", "dual"}:
        send(notification)


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
    elif name == "limits":
        text(request, json.dumps([resource.getrlimit(which) for which in (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE)]))
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
        announce(arguments.get("kind", "tools"))
        text(request, "announced")
    elif name == "say":
        for message in arguments["messages"]:
            send({"jsonrpc": "2.0", **message})
        text(request, "said")
    elif name == "say_raw":
        put(arguments["line"].encode() + b"\n")
        text(request, "said")
    elif name == "ask":
        ask(request, arguments)
    elif name == "ask_later":
        text(request, "asked")
        for question in arguments["questions"]:
            send({"jsonrpc": "2.0", **question})
    elif name == "end_stream":
        for stream in streams:
            if arguments["how"] == "cancelled":
                send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": stream}})
            else:
                send({"jsonrpc": "2.0", "id": stream, "result": {"resultType": "complete"}})
        streams.clear()
        text(request, "ended")
    else:
        error(request, -32602, "Unknown tool")


def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}


def capabilities():
    full = {"prompts": {}, "resources": {"subscribe": True}} if "full" in modes else {}
    return {"tools": {}, **full}


def initialize(request):
    version = request["params"]["protocolVersion"]
    if "old_revision" in modes:
        version = "1999-01-01"
    if "first_revision" in modes:
        version = "2024-11-05"
    information = {"name": "small", "version": "1"}
    offer = {"protocolVersion": version, "capabilities": capabilities(), "serverInfo": information}
    result(request, {**offer, "instructions": "Be brief."})


def discover(request):
    tag = {"io.modelcontextprotocol/serverInfo": {"name": "small", "version": "1"}}
    offer = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities(), "ttlMs": 0, "cacheScope": "private"}
    result(request, {**offer, "_meta": tag})


def listen(request):
    streams.append(request["id"])
    tag = {"io.modelcontextprotocol/subscriptionId": request["id"]}
    wanted = request["params"]["notifications"]
    params = {"notifications": wanted, "_meta": tag}
    if "no_acks" not in modes:
        send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})


def page(request, member, first, second=()):
    """A list of one page, or of two in the mode `paged`."""
    if "paged" not in modes:
        result(request, {member: [*first, *second]})
    elif request.get("params", {}).get("cursor") == "two":
        result(request, {member: list(second)})
    else:
        result(request, {member: list(first), "nextCursor": "two"})


def handle(message):
    method = message.get("method")
    if method is None:
        take_answer(message)
    elif "id" not in message:
        if method == "notifications/cancelled" and message["params"]["requestId"] in streams:
            streams.remove(message["params"]["requestId"])
    elif method == "initialize" and "modern" not in modes:
        initialize(message)
    elif method == "server/discover" and modes & {"modern", "dual"}:
        discover(message)
    elif "modern" in modes and not is_modern(message):
        error(message, -32602, "_meta lacks the protocol version")
    elif method == "tools/list":
        more = ["extra"] if "more_tools" in modes else []
        page(message, "tools", [tool("echo")], [tool(name) for name in ["stall", "progress", "announce", *more]])
    elif method == "prompts/list" and "full" in modes:
        page(message, "prompts", [{"name": "greet"}])
    elif method == "resources/list" and "full" in modes:
        page(message, "resources", [{"uri": "test://one", "name": "one"}], [{"uri": "test://two", "name": "two"}])
    elif method == "resources/templates/list" and "full" in modes:
        page(message, "resourceTemplates", [{"uriTemplate": "test://{name}", "name": "any"}])
    elif method in ("resources/subscribe", "resources/unsubscribe") and "full" in modes:
        result(message, {})
    elif method == "subscriptions/listen" and "no_streams" not in modes and modes & {"modern", "dual"}:
        listen(message)
    elif method == "tools/call":
        call(message)
    elif "silent" not in modes:
        error(message, -32601, "Method not found")


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
        message = json.loads(line)
        if "shy" in modes and len(received) == 1 and message.get("method") != "initialize":
            sys.exit(9)
        handle(message)
    while "ignore_eof" in modes:
        time.sleep(1)


main()
