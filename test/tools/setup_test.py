"""tools/setup.sh makes backports known by copying the machine's own entry, whatever its format, and only once."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

DEB822 = """Types: deb deb-src
# a comment of the mirror's owner
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/some-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
"""

ONE_LINE = """# deb http://old.example/debian bookworm main
deb-src http://mirror.example/debian bookworm main
deb [signed-by=/usr/share/keyrings/some.gpg arch=amd64] http://mirror.example/debian bookworm main contrib
deb http://mirror.example/debian-security bookworm-security main
"""


class backports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = pathlib.Path(folder.name)
        (self.machine / "etc/apt/sources.list.d").mkdir(parents=True)
        self.write("etc/os-release", 'ID=debian\nVERSION_CODENAME=bookworm\n')

    def write(self, name: str, text: str) -> None:
        (self.machine / name).write_text(text)

    def enable(self) -> subprocess.CompletedProcess:
        return subprocess.run([ROOT / "tools/setup.sh", "backports"], text=True, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, "SETUP_ROOT": str(self.machine)})

    def added(self) -> list[pathlib.Path]:
        return sorted((self.machine / "etc/apt/sources.list.d").glob("switchgear-backports.*"))

    def test_copies_a_deb822_stanza(self):
        self.write("etc/apt/sources.list.d/debian.sources", DEB822)

        done = self.enable()

        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm-backports\n"
                         "Components: main contrib\nSigned-By: /usr/share/keyrings/some-keyring.gpg\n",
                         self.added()[0].read_text())
        self.assertEqual(".sources", self.added()[0].suffix)

    def test_copies_a_one_line_entry(self):
        self.write("etc/apt/sources.list", ONE_LINE)

        done = self.enable()

        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("deb [signed-by=/usr/share/keyrings/some.gpg arch=amd64] http://mirror.example/debian "
                         "bookworm-backports main contrib\n", self.added()[0].read_text())
        self.assertEqual(".list", self.added()[0].suffix)

    def test_changes_nothing_the_second_time(self):
        self.write("etc/apt/sources.list.d/debian.sources", DEB822)
        self.enable()
        before = self.added()[0].stat().st_mtime_ns

        done = self.enable()

        self.assertIn("known already", done.stdout)
        self.assertEqual([before], [one.stat().st_mtime_ns for one in self.added()])

    def test_leaves_backports_alone_that_the_machine_has(self):
        self.write("etc/apt/sources.list", ONE_LINE + "deb http://mirror.example/debian bookworm-backports main\n")

        done = self.enable()

        self.assertIn("known already", done.stdout)
        self.assertEqual([], self.added())

    def test_passes_over_a_stanza_that_is_off(self):
        self.write("etc/apt/sources.list.d/debian.sources", DEB822.replace("Types: deb deb-src", "Enabled: no\nTypes: deb"))

        done = self.enable()

        self.assertEqual(1, done.returncode)
        self.assertIn("no apt entry", done.stderr)

    def test_leaves_other_releases_alone(self):
        self.write("etc/os-release", "ID=debian\nVERSION_CODENAME=trixie\n")
        self.write("etc/apt/sources.list.d/debian.sources", DEB822.replace("bookworm", "trixie"))

        done = self.enable()

        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("trixie", done.stdout)
        self.assertEqual([], self.added())


class groups(unittest.TestCase):
    def test_an_unknown_group_is_one_clear_line(self):
        done = subprocess.run([ROOT / "tools/setup.sh", "everything"], text=True, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(1, done.returncode)
        self.assertEqual("set-up: unknown group 'everything'; known: build test bench backports\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
