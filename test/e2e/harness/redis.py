"""A real Redis server for a test, on a free port, ended by pid."""

import signal
import subprocess
import sys
from pathlib import Path

from harness.process import SUPPORT, Process, free_port
from harness.waiting import until

sys.path.insert(0, str(SUPPORT))
from resp import RedisError, Resp  # noqa: E402  (a program in bench/ shares it)


class RedisServer:
    """`redis-server` with nothing on disk. Options are lines of its configuration: maxmemory="2mb"."""

    def __init__(self, folder: Path, name: str = "redis", port: int | None = None, **options):
        self.folder = folder
        self.name = name
        self.port = port or free_port()
        self.options = {"save": '""', "appendonly": "no", "bind": "127.0.0.1", **options}
        self.environment: dict[str, str] = {}
        self.process: Process | None = None
        self.password: str | None = None
        self._connection: Resp | None = None

    @property
    def program(self) -> list:
        return ["redis-server"]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def configuration(self) -> str:
        lines = {"port": self.port, "dir": self.folder, **self.options}
        return "".join(f"{name.replace('_', '-')} {value}\n" for name, value in lines.items())

    def start(self) -> "RedisServer":
        path = self.folder / f"{self.name}.conf"
        path.write_text(self.configuration())
        self.process = Process([*self.program, path], self.folder, self.name, self.environment)
        until(self.answers, 15, f"{self.name} answers")
        return self

    def answers(self) -> bool:
        assert self.process.running, f"{self.name} ended: {self.process.stdout}"
        try:
            with Resp(self.port, timeout=1) as connection:
                connection.ask("PING")
            return True
        except RedisError as error:
            return str(error).startswith(("NOAUTH", "LOADING", "MASTERDOWN"))
        except OSError:
            return "tls-port" in self.configuration() and "Ready to accept" in self.process.stdout

    def ask(self, *words):
        """One command on a connection of the test's own, made anew when the server has ended it."""
        if self._connection is not None:
            try:
                return self._connection.ask(*words)
            except ConnectionError:
                self._connection.close()
                self._connection = None
        self._connection = Resp(self.port)
        if self.password:
            self._connection.ask("AUTH", self.password)
        return self._connection.ask(*words)

    def cli(self, *words: str, tls: list) -> str:
        """One command through redis-cli, which speaks TLS; `tls` are its options."""
        command = ["redis-cli", "-h", "127.0.0.1", "-p", str(self.port), "--tls", *map(str, tls), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def info(self, field: str) -> str:
        lines = self.ask("INFO", "everything").decode().split("\r\n")
        return next(line.split(":", 1)[1] for line in lines if line.startswith(f"{field}:"))

    def keys(self, pattern: str = "*") -> list[str]:
        return sorted(key.decode() for key in self.ask("KEYS", pattern))

    def asked(self, command: str) -> int:
        """How often a command came, refused ones included. A subcommand is written as "cluster|slots"."""
        for line in self.ask("INFO", "commandstats").decode().split("\r\n"):
            if line.startswith(f"cmdstat_{command}:"):
                fields = dict(field.split("=") for field in line.split(":", 1)[1].split(","))
                return int(fields["calls"]) + int(fields["rejected_calls"])
        return 0

    def errors(self, kind: str) -> int:
        """How often it answered with this error: READONLY, MOVED, ..."""
        for line in self.ask("INFO", "errorstats").decode().split("\r\n"):
            if line.startswith(f"errorstat_{kind}:"):
                return int(line.split("=")[1])
        return 0

    def pause(self) -> None:
        self.process.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self.process is not None:
            self.process.kill()
            self.process = None
