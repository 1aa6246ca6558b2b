"""The gateway under test, as a process, and what its admin port says."""

import http.client
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from harness.process import REPOSITORY, Process, free_port
from harness.waiting import until

BINARY = Path(os.environ.get("SWITCHGEAR_BINARY", REPOSITORY / "build" / "release" / "switchgear")).absolute()
SANITIZER_REPORTS = (
    "AddressSanitizer",
    "ThreadSanitizer",
    "LeakSanitizer",
    "runtime error:",
    "Assertion",
    "terminate called",
)
STOP_LIMIT = 8.0  # seconds from SIGTERM to the end of the process


class Gateway:
    """`switchgear serve FILE`. `configuration` is a dictionary (written as YAML's JSON subset), text, or a path."""

    def __init__(
        self, configuration, folder: Path, environment: dict | None = None, name: str = "gateway", arguments=()
    ):
        self.folder = folder
        self.name = name
        self.port = free_port()
        self.admin_port = free_port()
        self.environment = environment or {}
        self.arguments = list(arguments)
        self.path = self._written(configuration)
        self.process: Process | None = None

    def _written(self, configuration) -> Path:
        if isinstance(configuration, Path):
            return configuration
        path = self.folder / f"{self.name}.yaml"
        path.write_text(configuration if isinstance(configuration, str) else json.dumps(configuration, indent=1))
        return path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def pid(self) -> int:
        return self.process.pid

    def start(self, wait: bool = True) -> "Gateway":
        command = [BINARY, "serve", self.path]
        command += ["--listen", f"127.0.0.1:{self.port}", "--admin", f"127.0.0.1:{self.admin_port}", *self.arguments]
        self.process = Process(command, self.folder, self.name, self.environment)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, limit: float = 30.0) -> None:
        """Until /readyz says 200: configuration loaded, catalogue tried."""

        def ready() -> bool:
            assert self.process.running, (
                f"the gateway ended with {self.process.child.returncode}: {self.process.stderr}"
            )
            return self.probe("/readyz") == 200

        until(ready, limit, "/readyz of the gateway is 200")

    def probe(self, path: str) -> int | None:
        """The status of an admin path, None if nobody answers."""
        try:
            return self.admin(path)[0]
        except OSError:
            return None

    def admin(self, path: str, verb: str = "GET", headers: dict | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=5)
        try:
            connection.request(verb, path, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def readiness(self) -> dict:
        return json.loads(self.admin("/readyz")[1])

    def circuits(self) -> dict:
        status, text = self.admin("/api/circuits")
        assert status == 200, text
        return json.loads(text)

    def circuit(self, name: str, kind: str = "tool") -> dict | None:
        """One breaker; an idle one may not have been made yet."""
        wanted = {name, f"server:{name}"} if kind == "server" else {name}
        for circuit in self.circuits()["circuits"]:
            if circuit["name"] in wanted and circuit["kind"] == kind:
                return circuit
        return None

    def state(self, name: str, kind: str = "tool") -> str:
        circuit = self.circuit(name, kind)
        return circuit["state"] if circuit else "closed"

    def upstream(self, alias: str) -> dict:
        return next(upstream for upstream in self.circuits()["upstreams"] if upstream["alias"] == alias)

    def wait_upstream(self, alias: str, state: str, limit: float = 15.0) -> dict:
        until(lambda: self.upstream(alias)["state"] == state, limit, f"upstream {alias} is {state}")
        return self.upstream(alias)

    def metrics(self) -> str:
        return self.admin("/metrics")[1]

    def stop(self) -> float:
        """SIGTERM; asserts an end in time with exit code 0 and nothing alarming said. Returns the seconds it took."""
        started = time.monotonic()
        if self.process is None:
            return 0.0
        assert self.process.running, (
            f"the gateway ended early with {self.process.child.returncode}: {self.process.stderr}"
        )
        self.process.signal(signal.SIGTERM)
        try:
            code = self.process.child.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(
                f"the gateway was still there {STOP_LIMIT} s after SIGTERM: {self.process.stderr}"
            ) from None
        took = time.monotonic() - started
        process, self.process = self.process, None
        for report in SANITIZER_REPORTS:
            assert report not in process.stderr, process.stderr
        assert code == 0, f"exit code {code}: {process.stderr}"
        return took

    def abandon(self) -> None:
        """Ends it without any check, for a test that has failed already."""
        if self.process is not None:
            self.process.kill()
            self.process = None
