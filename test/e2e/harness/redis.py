"""Real Redis servers for a test: single, with Sentinel, as a cluster. On free ports, ended by pid."""

import json
import http.client
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
        self.process = Process([*self.program, path], self.folder, self.name)
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

    def info(self, field: str) -> str:
        lines = self.ask("INFO", "everything").decode().split("\r\n")
        return next(line.split(":", 1)[1] for line in lines if line.startswith(f"{field}:"))

    def keys(self, pattern: str = "*") -> list[str]:
        return sorted(key.decode() for key in self.ask("KEYS", pattern))

    def commands(self) -> int:
        return int(self.info("total_commands_processed"))

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


class Sentinel(RedisServer):
    """One sentinel; it rewrites its own file, so that every start begins anew."""

    def __init__(self, folder: Path, primary: RedisServer, service: str, name: str = "sentinel", quorum: int = 1):
        super().__init__(folder, name)
        self.service = service
        self.lines = [
            f"port {self.port}",
            "bind 127.0.0.1",
            f"dir {folder}",
            f"sentinel monitor {service} 127.0.0.1 {primary.port} {quorum}",
            f"sentinel down-after-milliseconds {service} 600",
            f"sentinel failover-timeout {service} 3000",
        ]

    @property
    def program(self) -> list:
        return ["redis-sentinel"]

    def configuration(self) -> str:
        return "\n".join(self.lines) + "\n"

    def primary_port(self) -> int:
        return int(self.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service)[1])

    def fail_over(self) -> None:
        self.ask("SENTINEL", "FAILOVER", self.service)

    def sees_replica(self) -> bool:
        replicas = self.ask("SENTINEL", "REPLICAS", self.service)
        return any(b"disconnected" not in replica[9] for replica in replicas)


class SentinelSet:
    """A primary, a replica, and one sentinel over them."""

    service = "board"

    def __init__(self, folder: Path):
        self.primary = RedisServer(folder, "primary")
        self.replica = RedisServer(folder, "replica", replicaof=f"127.0.0.1 {self.primary.port}")
        self.sentinel = Sentinel(folder, self.primary, self.service)

    def start(self) -> "SentinelSet":
        for server in (self.primary, self.replica):
            server.start()
        until(lambda: self.replica.info("master_link_status") == "up", 15, "the replica follows")
        self.sentinel.start()
        until(self.sentinel.sees_replica, 20, "the sentinel sees the replica")
        return self

    @property
    def url(self) -> str:
        return f"redis+sentinel://127.0.0.1:{self.sentinel.port}/{self.service}"

    def leader(self) -> RedisServer:
        return self.primary if self.sentinel.primary_port() == self.primary.port else self.replica

    def kill(self) -> None:
        for server in (self.sentinel, self.replica, self.primary):
            server.kill()


class RedisCluster:
    """Three primaries without replicas; hash slots in thirds."""

    def __init__(self, folder: Path):
        self.nodes = []
        for number in range(3):
            home = folder / f"node-{number}"
            home.mkdir()
            options = {
                "cluster_enabled": "yes",
                "cluster_node_timeout": 1000,
                "cluster_require_full_coverage": "no",
                # The bus is on the port + 10000 by default, which may not exist.
                "cluster_port": free_port(),
            }
            self.nodes.append(RedisServer(home, f"node-{number}", **options))

    def start(self) -> "RedisCluster":
        for node in self.nodes:
            node.start()
        addresses = [f"127.0.0.1:{node.port}" for node in self.nodes]
        command = ["redis-cli", "--cluster", "create", *addresses, "--cluster-yes"]
        made = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        assert made.returncode == 0, made.stdout + made.stderr
        until(lambda: all(self.state(node) == "ok" for node in self.nodes), 20, "the cluster is ok")
        return self

    @staticmethod
    def state(node: RedisServer) -> str:
        lines = node.ask("CLUSTER", "INFO").decode().split("\r\n")
        return next(line.split(":")[1] for line in lines if line.startswith("cluster_state"))

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def owner(self, key: str) -> RedisServer:
        slot = self.nodes[0].ask("CLUSTER", "KEYSLOT", key)
        for first, last, primary, *_ in self.nodes[0].ask("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return next(node for node in self.nodes if node.port == primary[1])
        raise AssertionError(f"nobody owns slot {slot}")

    def move(self, slot: int, to: RedisServer) -> None:
        """A slot with its keys, while it is in use: ASK, then MOVED."""
        source = next(
            node
            for node in self.nodes
            for first, last, primary, *_ in node.ask("CLUSTER", "SLOTS")
            if first <= slot <= last and primary[1] == node.port
        )
        source_id, target_id = (node.ask("CLUSTER", "MYID").decode() for node in (source, to))
        to.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source_id)
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
        while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 100):
            source.ask("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *keys)
        for node in self.nodes:
            node.ask("CLUSTER", "SETSLOT", slot, "NODE", target_id)

    def kill(self) -> None:
        for node in self.nodes:
            node.kill()


class TcpProxy:
    """A handle on test/support/tcp_proxy.py."""

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
