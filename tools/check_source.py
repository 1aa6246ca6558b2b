#!/usr/bin/env python3
"""Proves the rules of the house on the files themselves: who may include whom, what the pure folders must not know,
and the promises of CONTRIBUTING.md that a machine can read. The folder table is read from docs/architecture.md, so
that there is one table, and it is the documented one.

    tools/check_source.py [--root DIR]      prints FILE:LINE: RULE: what is wrong; exit code 1 when something is
"""

import argparse
import pathlib
import re
import subprocess
import sys
from typing import Callable, Iterator, NamedTuple


class finding(NamedTuple):
    path: str
    line: int
    rule: str
    text: str


class folder_rule(NamedTuple):
    pure: bool
    may_include: frozenset[str]
    libraries: frozenset[str]  # usable anywhere in the folder
    source_libraries: frozenset[str]  # usable in its .cpp files only


# How a library of the table looks in an #include.
LIBRARIES = {
    "Asio": r"boost/asio\b",
    "Beast": r"boost/beast\b",
    "Boost.Container": r"boost/container\b",
    "Boost.Intrusive": r"boost/intrusive\b",
    "Boost.JSON": r"boost/json\b",
    "Boost.Regex": r"boost/regex\b",
    "Boost.System": r"boost/system\b",
    "Boost.URL": r"boost/url\b",
    "CLI11": r"CLI/",
    "hiredict": r"hiredict/",
    "OpenSSL": r"openssl/",
    "POSIX": r"(sys|arpa|net|netinet|netdb|unistd|fcntl|poll|spawn|signal|csignal|termios|pthread|sched)(/|\.h|$)",
    "prometheus": r"prometheus/",
    "simdjson": r"simdjson",
    "spdlog": r"spdlog/",
    "yaml-cpp": r"yaml-cpp/",
    "zlib": r"zlib\.h",
}

# How it looks behind LINKS of switchgear_folder(). Boost's headers and threads come with the flags.
LINK_TARGETS = {
    "Boost::json": "Boost.JSON",
    "Boost::url": "Boost.URL",
    "CLI11::CLI11": "CLI11",
    "PkgConfig::hiredict": "hiredict",
    "OpenSSL::SSL": "OpenSSL",
    "OpenSSL::Crypto": "OpenSSL",
    "PkgConfig::prometheus_core": "prometheus",
    "simdjson::simdjson": "simdjson",
    "spdlog::spdlog": "spdlog",
    "yaml-cpp::yaml-cpp": "yaml-cpp",
    "yaml-cpp": "yaml-cpp",
    "ZLIB::ZLIB": "zlib",
}

NOT_PURE = [
    (r"::now\s*\(", "a clock is read; `now` is an argument (docs/decisions/0002)"),
    (r"\b(sleep_for|sleep_until|usleep|nanosleep)\b", "a pure folder sleeps"),
    (r"\b(random_device|mt19937(_64)?|minstd_rand0?|default_random_engine)\b|[^_\w.]s?rand\s*\(",
     "a source of chance; the random number is an argument (docs/decisions/0002)"),
    (r"\bstd::(jthread|thread|async)\b", "a pure folder starts a thread"),
    (r"\b(getenv|ofstream|ifstream|fopen)\s*\(|\bstd::(cout|cerr|clog)\b", "a pure folder does I/O"),
]

# Allowed in every folder: vocabulary (error codes and results, small vectors, hooks), no behaviour.
EVERYWHERE = {"Boost.System", "Boost.Container", "Boost.Intrusive"}

SOURCE_LIMIT, TEST_LIMIT, ASK_ABOVE = 600, 800, 400


class tree:
    """The files of a checkout: those git knows or would add; without git, all but the build's."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.files = sorted(self._list())
        self._text: dict[str, str] = {}

    def _list(self) -> list[str]:
        listed = subprocess.run(["git", "-C", str(self.root), "ls-files", "-co", "--exclude-standard", "-z"],
                                stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if listed.returncode == 0:
            names = [name.decode() for name in listed.stdout.split(b"\0") if name]
            return [name for name in names if (self.root / name).is_file()]
        skipped = {".git", "build", "node_modules", "__pycache__"}
        return [str(path.relative_to(self.root)) for path in self.root.rglob("*")
                if path.is_file() and not skipped & set(path.relative_to(self.root).parts)]

    def text(self, name: str) -> str:
        if name not in self._text:
            self._text[name] = (self.root / name).read_text(encoding="utf-8", errors="replace")
        return self._text[name]

    def lines(self, name: str) -> Iterator[tuple[int, str]]:
        return enumerate(self.text(name).splitlines(), 1)

    def code(self, name: str) -> Iterator[tuple[int, str]]:
        return enumerate(without_comments(self.text(name)).splitlines(), 1)

    def matching(self, pattern: str) -> list[str]:
        return [name for name in self.files if re.search(pattern, name)]

    def cpp(self) -> list[str]:
        return self.matching(r"^(src|test|bench)/.*\.(hpp|cpp)$")

    def folders(self) -> list[str]:
        return sorted({name.split("/")[1] for name in self.files if re.match(r"src/[^/]+/.+", name)})


def without_comments(source: str) -> str:
    """Comments and the insides of string literals become blanks; lines stay where they are."""
    def blank(match: re.Match) -> str:
        text = match.group(0)
        if text.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", text)
        return '""' + "\n" * text.count("\n")

    token = r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    kept = re.sub(r'^(\s*#\s*include\s*)"([^"\n]+)"', r"\1<\2>", source, flags=re.M)  # an include is no string
    return re.sub(token, blank, kept, flags=re.S)


def folder_table(architecture: str) -> dict[str, folder_rule]:
    """Reads the table under the heading `Folders`: folder | kind | may include | libraries. A library followed by
    `(.cpp)` may be used in sources only, so that its headers stay out of everybody else's compile."""
    section = re.search(r"^## Folders$(.*?)(?=^## |\Z)", architecture, flags=re.M | re.S)
    rules: dict[str, folder_rule] = {}
    for row in re.findall(r"^\|(.+)\|\s*$", section.group(1) if section else "", flags=re.M):
        cells = [cell.strip().replace("`", "") for cell in row.split("|")]
        if len(cells) < 4 or cells[0] in ("folder", "") or set(cells[0]) <= set("-: "):
            continue
        libraries = [word.strip() for word in cells[3].split(",") if word.strip() not in ("", "–")]
        rules[cells[0]] = folder_rule(
            pure=cells[1] == "pure",
            may_include=frozenset(cells[2].replace(",", " ").replace("–", "").split()),
            libraries=frozenset(name for name in libraries if not name.endswith("(.cpp)")),
            source_libraries=frozenset(name.removesuffix("(.cpp)").strip() for name in libraries),
        )
    return rules


# --- the rules: each takes the tree and the table, and yields what is wrong ---------------------------------------

def table_is_complete(files: tree, table: dict[str, folder_rule]) -> Iterator[finding]:
    """Each folder of src/ has a row, each row names what exists, and the rows form no circle."""
    for folder in files.folders():
        if folder not in table:
            yield finding("docs/architecture.md", 1, "table", f"src/{folder} has no row in the folder table")
    for folder, rule in table.items():
        for other in sorted(rule.may_include - set(table) - {"all"}):
            yield finding("docs/architecture.md", 1, "table", f"the row of {folder} names {other}, which has no row")
        for library in sorted(rule.source_libraries - set(LIBRARIES)):
            yield finding("docs/architecture.md", 1, "table", f"the row of {folder} names an unknown library {library}")

    def reaches(start: str, goal: str, seen: set[str]) -> bool:
        for other in (table[start].may_include & set(table)) - seen:
            if other == goal or reaches(other, goal, seen | {other}):
                return True
        return False

    for folder in table:
        if reaches(folder, folder, set()):
            yield finding("docs/architecture.md", 1, "table", f"{folder} may include itself by way of others")


def includes(files: tree, table: dict[str, folder_rule]) -> Iterator[finding]:
    """A folder includes only the folders and libraries of its row."""
    for name in files.matching(r"^src/[^/]+/.*\.(hpp|cpp)$"):
        folder = name.split("/")[1]
        rule = table.get(folder)
        if rule is None:
            continue
        allowed = rule.libraries if name.endswith(".hpp") else rule.source_libraries
        for line, text in files.lines(name):
            own = re.match(r'\s*#\s*include\s*"([^"]+)"', text)
            if own:
                other = own.group(1).split("/")[0] if "/" in own.group(1) else None
                if other is None:
                    yield finding(name, line, "includes", 'write the folder: #include "folder/file.hpp"')
                elif other != folder and other not in rule.may_include and "all" not in rule.may_include:
                    yield finding(name, line, "includes", f"{folder} may not include {other}")
            outside = re.match(r"\s*#\s*include\s*<([^>]+)>", text)
            if not outside:
                continue
            for library, pattern in LIBRARIES.items():
                if re.match(pattern, outside.group(1)) and library not in allowed | EVERYWHERE:
                    where = "in a header" if library in rule.source_libraries else "at all"
                    yield finding(name, line, "includes", f"{folder} may not use {library} {where}")
            if outside.group(1).startswith("boost/") and not any(
                    re.match(pattern, outside.group(1)) for pattern in LIBRARIES.values()):
                yield finding(name, line, "includes", f"{outside.group(1)} belongs to no library of the folder table")


def pure_folders(files: tree, table: dict[str, folder_rule]) -> Iterator[finding]:
    """The pure folders know no clock, chance, thread or I/O."""
    for name in files.matching(r"^src/[^/]+/.*\.(hpp|cpp)$"):
        rule = table.get(name.split("/")[1])
        if rule is None or not rule.pure:
            continue
        for line, text in files.code(name):
            for pattern, why in NOT_PURE:
                if re.search(pattern, text):
                    yield finding(name, line, "pure", why)


def links(files: tree, table: dict[str, folder_rule]) -> Iterator[finding]:
    """A folder's library links what its row allows, and what its files include directly."""
    for folder, rule in table.items():
        name = f"src/{folder}/CMakeLists.txt"
        if name not in files.files:
            continue
        call = re.search(rf"switchgear_folder\(\s*{folder}\b([^)]*)\)", files.text(name), flags=re.S)
        if not call:
            if "all" not in rule.may_include:  # app builds itself
                yield finding(name, 1, "links", f"no switchgear_folder({folder} ...)")
            continue
        options, _, links = re.sub(r"#[^\n]*", "", call.group(1)).partition("LINKS")
        if rule.pure and "SHELL" in options.split():
            yield finding(name, 1, "links", f"{folder} is pure: Asio's headers are not read for it")
        for target in links.split():
            library = LINK_TARGETS.get(target)
            if target.startswith("sg_"):
                if target[3:] not in rule.may_include and "all" not in rule.may_include:
                    yield finding(name, 1, "links", f"{folder} may not link {target}")
            elif library is None:
                yield finding(name, 1, "links", f"{target} is no link target that the folder table knows")
            elif library not in rule.source_libraries:
                yield finding(name, 1, "links", f"{folder} may not link {target}")


def headers(files: tree, _table: dict[str, folder_rule]) -> Iterator[finding]:
    """A header opens with a comment that says what it is, then #pragma once."""
    for name in files.matching(r"^(src|test|bench)/.*\.hpp$"):
        lines = [text for _, text in files.lines(name) if text.strip()]
        if not lines or not lines[0].startswith("//"):
            yield finding(name, 1, "headers", "the first line must be a comment that says what this is")
        if not any(re.match(r"#pragma once\s*$", text) for text in lines[:15]):
            yield finding(name, 1, "headers", "no #pragma once after the opening comment")


def sizes(files: tree, _table: dict[str, folder_rule]) -> Iterator[finding]:
    """A file holds one idea: at most 600 lines of source, 800 of a test."""
    for name in files.cpp() + files.matching(r"^(tools|test|bench)/.*\.(py|sh|mjs)$"):
        limit = TEST_LIMIT if name.startswith("test/") else SOURCE_LIMIT
        count = len(files.text(name).splitlines())
        if count > limit:
            yield finding(name, count, "sizes", f"{count} lines, at most {limit}: split it by idea")


def readmes(files: tree, _table: dict[str, folder_rule]) -> Iterator[finding]:
    """Each folder of src/ has a README of 5 to 40 lines."""
    for folder in files.folders():
        name = f"src/{folder}/README.md"
        if name not in files.files:
            yield finding(name, 1, "readmes", "missing: what it does, what it must not know, where to start reading")
        elif not 5 <= len(files.text(name).splitlines()) <= 40:
            yield finding(name, 1, "readmes", "should take 10 to 30 lines")


def names(files: tree, _table: dict[str, folder_rule]) -> Iterator[finding]:
    """snake_case, and no word that says nothing."""
    for name in files.cpp():
        if not re.fullmatch(r"[a-z0-9_]+\.(hpp|cpp)", name.split("/")[-1]):
            yield finding(name, 1, "names", "file names are snake_case")
        for line, text in files.code(name):
            declared = re.match(r"\s*(?:template\s*<.*>\s*)?(?:class|struct|enum class|concept)\s+(\w+)", text)
            if declared and re.search(r"(impl|manager|helper|utils?)$", declared.group(1), flags=re.I):
                yield finding(name, line, "names", f"{declared.group(1)}: say what it does instead")
            if declared and re.match(r"[A-Z]\w*[a-z]", declared.group(1)) and name.startswith("src/"):
                yield finding(name, line, "names", f"{declared.group(1)}: types are snake_case")
            if name.startswith("src/") and re.search(r"\bget_\w+\s*\([^)]*\)\s*(const\s*)?(noexcept\s*)?[{;]", text) \
                    and not re.search(r"[.>:]\s*get_\w+\s*\(|return|=", text):
                yield finding(name, line, "names", "no get_ in a name of ours: a noun is enough")


def coroutines(files: tree, _table: dict[str, folder_rule]) -> Iterator[finding]:
    """No coroutine without a parent, no coroutine lambda with captures (docs/decisions/0001)."""
    for name in files.matching(r"^src/.*\.(hpp|cpp)$"):
        code = without_comments(files.text(name))
        for match in re.finditer(r"\bdetached\b", code):
            yield finding(name, code.count("\n", 0, match.start()) + 1, "coroutines", "a coroutine without a parent")
        for match in re.finditer(r"\[[^\]\n]+\]\s*\([^()]*\)\s*(mutable\s*)?->\s*[\w:]*awaitable\s*<", code):
            yield finding(name, code.count("\n", 0, match.start()) + 1, "coroutines",
                          "a coroutine lambda captures; make it a named function that takes values or owners")


def leftovers(files: tree, _table: dict[str, folder_rule]) -> Iterator[finding]:
    """No TODO without an issue number, no path of somebody's machine, no merge mark, no placeholder."""
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))")
    paths = re.compile(r"(?<![\w.:/-])/(?:work|home/\w+|Users/\w+|tmp/(?!\.|\{|\$|\w*XXX)\w+)/")
    merges = re.compile(r"^(<{7}|>{7}) ")
    for name in files.matching(r"\.(hpp|cpp|py|sh|mjs|md|txt|cmake|yaml|yml|json)$|^Makefile$|^\.ci/"):
        if name.startswith(("test/fuzz/corpus/", "tools/check_source.py", "test/tools/")):
            continue
        for line, text in files.lines(name):
            if marks.search(text):
                yield finding(name, line, "leftovers", "a TODO needs its issue: TODO(#123)")
            if paths.search(text):
                yield finding(name, line, "leftovers", "a path of somebody's machine")
            if merges.search(text):
                yield finding(name, line, "leftovers", "a merge mark")
            if name.endswith(".md") and re.fullmatch(r"[A-Z_]{4,}|\[?(TBD|\.\.\.)\]?", text.strip()):
                yield finding(name, line, "leftovers", "a placeholder")


def documents(files: tree, _table: dict[str, folder_rule]) -> Iterator[finding]:
    """Every relative link of a page leads to a file, and to a heading of it when it names one."""
    def headings(name: str) -> set[str]:
        text = re.sub(r"^```.*?^```", "", files.text(name), flags=re.M | re.S)
        titles = re.findall(r"^#+ (.+)$", text, flags=re.M)
        return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}

    for name in files.matching(r"\.md$"):
        text = re.sub(r"^```.*?^```", lambda block: "\n" * block.group(0).count("\n"), files.text(name),
                      flags=re.M | re.S)
        for line, row in enumerate(text.splitlines(), 1):
            for target in re.findall(r"(?<!`)\[[^\]\n]*\]\(([^)\s]+)\)", row):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                base = (files.root / name).parent / path if path else files.root / name
                if not base.exists():
                    yield finding(name, line, "documents", f"{target} does not exist")
                elif anchor and base.suffix == ".md":
                    shown = base.resolve().relative_to(files.root.resolve()).as_posix()
                    if anchor not in headings(shown):
                        yield finding(name, line, "documents", f"{path or name} has no heading #{anchor}")
    for name in files.cpp() + files.matching(r"\.(cmake|txt|py|sh)$"):
        if name == "tools/check_source.py" or name.startswith("test/tools/"):
            continue
        for line, text in files.lines(name):
            for target in re.findall(r"\bdocs/[\w/.-]+", text):
                target = target.rstrip(".")
                # A decision is named by its number alone.
                if not (files.root / target).exists() and not any(one.startswith(target) for one in files.files):
                    yield finding(name, line, "documents", f"{target} does not exist")


def metrics(files: tree, _table: dict[str, folder_rule]) -> Iterator[finding]:
    """Every metric has its row in docs/operations.md, and every row its metric."""
    page = "docs/operations.md"
    if page not in files.files:
        return
    documented = set(re.findall(r"^\| `(switchgear_\w+)`", files.text(page), flags=re.M))
    made = {name: (source, line) for source in files.matching(r"^src/observe/.*\.cpp$")
            for line, text in files.lines(source) for name in re.findall(r'"(switchgear_\w+)"', text)}
    for name in sorted(set(made) - documented):
        yield finding(*made[name], "metrics", f"{name} is not in {page}")
    for name in sorted(documented - set(made)):
        yield finding(page, 1, "metrics", f"{name} is documented, but nothing counts it")


def pinned(files: tree, _table: dict[str, folder_rule]) -> Iterator[finding]:
    """Set-up follows the machine's own mirrors: lock files name versions and sums, not hosts."""
    for name in files.matching(r"(package-lock\.json|requirements\.txt|\.npmrc|pip\.conf)$"):
        for line, text in files.lines(name):
            if re.search(r'"resolved"\s*:\s*"http|^\s*(-i|--index-url|--extra-index-url|registry\s*=)', text):
                yield finding(name, line, "pinned", "names a package host")
    for name in files.matching(r"requirements\.txt$"):
        for line, text in files.lines(name):
            if text.strip() and not text.strip().startswith(("#", "--hash")) and "==" not in text:
                yield finding(name, line, "pinned", "not pinned: name==version")


Rule = Callable[[tree, dict[str, folder_rule]], Iterator[finding]]
RULES: list[Rule] = [table_is_complete, includes, pure_folders, links, headers, sizes, readmes, names, coroutines,
                     leftovers, documents, metrics, pinned]


def main() -> int:
    parser = argparse.ArgumentParser(description="proves the house rules on the source files")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    files = tree(root)
    architecture = root / "docs/architecture.md"
    table = folder_table(architecture.read_text(encoding="utf-8") if architecture.is_file() else "")
    failed = 0
    for rule in RULES:
        found = list(rule(files, table))
        failed += bool(found)
        for one in found:
            print(f"{one.path}:{one.line}: {one.rule}: {one.text}")
        print(f"{'FAIL' if found else 'ok  '} {rule.__name__}: {rule.__doc__.splitlines()[0]}")
    for name in files.cpp():
        count = len(files.text(name).splitlines())
        if count > ASK_ABOVE and not name.startswith("test/"):
            print(f"note: {name} has {count} lines; above {ASK_ABOVE} somebody will ask why")
    print(f"{len(RULES) - failed} rules hold, {failed} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
