"""Child processes of a test: started with their output in files, ended by pid, never left behind."""

import os
import signal
import socket
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
SUPPORT = REPOSITORY / "test" / "support"
_given_out: set[int] = set()


def free_port() -> int:
    """A loopback port that nobody listens on, never the same twice in one run."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in _given_out:
            _given_out.add(port)
            return port


class Process:
    """A running program, with what it wrote."""

    def __init__(self, command: list, folder: Path, name: str, environment: dict | None = None, piped: bool = False):
        self.name = name
        self.stdout_path = folder / f"{name}.stdout"
        self.stderr_path = folder / f"{name}.stderr"
        with open(self.stdout_path, "ab") as stdout, open(self.stderr_path, "ab") as stderr:
            self.child = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, **(environment or {})},
            )

    @property
    def pid(self) -> int:
        return self.child.pid

    @property
    def stdout(self) -> str:
        return self.stdout_path.read_text(errors="replace")

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text(errors="replace")

    @property
    def running(self) -> bool:
        return self.child.poll() is None

    def signal(self, which: signal.Signals) -> None:
        self.child.send_signal(which)

    def kill(self) -> None:
        """SIGKILL, and waits until it is gone."""
        if self.running:
            self.child.kill()
        self.child.wait(10)
        if self.child.stdin:
            self.child.stdin.close()

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def cpu_seconds(self) -> float:
        """What all its threads have worked. Finer than the ticks of `stat`, which are 10 ms."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def resident_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
