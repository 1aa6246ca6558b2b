"""A wall clock of a process's own, which a test steps while the process runs. Its monotonic clock stays the machine's."""

from pathlib import Path

import pytest

INSTALLED = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


class WallClock:
    """`environment` is for the process that shall live by it."""

    def __init__(self, folder: Path, name: str, offset: float = 0.0):
        if not INSTALLED:
            pytest.skip("NOT TESTED with clocks that differ: no libfaketime on this machine (tools/setup.sh test)")
        self.path = folder / f"{name}.clock"
        self.offset = offset
        self._tell()

    @property
    def environment(self) -> dict[str, str]:
        return {
            # An allocator of the program's own asks the clock before it gives its first memory, and this clock needs
            # memory before it can tell: with libc's allocator there is no such circle.
            "LD_PRELOAD": f"{INSTALLED[0]} libc.so.6",
            "FAKETIME_TIMESTAMP_FILE": str(self.path),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def step(self, seconds: float) -> None:
        """Forwards, or back."""
        self.offset += seconds
        self._tell()

    def _tell(self) -> None:
        fresh = self.path.with_suffix(".new")
        fresh.write_text(f"{self.offset:+f}s\n")
        fresh.replace(self.path)
