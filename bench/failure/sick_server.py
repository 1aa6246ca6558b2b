#!/usr/bin/env python3
"""An MCP tool server over Streamable HTTP that falls sick on demand and notes what reaches it.

    sick_server.py [--port N] [--latency SECONDS]

It prints one line, {"port": N, "control": N}. Its one tool, `stock`, takes {"part": N} and says how many there are. On the
control port GET returns what has arrived, and POST makes it well or sick; the answer says when, on time.monotonic():

    curl -d '{"do": "hung"}' 127.0.0.1:CONTROL      # and dead, slow, errors (with a share), well

`dead` refuses connections, `hung` accepts them and answers nothing at all, `errors` answers a share of the calls with
HTTP 500, `slow` takes `times` as long.
"""
import argparse
import asyncio
import hashlib
import json
import pathlib
import resource
import socket
import sys
import time

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "test/support"))
from failure.attempts import RefusedAttempts  # noqa: E402
from fake_answers import write_response  # noqa: E402
from fake_upstream import read_request  # noqa: E402

TOOL = "stock"
PARTS_A_TRIAL = 1_000_000  # two trials never ask for the same part, and yet for each the same calls fail
MODES = ("well", "dead", "hung", "errors", "slow")
DEFINITION = {
    "name": TOOL,
    "description": "How many pieces of a part are in stock.",
    "inputSchema": {"type": "object", "properties": {"part": {"type": "integer"}}, "required": ["part"]},
    "annotations": {"readOnlyHint": True},
}


def drawn(*words):
    """A number from 0 up to 1 that depends on the words alone."""
    return int.from_bytes(hashlib.blake2b(repr(words).encode(), digest_size=6).digest(), "big") / 2**48


def answer_to(part):
    """What a well server says; the benchmark checks each answer against it."""
    return f"part {part}: {drawn('stock', part) * 1000:.0f} in stock"


def lift_descriptor_limit():
    """A hung server holds every call that its callers wait for."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class SickServer:
    def __init__(self, port, latency):
        # Bound and never listening: while the server is dead its port refuses, and nobody else can get it.
        self.keeper = socket.socket()
        self.keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.keeper.bind(("127.0.0.1", port))
        self.port = self.keeper.getsockname()[1]
        self.latency = latency
        self.fault = {"do": "well"}
        self.listener = None
        self.refused = None  # counts connection attempts while dead
        self.links = set()  # open connections
        self.arrivals = []  # (when, part or None): calls, and None for a handshake

    async def listen(self):
        self.listener = await asyncio.start_server(self.serve, "127.0.0.1", self.port, reuse_port=True, backlog=4096)

    async def fall(self, fault):
        """Well or sick from the moment that is returned."""
        if fault.get("do") not in MODES:
            raise ValueError(f"no such fault: {fault.get('do')}; there are {', '.join(MODES)}")
        before, self.fault = self.fault["do"], fault
        at = time.monotonic()
        if fault["do"] == "dead":
            if self.refused is None:
                self.refused = RefusedAttempts(self.port)
            self.refused.watch()
            self.listener.close()
            self.cut()
        elif before == "dead":
            self.refused.rest()
            await self.listen()
        elif before == "hung":
            self.cut()  # what hangs goes with the process that hung
        return at

    def cut(self):
        for writer in self.links:
            writer.transport.abort()

    def noted(self):
        return {
            "arrivals": self.arrivals,
            "refused": self.refused.seen() if self.refused else [],
            "sees_refused": self.refused is None or self.refused.works,
        }

    async def serve(self, reader, writer):
        self.links.add(writer)
        try:
            while (request := await read_request(reader)) is not None:
                if not await self.answer(*request, writer):
                    await reader.read()  # until the peer gives up
                    break
        except (ConnectionError, asyncio.IncompleteReadError, ValueError, KeyError):
            pass  # the peer went away, or talks nonsense: both end the connection
        finally:
            self.links.discard(writer)
            writer.close()

    async def answer(self, verb, _headers, body, writer):
        """False: this server says nothing more."""
        message = json.loads(body) if verb == "POST" else {}
        method, parameters = message.get("method"), message.get("params") or {}
        part = (parameters.get("arguments") or {}).get("part") if method == "tools/call" else None
        if method in ("tools/call", "initialize"):
            self.arrivals.append((time.monotonic(), part))
        fault = self.fault
        if fault["do"] == "hung":
            return False
        if verb != "POST":
            await write_response(writer, 200 if verb == "DELETE" else 405, b"", None)
        elif "id" not in message:
            await write_response(writer, 202, b"", None)
        elif method == "tools/call" and not await self.work(fault, part):
            await write_response(writer, 500, b"out of order", "text/plain")
        else:
            said = {"jsonrpc": "2.0", "id": message["id"], **self.response(method, parameters, part)}
            await write_response(writer, 200, json.dumps(said).encode(), "application/json")
        return True

    async def work(self, fault, part):
        """Takes the time of a call; whether it succeeds."""
        await asyncio.sleep(self.latency * (fault.get("times", 10) if fault["do"] == "slow" else 1))
        return fault["do"] != "errors" or drawn("error", fault.get("seed", 0), part % PARTS_A_TRIAL) >= fault.get("share", 0.3)

    @staticmethod
    def response(method, parameters, part):
        if method == "initialize":
            return {"result": {"protocolVersion": parameters["protocolVersion"], "capabilities": {"tools": {}},
                               "serverInfo": {"name": "sick-server", "version": "1"}}}
        if method == "tools/list":
            return {"result": {"tools": [DEFINITION]}}
        if method == "tools/call":
            return {"result": {"content": [{"type": "text", "text": answer_to(part)}]}}
        if method == "ping":
            return {"result": {}}
        return {"error": {"code": -32601, "message": "Method not found"}}

    async def control(self, reader, writer):
        try:
            while (request := await read_request(reader)) is not None:
                verb, _, body = request
                try:
                    status, said = 200, {"at": await self.fall(json.loads(body))} if verb == "POST" else self.noted()
                except ValueError as error:
                    status, said = 400, {"error": str(error)}
                await write_response(writer, status, json.dumps(said).encode(), "application/json")
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--port", type=int, default=0, help="of the tool server (default: any that is free)")
    options.add_argument("--latency", type=float, default=0.02, help="seconds that a call takes (default 0.02)")
    chosen = options.parse_args()
    lift_descriptor_limit()
    server = SickServer(chosen.port, chosen.latency)
    await server.listen()
    control = await asyncio.start_server(server.control, "127.0.0.1", 0)
    print(json.dumps({"port": server.port, "control": control.sockets[0].getsockname()[1]}), flush=True)
    # The parent's end of stdin is how this process learns that the run is over, however it ended.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
