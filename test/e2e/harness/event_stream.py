"""An answer that is read as it comes: each event with the moment of its arrival, each byte kept."""

import http.client
import json
import socket
import threading
import time
from dataclasses import dataclass

from harness.mcp_client import McpClient
from harness.waiting import until


@dataclass
class Event:
    """What stood between two empty lines; `at` on time.monotonic()."""

    at: float
    lines: list[str]

    def values(self, name: str) -> list[str]:
        return [line.partition(":")[2].removeprefix(" ") for line in self.lines if line.split(":")[0] == name]

    @property
    def is_comment(self) -> bool:
        return all(line.startswith(":") for line in self.lines)

    @property
    def message(self) -> dict | None:
        data = "\n".join(self.values("data"))
        return json.loads(data) if data else None


class EventStream:
    """One request of a client on a connection of its own, read by a thread until either side ends it."""

    def __init__(self, client: McpClient, verb: str = "GET", message: dict | None = None, headers: dict | None = None):
        accept = {"Accept": "text/event-stream"} if verb == "GET" else {}
        fields = {**client.headers(), **accept, **(headers or {})}
        fields = {name: value for name, value in fields.items() if value is not None}
        self.sent_at = time.monotonic()
        self.connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
        body = json.dumps(message).encode() if message is not None else None
        self.connection.request(verb, client.path, body, fields)
        self.socket = self.connection.sock  # `connection` lets go of it when the answer ends with the connection
        self.events: list[Event] = []
        self.body = b""
        self.status: int | None = None
        self.headed_at = 0.0
        self.headers: dict[str, str] = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._read, name="event stream", daemon=True)
        self.thread.start()

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it has ended by itself
        self.thread.join(10)
        self.connection.close()

    def _read(self) -> None:
        try:
            response = self.connection.getresponse()
            self.headers = {name.lower(): value for name, value in response.getheaders()}
            self.headed_at = time.monotonic()
            self.status = response.status
            rest = b""
            while data := response.read1(65536):
                self.body += data
                if self.is_events:
                    rest = self._take(rest + data)
        except (OSError, http.client.HTTPException, ValueError):
            pass  # closed from here, or cut
        finally:
            self.ended.set()

    def _take(self, data: bytes) -> bytes:
        *whole, rest = data.split(b"\n\n")
        now = time.monotonic()
        for event in whole:
            self.events.append(Event(now, event.decode().split("\n")))
        return rest

    @property
    def is_events(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")

    @property
    def messages(self) -> list[dict]:
        if self.is_events:
            return [message for event in list(self.events) if (message := event.message) is not None]
        return [json.loads(self.body)] if self.ended.is_set() and self.body else []

    def of(self, method: str) -> list[dict]:
        """The notifications or requests of a method so far."""
        return [message for message in self.messages if message.get("method") == method]

    def wait_head(self, limit: float = 5.0) -> "EventStream":
        until(lambda: self.status is not None or self.ended.is_set(), limit, "the head of the answer is there")
        assert self.status is not None, "the connection ended before an answer began"
        return self

    def wait_for(self, method: str, count: int = 1, limit: float = 5.0) -> list[dict]:
        until(lambda: len(self.of(method)) >= count, limit, f"{count} x {method} on the stream")
        return self.of(method)

    def response(self, limit: float = 15.0) -> dict:
        """The one response, after the stream has ended by itself."""
        assert self.ended.wait(limit), f"no end within {limit} s, so far {self.body[:300]!r}"
        found = [message for message in self.messages if "method" not in message]
        assert len(found) == 1, f"{len(found)} responses in {self.status} {self.body[:500]!r}"
        return found[0]


def call_stream(
    client: McpClient, name: str, arguments: dict | None = None, id=1, token=None, **headers
) -> EventStream:
    """A tools/call, answered as it comes. `token` None: no progress is wanted."""
    params: dict = {"name": name, "arguments": arguments or {}}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return EventStream(client, "POST", {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}, headers)
