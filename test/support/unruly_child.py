"""A stdio tool server with a bad life: it dies at once, starts slowly, clings to life, or leaves children behind.

    unruly_child.py JOURNAL [--exit-at-once] [--slow SECONDS] [--slow-from N] [--cling] [--grandchild] [--wrapper]

Each start is a line in JOURNAL: "start PID MOMENT". A grandchild is one too: "grandchild PID MOMENT". `--slow` takes
effect from the Nth start on. `--wrapper`: the grandchild does the talking, as behind `sh -c` or `npx`.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time

NAP = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def answer(message: dict) -> dict | None:
    method = message.get("method")
    if method == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "unruly", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "die", "pid")]}
    if method == "tools/call":
        if message["params"]["name"] == "die":
            os._exit(3)
        text = str(os.getpid()) if message["params"]["name"] == "pid" else json.dumps(message["params"]["arguments"])
        return {"content": [{"type": "text", "text": text}]}
    return {} if method == "ping" else None


def serve() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message)
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        reply |= {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps(reply), flush=True)


def note(journal: str, what: str, pid: int) -> int:
    """How many starts there were, this one included."""
    with open(journal, "a+") as file:
        file.write(f"{what} {pid} {time.monotonic()}\n")
        file.flush()
        file.seek(0)
        return sum(line.startswith("start") for line in file)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("journal")
    arguments.add_argument("--exit-at-once", action="store_true")
    arguments.add_argument("--slow", type=float, default=0)
    arguments.add_argument("--slow-from", type=int, default=1)
    arguments.add_argument("--cling", action="store_true")
    arguments.add_argument("--grandchild", action="store_true")
    arguments.add_argument("--wrapper", action="store_true")
    options = arguments.parse_args()

    starts = note(options.journal, "start", os.getpid())
    if options.exit_at_once:
        sys.exit(1)
    if options.cling:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.grandchild:
        note(options.journal, "grandchild", subprocess.Popen([sys.executable, "-c", NAP]).pid)
    if options.wrapper:
        inner = subprocess.Popen([sys.executable, __file__, os.devnull])
        note(options.journal, "grandchild", inner.pid)
        sys.exit(inner.wait())
    if starts >= options.slow_from:
        time.sleep(options.slow)
    serve()
    if options.cling:
        time.sleep(600)


if __name__ == "__main__":
    main()
