"""Counts connections that a closed port of this machine refuses: nobody accepts them, so only the network sees them."""
import asyncio
import ctypes
import socket
import struct
import time

IPV4 = 0x0800
SO_ATTACH_FILTER, SO_TIMESTAMPNS = 26, 35


def syn_to(port):
    """A packet filter (classic BPF on an IP packet) that passes TCP packets which open a connection to the port."""
    return [
        (0x30, 0, 0, 9),  # the protocol
        (0x15, 0, 7, 6),  # is TCP
        (0xB1, 0, 0, 0),  # x = length of the IP header
        (0x48, 0, 0, 2),  # the destination port
        (0x15, 0, 4, port),
        (0x50, 0, 0, 13),  # the flags
        (0x54, 0, 0, 0x12),
        (0x15, 0, 1, 0x02),  # SYN without ACK
        (0x06, 0, 0, 64),  # pass
        (0x06, 0, 0, 0),
    ]


class RefusedAttempts:
    """`works` is False where this process may not look (it needs CAP_NET_RAW, which root has)."""

    def __init__(self, port):
        self.times = []
        self.link = None
        try:
            self.link = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        except OSError:
            pass
        self.works = self.link is not None
        if self.works:
            code = b"".join(struct.pack("HBBI", *step) for step in syn_to(port))
            kept = ctypes.create_string_buffer(code, len(code))
            program = struct.pack("@HP", len(code) // 8, ctypes.addressof(kept))
            self.link.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
            self.link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            self.link.setblocking(False)
            self.link.bind(("lo", IPV4))
        self.watching = False

    def watch(self):
        if self.works and not self.watching:
            self.drain(note=False)  # of the time when the port was open
            self.watching = True
            asyncio.get_running_loop().add_reader(self.link, self.drain)

    def rest(self):
        if self.watching:
            self.drain()
            self.watching = False
            asyncio.get_running_loop().remove_reader(self.link)

    def drain(self, note=True):
        while True:
            try:
                _, extras, _, _ = self.link.recvmsg(64, 64)
            except BlockingIOError:
                return
            # The kernel's own time: by when this process gets to read, the caller has long been refused.
            seconds, nanoseconds = struct.unpack("qq", extras[0][2])
            if note:
                self.times.append(seconds + nanoseconds / 1e9 - (time.time() - time.monotonic()))

    def seen(self):
        """When each came, on time.monotonic()."""
        if self.watching:
            self.drain()
        return self.times
