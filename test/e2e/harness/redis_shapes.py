"""Redis in its larger shapes: a primary and a replica under Sentinel, and a cluster of three."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.process import free_port
from harness.redis import RedisServer
from harness.waiting import until


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

    def exchange_roles(self) -> None:
        """A failover that ends no connection of a client, which a sentinel's own does: the old primary goes on, read-only."""
        before, after = self.leader(), self.follower()
        after.ask("REPLICAOF", "NO", "ONE")
        self.sentinel.ask("SENTINEL", "REMOVE", self.service)
        self.sentinel.ask("SENTINEL", "MONITOR", self.service, "127.0.0.1", after.port, 1)
        before.ask("REPLICAOF", "127.0.0.1", after.port)

    def follower(self) -> RedisServer:
        return self.replica if self.leader() is self.primary else self.primary

    def leader(self) -> RedisServer:
        return self.primary if self.sentinel.primary_port() == self.primary.port else self.replica

    def kill(self) -> None:
        for server in (self.sentinel, self.replica, self.primary):
            server.kill()


class RedisCluster:
    """Three primaries without replicas; hash slots in thirds. Two of them serve their slots without the third."""

    def __init__(self, folder: Path):
        self.nodes: list[RedisServer] = []
        self.names: list[bytes] = []  # the ids that the nodes gave themselves
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
        self.wait_ok()
        self.names = [node.ask("CLUSTER", "MYID") for node in self.nodes]
        return self

    def wait_ok(self, limit: float = 20.0) -> None:
        until(lambda: all(self.state(node) == "ok" for node in self.nodes), limit, "the cluster is ok")

    @staticmethod
    def state(node: RedisServer) -> str:
        lines = node.ask("CLUSTER", "INFO").decode().split("\r\n")
        return next(line.split(":")[1] for line in lines if line.startswith("cluster_state"))

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def owner(self, key: str) -> RedisServer:
        """The node whose slot the key is in; by its name, since the port that it announces may be a proxy's."""
        asked = next(node for node in self.nodes if node.process is not None)
        slot = asked.ask("CLUSTER", "KEYSLOT", key)
        for first, last, primary, *_ in asked.ask("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return self.nodes[self.names.index(primary[2])]
        raise AssertionError(f"nobody owns slot {slot}")

    @contextmanager
    def moving(self, key: str, to: RedisServer) -> Iterator[None]:
        """Inside, the key's slot is on its way: its keys are at `to` and its owner answers ASK. After it, MOVED."""
        slot = self.nodes[0].ask("CLUSTER", "KEYSLOT", key)
        source = self.owner(key)
        source_id, target_id = (node.ask("CLUSTER", "MYID").decode() for node in (source, to))
        to.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source_id)
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
        while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 100):
            source.ask("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *keys)
        yield
        for node in self.nodes:
            node.ask("CLUSTER", "SETSLOT", slot, "NODE", target_id)

    def announce(self, node: RedisServer, port: int) -> None:
        """Tells everybody to find this node at another port: that of a proxy before it."""
        node.options["cluster_announce_port"] = port  # after a restart, too
        node.ask("CONFIG", "SET", "cluster-announce-port", port)
        name = node.ask("CLUSTER", "MYID")

        def known() -> bool:
            rows = [row for each in self.nodes for row in each.ask("CLUSTER", "SLOTS") if row[2][2] == name]
            return len(rows) == len(self.nodes) and all(row[2][1] == port for row in rows)

        until(known, 15, f"every node knows port {port}")

    def kill(self) -> None:
        for node in self.nodes:
            node.kill()
