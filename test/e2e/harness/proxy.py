"""The bad network between a gateway and Redis."""

import http.client
import json
import sys
from pathlib import Path

from harness.process import SUPPORT, Process
from harness.waiting import until


class TcpProxy:
    """A handle on test/support/tcp_proxy.py, which explains the faults."""

    def __init__(self, folder: Path, to_port: int, name: str = "proxy"):
        self.folder = folder
        self.name = name
        self.to_port = to_port
        self.process: Process | None = None

    def start(self) -> "TcpProxy":
        command = [sys.executable, SUPPORT / "tcp_proxy.py", "--to", f"127.0.0.1:{self.to_port}"]
        self.process = Process(command, self.folder, self.name, piped=True)
        ports = json.loads(until(lambda: self.process.stdout, 15, f"{self.name} says its ports"))
        self.port, self.control_port = ports["port"], ports["control"]
        return self

    def _control(self, verb: str, script: dict | None = None) -> dict:
        connection = http.client.HTTPConnection("127.0.0.1", self.control_port, timeout=10)
        try:
            connection.request(verb, "/", json.dumps(script) if script is not None else None)
            response = connection.getresponse()
            text = response.read()
            assert response.status == 200, text
            return json.loads(text)
        finally:
            connection.close()

    def do(self, **script) -> None:
        self._control("POST", script)

    def heal(self) -> None:
        """No fault any more. What a stall held back passes on."""
        well = {"delay": 0, "stall": False, "drop": False, "stall_after": None}
        self.do(up=well, down=well, refuse=False)

    def state(self) -> dict:
        return self._control("GET")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process = None
