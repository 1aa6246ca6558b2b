"""A TCP proxy that misbehaves on demand: the bad network between a gateway and Redis.

Runs as a process of its own:

    tcp_proxy.py --to HOST:PORT [--port N] [--script JSON]

It prints one line, {"port": N, "control": N}. On the control port, GET returns what went through and POST merges a
script:

    {"up": {...}, "down": {...}}   each direction, from the client ("up") and to it ("down"), for all connections:
        "delay": 0.2               every byte comes so many seconds later, in order
        "stall": true              nothing passes; what waits is passed on when the stall ends
        "drop": true               what arrives is lost; unlike a stall it never comes
        "drop": 0.3                this share of the pieces that arrive is lost, at random
        "stall_after": 7           so many more bytes pass, then it stalls: frozen in the middle of a reply
    {"refuse": true}               new connections are refused, open ones stay
    {"cut": 0.5}                   once: this share of the open connections ends, at random
    {"cut": 1, "how": "close"}     with FIN; without it with RST
    {"to": "HOST:PORT"}            where new connections go
"""

import argparse
import asyncio
import json
import random
import socket
import struct
import sys
from dataclasses import dataclass, field

CHUNK = 64 * 1024
QUEUED = 256  # chunks that wait in one direction of a connection; then the sender has to


@dataclass
class Direction:
    """What happens to bytes that go one way."""

    delay: float = 0.0
    stall: bool = False
    drop: float = 0.0  # share of the pieces
    stall_after: int | None = None
    passed: int = 0  # bytes
    lost: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def apply(self, script: dict) -> None:
        for name, value in script.items():
            if name not in ("delay", "stall", "drop", "stall_after"):
                raise ValueError(f"no such fault: {name}")
            setattr(self, name, value)
        self.changed.set()
        self.changed = asyncio.Event()

    async def admit(self, wanted: int) -> int:
        """How many bytes of `wanted` may pass now; waits while it is none."""
        while self.stall:
            await self.changed.wait()
        if self.stall_after is None:
            return wanted
        admitted = min(wanted, self.stall_after)
        self.stall_after -= admitted
        if self.stall_after == 0:
            self.stall_after, self.stall = None, True
        return admitted


class Proxy:
    def __init__(self, to: str):
        self.to = to
        self.up = Direction()
        self.down = Direction()
        self.port = 0
        self.server: asyncio.Server | None = None
        self.open: set[asyncio.StreamWriter] = set()  # the clients' ends
        self.accepted = 0

    async def listen(self) -> None:
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port, backlog=1024)
        self.port = self.server.sockets[0].getsockname()[1]

    async def apply(self, script: dict) -> None:
        for name in script:
            if name not in ("up", "down", "refuse", "cut", "how", "to"):
                raise ValueError(f"no such fault: {name}")
        self.to = script.get("to", self.to)
        self.up.apply(script.get("up", {}))
        self.down.apply(script.get("down", {}))
        if "cut" in script:
            self.cut(script["cut"], script.get("how", "reset"))
        if script.get("refuse") is True and self.server:
            self.server.close()  # ends listening alone
            self.server = None
        if script.get("refuse") is False and not self.server:
            await self.listen()

    def cut(self, share: float, how: str) -> None:
        for client in random.sample(sorted(self.open, key=id), round(share * len(self.open))):
            if how == "reset":
                no_linger = struct.pack("ii", 1, 0)
                client.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
            client.transport.abort() if how == "reset" else client.close()

    def state(self) -> dict:
        return {
            "accepted": self.accepted,
            "open": len(self.open),
            "up": {"passed": self.up.passed, "lost": self.up.lost},
            "down": {"passed": self.down.passed, "lost": self.down.lost},
        }

    async def serve(self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        self.accepted += 1
        self.open.add(client)
        host, port = self.to.rsplit(":", 1)
        server = None
        try:
            server_reader, server = await asyncio.open_connection(host, int(port))
            pumps = [
                asyncio.create_task(self.pump(self.up, client_reader, server)),
                asyncio.create_task(self.pump(self.down, server_reader, client)),
            ]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
        except OSError:
            pass  # nobody behind the proxy: the client sees its connection end
        finally:
            self.open.discard(client)
            client.close()
            if server:
                server.close()

    async def pump(self, direction: Direction, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Ends when either side has; then the connection does."""
        waiting: asyncio.Queue = asyncio.Queue(QUEUED)
        passing = asyncio.create_task(self.passing(direction, waiting, writer))
        try:
            while data := await reader.read(CHUNK):
                if random.random() < direction.drop:
                    direction.lost += len(data)
                    continue
                await waiting.put((asyncio.get_running_loop().time(), data))
            await waiting.put((0.0, b""))
            await passing
        except (ConnectionError, TimeoutError):
            pass
        finally:
            passing.cancel()

    async def passing(self, direction: Direction, waiting: asyncio.Queue, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        while True:
            arrived, data = await waiting.get()
            if not data:
                return
            await asyncio.sleep(max(0.0, arrived + direction.delay - loop.time()))
            while data:
                admitted = await direction.admit(len(data))
                writer.write(data[:admitted])
                direction.passed += admitted
                data = data[admitted:]
                await writer.drain()


async def serve_control(proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One HTTP exchange a connection."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lengths = [line.split(":")[1] for line in head.split("\r\n") if line.lower().startswith("content-length:")]
        body = await reader.readexactly(int(lengths[0])) if lengths else b""
        status, answer = "200 OK", proxy.state()
        if head.startswith("POST"):
            try:
                await proxy.apply(json.loads(body))
            except (ValueError, AttributeError) as error:
                status, answer = "400 Bad Request", {"error": str(error)}
        text = json.dumps(answer).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + text)
        await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--to", required=True)
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--script", default="{}")
    options = arguments.parse_args()

    proxy = Proxy(options.to)
    proxy.port = options.port
    await proxy.listen()
    await proxy.apply(json.loads(options.script))
    control = await asyncio.start_server(lambda reader, writer: serve_control(proxy, reader, writer), "127.0.0.1", 0)
    print(json.dumps({"port": proxy.port, "control": control.sockets[0].getsockname()[1]}), flush=True)
    # The parent's end of stdin is how this process learns that the test run is over, however it ended.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
