"""The project's own tool server for both eras, test/e2e/node/fixture.mjs."""

import json
import platform
from pathlib import Path

import pytest

from harness.process import Process
from harness.servers import NODE_FOLDER
from harness.waiting import until

# The packages of the modern era want a newer node than Debian's, so one comes with the packages.
ARCHITECTURE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
NODE = NODE_FOLDER / "node_modules" / f"node-linux-{ARCHITECTURE}" / "bin" / "node"
PROGRAM = NODE_FOLDER / "fixture.mjs"
needs_packages = pytest.mark.skipif(
    not NODE.exists(), reason="NOT TESTED in both eras: run `npm ci` in test/e2e/node (tools/setup.sh does)"
)


def fixture_command(legacy_only: bool = False) -> list[str]:
    """The command that serves over stdio."""
    return [str(NODE), str(PROGRAM), "--stdio"] + (["--legacy-only"] if legacy_only else [])


class FixtureServer:
    """The server over Streamable HTTP. `legacy_only`: one that does not know the modern era."""

    def __init__(self, folder: Path, name: str = "fixture", legacy_only: bool = False):
        self.folder = folder
        self.name = name
        self.legacy_only = legacy_only
        self.port = 0
        self.process: Process | None = None

    def start(self) -> "FixtureServer":
        (self.folder / f"{self.name}.stdout").unlink(missing_ok=True)
        # Started again, it stays where it was.
        command = [NODE, PROGRAM, "--port", self.port] + (["--legacy-only"] if self.legacy_only else [])
        self.process = Process(command, self.folder, self.name)
        line = until(self._said, 20, f"{self.name} says its port")
        self.port = json.loads(line)["port"]
        return self

    def _said(self) -> str:
        assert self.process.running, f"{self.name} ended: {self.process.stderr}"
        return self.process.stdout

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process = None
