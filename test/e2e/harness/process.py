"""Child processes of a test: started with their output in files, ended by pid, never left behind."""

import os
import random
import signal
import socket
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
SUPPORT = REPOSITORY / "test" / "support"
PORTS_A_BLOCK = 50
_ports: list[int] = []
_claims: list[socket.socket] = []


def free_port() -> int:
    """A loopback port that nobody listens on: never the same twice in one run, nor in another at the same time, and none
    that the kernel would give to an outgoing connection meanwhile."""
    while True:
        if not _ports:
            _ports.extend(_claim_block())
        port = _ports.pop()
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def _claim_block() -> list[int]:
    """Ports of this process alone. The claim is a name that the kernel gives to one socket at a time, and frees with it."""
    ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    first, last = (10_000, ephemeral) if ephemeral > 15_000 else (ephemeral, 65_000)
    blocks = list(range(first, last - PORTS_A_BLOCK, PORTS_A_BLOCK))
    random.shuffle(blocks)
    for block in blocks:
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0switchgear-test-ports-{block}")
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        return list(range(block, block + PORTS_A_BLOCK))
    raise RuntimeError("every block of ports is claimed")


def children_of(pid: int) -> set[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {int(child) for task in tasks for child in (task / "children").read_text().split()}


def tool_servers_of(pid: int) -> set[int]:
    """The children of a gateway, without the guard that outlives it for their sake."""
    return {child for child in children_of(pid) if b"child-guard" not in _command_line(child)}


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


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
