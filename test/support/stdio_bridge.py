"""A stdio tool server whose mind is elsewhere: lines go to a port of this machine, and lines from there to stdout.

    stdio_bridge.py PORT

Both ends are connected for as long as the process lives; it ends with either of them.
"""

import os
import socket
import sys
import threading


def copy(read, write) -> None:
    try:
        while data := read(65536):
            write(data)
    except OSError:
        pass
    os._exit(0)


def write_stdout(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def main() -> None:
    mind = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    mind.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=copy, args=(mind.recv, write_stdout), daemon=True).start()
    copy(lambda size: os.read(0, size), mind.sendall)


if __name__ == "__main__":
    main()
