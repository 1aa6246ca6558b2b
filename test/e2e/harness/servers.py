"""The tool servers behind the gateway: scripted fakes and the official server-everything."""

import http.client
import json
import signal
import sys
import threading
from pathlib import Path

from harness.process import REPOSITORY, SUPPORT, Process, free_port
from harness.waiting import until

NODE_FOLDER = REPOSITORY / "test" / "e2e" / "node"
EVERYTHING = NODE_FOLDER / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
EVERYTHING_STDIO = ["node", str(EVERYTHING), "stdio"]


class FakeUpstream:
    """A handle on test/support/fake_upstream.py."""

    def __init__(
        self, folder: Path, name: str = "fake", script: dict | None = None, tls: tuple | None = None, port: int = 0
    ):
        self.folder = folder
        self.name = name
        self.script = script or {}
        self.tls = tls
        self.port = port
        self.process: Process | None = None
        self.lock = threading.Lock()  # of the control connection

    def start(self) -> "FakeUpstream":
        command = [
            sys.executable,
            SUPPORT / "fake_upstream.py",
            "--port",
            self.port,
            "--script",
            json.dumps(self.script),
        ]
        if self.tls:
            command += ["--cert", self.tls[0], "--key", self.tls[1]]
        (self.folder / f"{self.name}.stdout").unlink(missing_ok=True)
        self.process = Process(command, self.folder, self.name, piped=True)
        line = until(lambda: self.process.stdout, 15, f"{self.name} says its ports")
        ports = json.loads(line)
        self.port = ports["port"]
        self.connection = http.client.HTTPConnection("127.0.0.1", ports["control"], timeout=10)
        return self

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{'localhost' if self.tls else '127.0.0.1'}:{self.port}/mcp"

    def control(self, **script) -> None:
        """Merges a script: server={...}, calls={...}, forget_sessions=True, clear_journal=True."""
        with self.lock:
            self.connection.request("POST", "/", json.dumps(script))
            response = self.connection.getresponse()
            text = response.read()
        assert response.status == 200, text

    def call(self, tool: str, do: str, **options) -> None:
        """What a tool does from now on."""
        self.control(calls={tool: {"do": do, **options}})

    def state(self) -> dict:
        with self.lock:
            self.connection.request("GET", "/")
            return json.loads(self.connection.getresponse().read())

    def arrived(self, method: str, name: str | None = None) -> list[dict]:
        return [
            entry
            for entry in self.state()["journal"]
            if entry.get("method") == method and (name is None or entry["name"] == name)
        ]

    def pause(self) -> None:
        self.process.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.signal(signal.SIGCONT)

    def kill(self) -> None:
        if self.process is not None:
            self.connection.close()
            self.process.kill()
            self.process = None


class EverythingServer:
    """server-everything over Streamable HTTP, or over HTTP with SSE."""

    def __init__(self, folder: Path, port: int | None = None, sse: bool = False):
        self.folder = folder
        self.sse = sse
        self.port = port or free_port()
        self.process: Process | None = None

    def start(self) -> "EverythingServer":
        # The preload keeps the server on loopback, and makes it run on Node 18.
        command = ["node", "--require", NODE_FOLDER / "preload.cjs", EVERYTHING, "sse" if self.sse else "streamableHttp"]
        self.process = Process(command, self.folder, f"everything-{self.port}", {"PORT": str(self.port)})
        until(self.answers, 20, "server-everything answers")
        return self

    def answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/mcp")
            return connection.getresponse().status == (404 if self.sse else 400)
        except OSError:
            return False
        finally:
            connection.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{'sse' if self.sse else 'mcp'}"

    def pause(self) -> None:
        self.process.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.signal(signal.SIGCONT)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process = None


def stdio_command(script: dict | None = None, journal: Path | None = None) -> list[str]:
    """The command of a scripted child."""
    command = [sys.executable, str(SUPPORT / "fake_stdio.py"), "--script", json.dumps(script or {})]
    return command + (["--journal", str(journal)] if journal else [])
