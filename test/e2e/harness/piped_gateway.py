"""`switchgear stdio` as a client sees it that launched it: lines in, lines out."""

import json
import os
import queue
import select
import signal
import subprocess
import threading
from pathlib import Path

from harness.gateway import BINARY, SANITIZER_REPORTS

MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class PipedGateway:
    """Every line on its stdout must be one JSON message: anything else fails the test that reads it."""

    def __init__(self, configuration: dict, folder: Path, arguments=()):
        self.path = folder / "piped.yaml"
        self.path.write_text(json.dumps(configuration))
        self.stderr_path = folder / "piped.stderr"
        self.arguments = [str(word) for word in arguments]
        self.raw = b""
        self.reading_ends = False
        self.lines: queue.Queue = queue.Queue()

    @property
    def command(self) -> list[str]:
        return [str(BINARY), "stdio", str(self.path), *self.arguments]

    def __enter__(self) -> "PipedGateway":
        with open(self.stderr_path, "ab") as stderr:
            self.child = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=0
            )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        return self

    def __exit__(self, *_) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait(10)
        self.reading_ends = True
        self.reader.join()
        for pipe in (self.child.stdin, self.child.stdout):
            pipe.close()
        found = [mark for mark in SANITIZER_REPORTS if mark in self.stderr]
        assert not found, self.stderr

    def _read(self) -> None:
        pending = b""
        while not self.reading_ends:
            if not select.select([self.child.stdout], [], [], 0.05)[0]:
                continue
            piece = os.read(self.child.stdout.fileno(), 65536)
            if not piece:
                break
            self.raw += piece
            *lines, pending = (pending + piece).split(b"\n")
            for line in lines:
                self.lines.put(line)
        self.lines.put(None)

    def stop_reading(self) -> None:
        """Closes our end of its stdout."""
        self.reading_ends = True
        self.reader.join()
        self.child.stdout.close()

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text(errors="replace")

    def send(self, *messages: dict | bytes) -> None:
        for message in messages:
            self.child.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

    def receive(self, limit: float = 15.0) -> dict | None:
        """The next message; None at the end of the output."""
        line = self.lines.get(timeout=limit)
        return None if line is None else json.loads(line)

    def ask(self, id, method: str, params: dict | None = None, before: list | None = None) -> dict:
        """The response; what came before it goes to `before`."""
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})
        while True:
            message = self.receive()
            assert message is not None, self.stderr
            if message.get("id") == id and "method" not in message:
                return message
            (before if before is not None else []).append(message)

    def initialize(self, version: str = "2025-11-25", capabilities: dict | None = None) -> dict:
        information = {"name": "piped", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": information}
        answer = self.ask("init", "initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def ended(self, limit: float = 8.0) -> int:
        return self.child.wait(limit)

    def close_input(self) -> None:
        self.child.stdin.close()

    def terminate(self) -> None:
        self.child.send_signal(signal.SIGTERM)

    def listening_sockets(self) -> int:
        own = {os.readlink(entry) for entry in Path(f"/proc/{self.child.pid}/fd").iterdir() if entry.is_symlink()}
        rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return sum(f"socket:[{row[9]}]" in own for row in rows if row[3] == "0A")
