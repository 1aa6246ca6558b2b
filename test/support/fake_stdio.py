"""A scriptable MCP tool server on stdin and stdout.

    fake_stdio.py [--script JSON] [--journal FILE]

The script's keys are the fields of Script. With --journal, every line that arrives is appended to FILE as it is, so
that a test can check what a child really receives.
"""

import argparse
import dataclasses
import json
import os
import sys
import threading
import time


@dataclasses.dataclass
class Script:
    tools: list = dataclasses.field(default_factory=lambda: ["echo", "stall", "burst", "exit", "big", "noise"])
    framing: str = "plain"  # plain, crlf, bytes, pieces: how every answer is written
    stderr: str = "quiet"  # quiet, first, steady, unbroken, invalid, closed
    stdout_first: str = ""  # written before anything else
    noise: str = ""  # written before every answer to a call
    noise_line: int = 0  # so many bytes in one line, written before the first answer to a call
    after: str = ""  # written after every answer to a call, in the same write
    start_delay: float = 0.0


def write_stdout(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def write_stderr(data: bytes) -> None:
    while data:
        data = data[os.write(2, data) :]


def write_framed(script: Script, message: dict) -> None:
    text = json.dumps(message, ensure_ascii=False).encode()
    if script.framing == "crlf":
        write_stdout(text + b"\r\n")
    elif script.framing == "bytes":
        for byte in text + b"\n":
            write_stdout(bytes([byte]))
    elif script.framing == "pieces":
        text += b"\n"
        for start in range(0, len(text), 4096):
            write_stdout(text[start : start + 4096])
            if start % (64 * 4096) == 0:
                time.sleep(0.001)
    else:
        write_stdout(text + b"\n")


def start_stderr(script: Script) -> None:
    if script.stderr == "first":
        write_stderr(b"starting up, please wait\n" * (256 * 1024 // 25))
    elif script.stderr == "unbroken":
        write_stderr(b"e" * (10 * 1024 * 1024))
    elif script.stderr == "invalid":
        write_stderr(b"\xff\xfe\x00\x80 not a text \xc3\x28\n" * 1000)
    elif script.stderr == "closed":
        os.close(2)
    elif script.stderr == "steady":

        def chatter() -> None:
            line = b"l" * 99 + b"\n"
            while True:
                write_stderr(line * 512)  # 50 KiB each 50 ms: 1 MB/s
                time.sleep(0.05)

        threading.Thread(target=chatter, daemon=True).start()


class Server:
    def __init__(self, script: Script) -> None:
        self.script = script

    def handle(self, message: dict) -> None:
        method = message.get("method")
        if "id" not in message:
            return
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            information = {"name": "fake-stdio", "version": "1"}
            self.reply(message, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": information})
        elif method == "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in self.script.tools]
            self.reply(message, {"tools": tools})
        elif method == "tools/call":
            self.call(message, message["params"]["name"], message["params"].get("arguments") or {})
        elif method == "ping":
            self.reply(message, {})
        else:
            error = {"code": -32601, "message": "Method not found"}
            write_framed(self.script, {"jsonrpc": "2.0", "id": message["id"], "error": error})

    def call(self, message: dict, tool: str, arguments: dict) -> None:
        if tool == "stall":
            return
        if tool == "burst":
            write_stderr((b"b" * 99 + b"\n") * (40 * 1024 * 1024 // 100))
        if tool == "exit":
            # The last message of a process may lack its line end.
            answer = self.response(message, {"content": [{"type": "text", "text": "goodbye"}]})
            write_stdout(json.dumps(answer).encode())
            os._exit(3)
        text = "x" * int(arguments.get("size", 0)) if tool == "big" else json.dumps(arguments, sort_keys=True)
        if self.script.noise:
            write_stdout(self.script.noise.encode())
        if self.script.noise_line:
            write_stdout(b"x" * self.script.noise_line + b"\n")
            self.script.noise_line = 0
        self.reply(message, {"content": [{"type": "text", "text": text}]})
        if self.script.after:
            write_stdout(self.script.after.encode())

    @staticmethod
    def response(message: dict, result: dict) -> dict:
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def reply(self, message: dict, result: dict) -> None:
        write_framed(self.script, self.response(message, result))


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--script", default="{}")
    arguments.add_argument("--journal")
    options = arguments.parse_args()
    script = Script(**json.loads(options.script))

    time.sleep(script.start_delay)
    if script.stdout_first:
        write_stdout(script.stdout_first.encode())
    start_stderr(script)
    server = Server(script)
    for line in sys.stdin.buffer:
        if options.journal:
            with open(options.journal, "ab") as journal:
                journal.write(line)
        server.handle(json.loads(line))


if __name__ == "__main__":
    main()
