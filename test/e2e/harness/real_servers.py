"""Servers that people run, each with something to ask of it: over HTTP, over stdio, over HTTP by way of an adapter."""

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.fixture import NODE, PROGRAM, fixture_command
from harness.gateway import Gateway
from harness.process import Process, free_port, tool_servers_of
from harness.servers import EVERYTHING, NODE_FOLDER
from harness.waiting import until

PACKAGES = NODE_FOLDER / "node_modules"
PRELOAD = NODE_FOLDER / "preload.cjs"  # keeps on loopback what would listen on every interface
FILESYSTEM = PACKAGES / "@modelcontextprotocol" / "server-filesystem" / "dist" / "index.js"
MEMORY = PACKAGES / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"
FASTMCP = NODE_FOLDER / "fastmcp_server.mjs"
MCP_PROXY = PACKAGES / "mcp-proxy" / "dist" / "bin" / "mcp-proxy.mjs"
SUPERGATEWAY = PACKAGES / "supergateway" / "dist" / "index.js"
START_LIMIT = 20  # seconds
FOLDER = "<folder>"  # in a deed: the folder of the test

ENTITY = {"type": "entity", "name": "Ångström", "entityType": "unit", "observations": ["1e-10 m"]}


def call(name: str, /, **arguments) -> dict:
    return {"do": "tools/call", "name": name, "arguments": arguments}


def read(uri: str) -> dict:
    return {"do": "resources/read", "uri": uri}


LISTS = {
    "tools": [{"do": "tools/list"}],
    "prompts": [{"do": "prompts/list"}],
    "resources": [{"do": "resources/list"}, {"do": "resources/templates/list"}],
}


@dataclass(frozen=True)
class Program:
    """What one program is like, however it is reached."""

    command: Callable[[Path], list[str]] | None  # over stdio, with a folder of the test's own
    offers: tuple[str, ...]
    works: dict  # a deed that succeeds, by which it is known that the server is there
    deeds: list[dict] = field(default_factory=list)


def filesystem_command(folder: Path) -> list[str]:
    root = folder / "files"
    root.mkdir(exist_ok=True)
    (root / "hello.txt").write_text("Grüße\n")
    return [str(NODE), str(FILESYSTEM), str(root)]


def memory_command(folder: Path) -> list[str]:
    memory = folder / "memory.jsonl"
    memory.write_text(json.dumps(ENTITY, ensure_ascii=False) + "\n")
    return ["env", f"MEMORY_FILE_PATH={memory}", str(NODE), str(MEMORY)]


PROGRAMS = {
    "everything": Program(
        lambda folder: [str(NODE), str(EVERYTHING), "stdio"],
        ("tools", "prompts", "resources"),
        call("echo", message="grüße"),
        [
            call("get-sum", a="not", b="numbers"),
            call("get-structured-content", location="Chicago"),
            call("get-resource-links", count=2),
            {**call("trigger-long-running-operation", duration=0.2, steps=2), "progress": True},
            {"do": "prompts/get", "name": "args-prompt", "arguments": {"city": "Köln", "state": "NRW"}},
            read("demo://resource/static/document/features.md"),
        ],
    ),
    "filesystem": Program(
        filesystem_command,
        ("tools",),
        call("list_allowed_directories"),
        [call("read_text_file", path=f"{FOLDER}/files/hello.txt"), call("read_text_file", path=f"{FOLDER}/elsewhere")],
    ),
    "memory": Program(
        memory_command,
        ("tools",),
        call("read_graph"),
        [call("search_nodes", query="unit"), call("open_nodes", names="not a list")],
    ),
    "fastmcp": Program(
        None,
        ("tools", "prompts", "resources"),
        call("greet", name="Ada"),
        [
            {**call("count", to=3), "progress": True},
            call("refuse"),
            {"do": "prompts/get", "name": "ask-politely", "arguments": {"question": "Why?"}},
            read("notes://today"),
        ],
    ),
    "fixture": Program(
        lambda folder: fixture_command(),
        ("tools", "prompts", "resources"),
        call("test_simple_text"),
        [
            call("test_structured_content"),
            call("test_error_handling"),
            {**call("test_tool_with_progress"), "progress": True},
            {"do": "prompts/get", "name": "test_simple_prompt"},
            read("test://template/7/data"),
        ],
    ),
    "legacy-fixture": Program(
        lambda folder: fixture_command(legacy_only=True),
        ("tools", "prompts", "resources"),
        call("test_simple_text"),
        [call("test_error_handling"), read("test://static-binary")],
    ),
}

# (program, way): how to serve it on a port, and the path there. A way that is not here is stdio.
HTTP = {
    ("everything", "http"): ("/mcp", lambda port, command: ["env", f"PORT={port}", *own(EVERYTHING, "streamableHttp")]),
    ("everything", "sse"): ("/sse", lambda port, command: ["env", f"PORT={port}", *own(EVERYTHING, "sse")]),
    ("fastmcp", "http"): ("/mcp", lambda port, command: own(FASTMCP, port)),
    ("fixture", "http"): ("/mcp", lambda port, command: own(PROGRAM, "--port", port)),
    ("legacy-fixture", "http"): ("/mcp", lambda port, command: own(PROGRAM, "--port", port, "--legacy-only")),
}
ADAPTERS = {
    "mcp-proxy": ("/mcp", lambda port, command: own(MCP_PROXY, "--host", "127.0.0.1", "--port", port, "--", *command)),
    "supergateway": ("/sse", lambda port, command: own(SUPERGATEWAY, "--stdio", " ".join(command), "--port", port)),
}


def own(*words) -> list:
    return [NODE, "--require", PRELOAD, *words]


class RealServer:
    """A program, reached in one way: http, sse, stdio, or an adapter before its stdio, by name."""

    def __init__(self, program: str, way: str, folder: Path):
        self.name = f"{program}-{way}"
        self.program = PROGRAMS[program]
        self.folder = folder
        self.command = self.program.command(folder) if self.program.command else []
        self.path, self.serving = HTTP.get((program, way)) or ADAPTERS.get(way) or ("", None)
        self.port = free_port() if self.serving else 0
        self.process: Process | None = None

    def all_deeds(self) -> list[dict]:
        """Lists everything, does what works first, then the rest."""
        listings = [listing for kind in self.program.offers for listing in LISTS[kind]]
        deeds = [*listings, self.program.works, *self.program.deeds]
        return json.loads(json.dumps(deeds).replace(FOLDER, str(self.folder)))

    @property
    def settings(self) -> dict:
        """Of an upstream, and of a client."""
        if not self.serving:
            return {"command": self.command}
        return {"url": f"http://127.0.0.1:{self.port}{self.path}"}

    def start(self) -> "RealServer":
        if self.serving:
            self.process = Process(self.serving(self.port, self.command), self.folder, self.name)
            until(self._listens, START_LIMIT, f"{self.name} listens")
        return self

    def _listens(self) -> bool:
        assert self.process.running, f"{self.name} ended: {self.process.stderr[-2000:]}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process = None

    def die_behind(self, gateway: Gateway) -> None:
        """Ends it at once. Over stdio it is a child of the gateway's, the only one."""
        if self.serving:
            self.kill()
            return
        children = tool_servers_of(gateway.pid)
        assert len(children) == 1, children
        os.kill(children.pop(), signal.SIGKILL)


@contextmanager
def behind_gateway(servers: dict[str, RealServer], folder: Path, **settings) -> Iterator[Gateway]:
    """A gateway before the servers, by alias. It must end cleanly."""
    upstreams = {alias: server.settings for alias, server in servers.items()}
    gateway = Gateway({"upstreams": upstreams, **settings}, folder)
    try:
        yield gateway.start()
    except BaseException:
        gateway.abandon()
        raise
    gateway.stop()
