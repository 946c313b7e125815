"""scripts/check-layers on small made-up trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "check-layers"


class CheckLayersTest(unittest.TestCase):
    def check(self, files):
        """(exit status, violations) for a tree of {path under src: content}."""
        with tempfile.TemporaryDirectory() as root:
            (pathlib.Path(root) / "src").mkdir()
            for path, content in files.items():
                target = pathlib.Path(root, "src", path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content)
            result = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True,
                                    text=True, check=False)
        self.assertEqual(result.stderr, "")
        return result.returncode, result.stdout.splitlines()[:-1]

    def assert_clean(self, files):
        self.assertEqual(self.check(files), (0, []))

    def assert_violation(self, files, *words):
        status, lines = self.check(files)
        self.assertEqual(status, 1)
        self.assertEqual(len(lines), 1, lines)
        for word in words:
            self.assertIn(word, lines[0])

    def test_downward_and_own_includes_pass(self):
        self.assert_clean({
            "base/file.h": "",
            "ops/sort/sort.h": '#include "base/file.h"\n',
            "ops/sort/sort.cc": '#include "ops/sort/sort.h"\n#include "sort.h"\n#include <map>\n',
            "cli/main.cc": '#include "ops/sort/sort.h"\n#include "base/file.h"\n',
        })

    def test_upward_include(self):
        self.assert_violation({"ops/sort/sort.h": "",
                               "base/file.cc": '\n#include "ops/sort/sort.h"\n'},
                              "base/file.cc:2:", "upwards", "ops/sort")

    def test_upward_include_in_angle_brackets_of_a_c_file(self):
        self.assert_violation({"cli/cli.h": "", "device/gpu.c": "# include <cli/cli.h>\n"},
                              "device/gpu.c:1:", "upwards")

    def test_sideways_between_operations(self):
        self.assert_violation({"ops/hash/hash.h": "",
                               "ops/sort/sort.cc": '#include "ops/hash/hash.h"\n'},
                              "sideways", "ops/hash")

    def test_sideways_through_a_relative_path(self):
        self.assert_violation({"ops/hash/hash.h": "",
                               "ops/sort/sort.cu": '#include "../hash/hash.h"\n'}, "sideways")

    def test_sideways_between_engines_and_between_fronts(self):
        self.assert_violation({"match/match.h": "", "graph/graph.cc": '#include "match/match.h"\n'},
                              "sideways")
        self.assert_violation({"cli/cli.h": "", "daemon/main.cc": '#include "cli/cli.h"\n'},
                              "sideways")

    def test_operations_share_what_lies_in_ops(self):
        self.assert_clean({"ops/operation.h": "",
                           "ops/sort/sort.cc": '#include "ops/operation.h"\n'})
        self.assert_violation({"ops/sort/sort.h": "",
                               "ops/operation.cc": '#include "ops/sort/sort.h"\n'}, "upwards")

    def test_unknown_area(self):
        self.assert_violation({"helpers/misc.h": ""}, "unknown area")

    def test_source_outside_areas(self):
        self.assert_violation({"main.cc": ""}, "main.cc:1:", "area's folder")

    def test_downward_links_pass(self):
        self.assert_clean({
            "base/CMakeLists.txt": "hoist_library(base a.cc)\n"
                                   "target_link_libraries(hoist_base PUBLIC fmt)\n",
            "ops/sort/CMakeLists.txt": "hoist_library(sort s.cc)\n"
                                       "target_link_libraries(hoist_sort PUBLIC hoist_base)\n"
                                       "hoist_engine(sort main.cc)\n"
                                       "target_link_libraries(hoist-sort PRIVATE hoist_sort)\n"
                                       "hoist_test(sort_test sort_test.cc hoist_sort hoist_base)\n",
        })

    def test_upward_and_sideways_links(self):
        sort = "hoist_library(sort s.cc)\n"
        self.assert_violation({
            "base/CMakeLists.txt": "hoist_library(base a.cc)\n\ntarget_link_libraries(hoist_base\n"
                                   "  PUBLIC hoist_sort)\n",
            "ops/sort/CMakeLists.txt": sort,
        }, "base/CMakeLists.txt:3:", "hoist_base links hoist_sort", "upwards")
        self.assert_violation({
            "ops/hash/CMakeLists.txt": "hoist_test(hash_test hash_test.cc hoist_sort)\n",
            "ops/sort/CMakeLists.txt": sort,
        }, "hash_test links hoist_sort", "sideways")

    def test_links_of_tests_call_engines_and_foreign_sources(self):
        sort = "hoist_library(sort s.cc)\n"
        for user in ("hoist_call_engine(base hoist_sort)\n",
                     "hoist_device_test(base_test base_test.cc hoist_sort)\n"):
            self.assert_violation({"base/CMakeLists.txt": user, "ops/sort/CMakeLists.txt": sort},
                                  "links hoist_sort", "upwards")
        self.assert_violation({"ops/sort/messages.c": "",
                               "base/CMakeLists.txt": "hoist_library(base ../ops/sort/messages.c)\n"},
                              "compiles ../ops/sort/messages.c", "upwards")
        self.assert_clean({"base/table.c": "",
                           "intercept/CMakeLists.txt": "add_library(all SHARED ../base/table.c)\n"})

    def test_weak_symbols(self):
        self.assert_violation({"base/a.cc": '\nextern "C" [[gnu::weak]] int engine_of(int);\n'},
                              "base/a.cc:2:", "weak symbol engine_of")

    def test_comments_in_cmake_are_ignored(self):
        self.assert_clean({
            "base/CMakeLists.txt": "hoist_library(base a.cc)\n"
                                   "# target_link_libraries(hoist_base PUBLIC hoist_sort)\n",
            "ops/sort/CMakeLists.txt": "hoist_library(sort s.cc)\n",
        })


if __name__ == "__main__":
    unittest.main()
