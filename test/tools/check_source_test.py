"""The source check finds what it is there to find, and keeps quiet about good code."""

import importlib.util
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("check_source", ROOT / "tools/check_source.py")
check_source = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_source)

ARCHITECTURE = """# Architecture

## Folders

| folder | kind | may include | libraries |
| --- | --- | --- | --- |
| `base` | pure | – | Boost.System |
| `breaker` | pure | base | – |
| `async` | I/O | base | Asio |
| `listen` | I/O | async base | Asio, Beast (.cpp) |
| `app` | I/O | all | Asio |

## Next
"""

HEADER = "// What a breaker is.\n#pragma once\n\n"


class checked_tree(unittest.TestCase):
    def found(self, rule, files: dict[str, str]) -> list[str]:
        """What `rule` says about a checkout of these files, as FILE:LINE strings."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"docs/architecture.md": ARCHITECTURE, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            table = check_source.folder_table(ARCHITECTURE)
            return [f"{one.path}:{one.line}" for one in rule(check_source.tree(root), table)]


class include_rule(checked_tree):
    def test_lets_a_folder_include_what_is_below(self):
        self.assertEqual([], self.found(check_source.includes, {
            "src/listen/server.cpp": '#include "async/worker.hpp"\n#include "listen/server.hpp"\n'
                                     "#include <boost/beast/http.hpp>\n#include <vector>\n"}))

    def test_refuses_a_folder_beside_or_above(self):
        self.assertEqual(["src/breaker/gate.hpp:4", "src/listen/server.cpp:1"], sorted(self.found(
            check_source.includes, {"src/breaker/gate.hpp": HEADER + '#include "listen/server.hpp"\n',
                                    "src/listen/server.cpp": '#include "breaker/gate.hpp"\n'})))

    def test_lets_app_include_everything(self):
        self.assertEqual([], self.found(check_source.includes, {"src/app/main.cpp": '#include "breaker/gate.hpp"\n'}))

    def test_refuses_a_library_that_the_row_does_not_name(self):
        self.assertEqual(["src/breaker/gate.cpp:1"], self.found(
            check_source.includes, {"src/breaker/gate.cpp": "#include <boost/asio/io_context.hpp>\n"}))

    def test_refuses_in_a_header_what_is_for_sources(self):
        self.assertEqual(["src/listen/server.hpp:4"], self.found(
            check_source.includes, {"src/listen/server.hpp": HEADER + "#include <boost/beast/http.hpp>\n"}))

    def test_refuses_sockets_in_a_pure_folder(self):
        self.assertEqual(["src/breaker/gate.cpp:1"], self.found(
            check_source.includes, {"src/breaker/gate.cpp": "#include <sys/socket.h>\n"}))

    def test_wants_the_folder_in_the_include(self):
        self.assertEqual(["src/breaker/gate.cpp:1"], self.found(
            check_source.includes, {"src/breaker/gate.cpp": '#include "gate.hpp"\n'}))


class table_rule(checked_tree):
    def test_wants_a_row_for_each_folder(self):
        self.assertEqual(["docs/architecture.md:1"], self.found(
            check_source.table_is_complete, {"src/mystery/a.hpp": HEADER}))

    def test_finds_a_circle(self):
        table = check_source.folder_table(ARCHITECTURE.replace("| `base` | pure | – |", "| `base` | pure | async |"))
        with tempfile.TemporaryDirectory() as folder:
            found = list(check_source.table_is_complete(check_source.tree(pathlib.Path(folder)), table))
        self.assertTrue(any("by way of others" in one.text for one in found))


class pure_rule(checked_tree):
    def test_finds_clock_chance_sleep_thread_and_io(self):
        bad = ["auto now = std::chrono::steady_clock::now();", "std::mt19937 engine;", "int x = rand();",
               "std::this_thread::sleep_for(1s);", "std::thread t;", "std::cerr << 1;", 'getenv ("A");']
        self.assertEqual([f"src/breaker/gate.cpp:{line}" for line in range(1, len(bad) + 1)], self.found(
            check_source.pure_folders, {"src/breaker/gate.cpp": "\n".join(bad) + "\n"}))

    def test_keeps_quiet_about_comments_strings_and_other_folders(self):
        self.assertEqual([], self.found(check_source.pure_folders, {
            "src/breaker/gate.cpp": '// steady_clock::now() is the caller\'s\nauto s = "::now()";\nbool operand(int);\n',
            "src/async/worker.hpp": HEADER + "auto now() { return std::chrono::steady_clock::now(); }\n"}))


class link_rule(checked_tree):
    def test_accepts_what_the_row_allows(self):
        self.assertEqual([], self.found(check_source.links, {
            "src/listen/CMakeLists.txt": "switchgear_folder(listen LINKS sg_async sg_base)\n"}))

    def test_refuses_other_folders_and_unknown_targets(self):
        self.assertEqual(["src/breaker/CMakeLists.txt:1"] * 2, self.found(check_source.links, {
            "src/breaker/CMakeLists.txt": "switchgear_folder(breaker LINKS sg_base sg_async curl)\n"}))

    def test_keeps_asios_headers_out_of_pure_folders(self):
        self.assertEqual(["src/breaker/CMakeLists.txt:1"], self.found(check_source.links, {
            "src/breaker/CMakeLists.txt": "switchgear_folder(breaker SHELL LINKS sg_base)\n",
            "src/listen/CMakeLists.txt": "switchgear_folder(listen SHELL LINKS sg_base)\n"}))


class form_rules(checked_tree):
    def test_a_header_needs_its_comment_and_its_guard(self):
        self.assertEqual(["src/base/a.hpp:1", "src/base/a.hpp:1"], self.found(
            check_source.headers, {"src/base/a.hpp": "struct a {};\n", "src/base/b.hpp": HEADER}))

    def test_sizes_end_at_600_and_800(self):
        self.assertEqual(["src/base/a.cpp:601", "test/unit/base/a_test.cpp:801"], self.found(check_source.sizes, {
            "src/base/a.cpp": "\n" * 601, "src/base/b.cpp": "\n" * 600, "test/unit/base/a_test.cpp": "\n" * 801,
            "test/unit/base/b_test.cpp": "\n" * 800}))

    def test_a_folder_needs_its_readme(self):
        self.assertEqual(["src/base/README.md:1"], self.found(check_source.readmes, {
            "src/base/a.cpp": "\n", "src/async/README.md": "# async\n\n1\n2\n3\n"}))

    def test_names_say_something_in_snake_case(self):
        self.assertEqual([f"src/base/a.hpp:{line}" for line in (4, 5, 6)] + ["src/base/Big.hpp:1"],
                         sorted(self.found(check_source.names, {
                             "src/base/Big.hpp": HEADER,
                             "src/base/a.hpp": HEADER + "class session_manager {};\nstruct UpperCase {};\n"
                                                        "int get_size() const;\nstruct fine {};\n"}),
                                key=lambda one: one.lower().replace("big", "z")))

    def test_coroutines_have_a_parent_and_no_captures(self):
        self.assertEqual(["src/listen/a.cpp:1", "src/listen/a.cpp:2"], self.found(check_source.coroutines, {
            "src/listen/a.cpp": "co_spawn(io, run(), boost::asio::detached);\n"
                                "auto f = [this](int x) -> boost::asio::awaitable<void> { co_return; };\n"
                                "auto g = [](owner o) -> boost::asio::awaitable<void> { co_return; };\n"}))

    def test_leftovers_are_found(self):
        self.assertEqual(["docs/page.md:3"] + [f"src/base/a.cpp:{line}" for line in (1, 3, 4)], self.found(
            check_source.leftovers, {
            "docs/page.md": "# Page\n\nRESULTS\n",
            "src/base/a.cpp": "// TODO later\n// TODO(#12) with its issue\n// see /home/somebody/notes\n"
                              "<<<<<<< ours\n"}))


class document_rule(checked_tree):
    def test_links_and_headings_must_exist(self):
        self.assertEqual(["README.md:2", "README.md:3"], self.found(check_source.documents, {
            "README.md": "[good](docs/architecture.md#folders) [web](https://example.org)\n"
                         "[gone](docs/gone.md)\n[no heading](docs/architecture.md#nowhere)\n"
                         "```\n[code](is/not/a/link.md)\n```\n"}))

    def test_pages_named_in_code_must_exist(self):
        self.assertEqual(["src/base/a.hpp:1"], self.found(check_source.documents, {
            "docs/decisions/0002-time.md": "# 2\n", "src/base/a.hpp": "// docs/gone.md\n// docs/decisions/0002\n"}))


class metric_rule(checked_tree):
    def test_metrics_and_their_page_agree(self):
        self.assertEqual(["docs/operations.md:1", "src/observe/a.cpp:1"], sorted(self.found(check_source.metrics, {
            "docs/operations.md": "| `switchgear_old_total` | |\n| `switchgear_calls_total` | |\n",
            "src/observe/a.cpp": 'count("switchgear_new_total"); count("switchgear_calls_total");\n'})))


class pin_rule(checked_tree):
    def test_lock_files_name_versions_not_hosts(self):
        self.assertEqual(["test/e2e/node/package-lock.json:1", "test/e2e/requirements.txt:2"], self.found(
            check_source.pinned, {"test/e2e/node/package-lock.json": '"resolved": "https://host/a.tgz"\n',
                                  "test/e2e/requirements.txt": "pytest==8.0.0\nmcp\n"}))


if __name__ == "__main__":
    unittest.main()
