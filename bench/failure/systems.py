"""What stands between the agents and the sick tool: Switchgear, nginx, nothing, or a gateway that runs already."""
import asyncio
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
from dataclasses import dataclass

from proxies import BUILD, Processes, accepts, answers_ok, free_port, nginx_config, wait_until

from failure.client import Client
from failure.sick_server import TOOL, answer_to
from failure.trial import Server

PROGRAM = pathlib.Path(os.environ.get("SWITCHGEAR_BINARY", BUILD / "switchgear")).absolute()
SERVER = pathlib.Path(__file__).with_name("sick_server.py")

# What is the same in every run.
GATEWAY = """
listen: 127.0.0.1:{port}
admin: 127.0.0.1:{admin}
names: plain
log: error
drain: 0s
upstreams:
  sick: {{url: "http://127.0.0.1:{server}/mcp"}}
"""


@dataclass
class Access:
    """Where and how a client calls the tool."""

    name: str
    url: str
    tool: str = TOOL
    headers: tuple = ()
    stand_in: str | None = None
    warm_up: float = 20  # seconds within which it must work


def start_server(processes, latency, port=0):
    """(port, Server)."""
    process = processes.start(sys.executable, SERVER, "--port", port, "--latency", latency, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    said = process.stdout.readline()
    if not said:
        raise SystemExit("bench: the sick server did not start; is its port free?")
    ports = json.loads(said)
    return ports["port"], Server(ports["control"])


def start_gateway(processes, server, policy):
    """The port of a Switchgear before the server. `policy`: YAML of its breaker and tools."""
    port, admin = free_port(), free_port()
    config = processes.folder / f"gateway-{port}.yaml"
    config.write_text(GATEWAY.format(port=port, admin=admin, server=server) + policy)
    process = processes.start(PROGRAM, "serve", config)
    wait_until(lambda: process.poll() is not None or answers_ok(f"http://127.0.0.1:{admin}/readyz"), "the gateway")
    if process.poll() is not None:
        raise SystemExit(f"bench: {PROGRAM} ended with {process.returncode}")
    return port


def start_nginx(processes, server):
    port = free_port()
    folder = processes.folder / f"nginx-{port}"
    folder.mkdir()
    (folder / "nginx.conf").write_text(nginx_config(folder, port, server))
    processes.start("nginx", "-c", folder / "nginx.conf", "-p", folder)
    wait_until(lambda: accepts(port), "nginx")
    return port


class Ours:
    """`kind`: switchgear, nginx or direct; with a server, and a process, of its own for each trial."""

    def __init__(self, kind, folder, policy=""):
        self.kind, self.folder, self.policy = kind, folder, policy
        self.name = {"switchgear": "Switchgear", "nginx": "nginx", "direct": "direct"}[kind]

    @contextlib.asynccontextmanager
    async def opened(self, latency):
        """(Access, Server)"""
        with Processes(self.folder) as processes:
            yield await asyncio.to_thread(self._start, processes, latency)

    def _start(self, processes, latency):
        port, server = start_server(processes, latency)
        if self.kind == "switchgear":
            port = start_gateway(processes, port, self.policy)
        elif self.kind == "nginx":
            port = start_nginx(processes, port)
        return Access(self.name, f"http://127.0.0.1:{port}/mcp"), server


class Theirs:
    """A gateway that somebody else runs, with one server behind it for the whole run."""

    name = "gateway"

    def __init__(self, processes, url, tool, server_port, latency, headers, stand_in):
        self.access = Access(self.name, url, tool, tuple(headers), stand_in, warm_up=120)
        self.port, self.server = start_server(processes, latency, server_port)

    @contextlib.asynccontextmanager
    async def opened(self, _latency):
        yield self.access, self.server

    async def wait(self, limit=180):
        """Until the gateway has the tool."""
        print(f"The sick server is http://127.0.0.1:{self.port}/mcp with the tool `{TOOL}`. Waiting until "
              f"{self.access.url} lists it as `{self.access.tool}`; start or restart that gateway now.", file=sys.stderr)
        end, problem = time.monotonic() + limit, ""
        while time.monotonic() < end:
            client = Client(self.access.url, self.access.tool, answer_to, 5, self.access.headers)
            try:
                async with asyncio.timeout(5):
                    await client.open()
                    found = await client.tools()
                if self.access.tool in found:
                    return
                problem = f"it lists {', '.join(found) or 'no tool'}"
            except (OSError, ValueError, asyncio.IncompleteReadError, TimeoutError) as error:
                problem = str(error) or type(error).__name__
            finally:
                client.close()
            await asyncio.sleep(1)
        raise SystemExit(f"bench: {self.access.url} has no `{self.access.tool}` after {limit} s: {problem}")
