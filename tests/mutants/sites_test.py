"""Tests of sites.py: what is mutated, and what is left alone."""

import unittest

from sites import sites

TEXT = '''#include <vector>
// a < b
namespace lensd {
constexpr int kLimit = 5;
int f(int a, int b) {
  static_assert(kLimit < 6);
  log::warn("a + {}", a + b);
  std::vector<int> all;
  if (a <= b && !all.empty()) return a * 2;
  all.push_back(a);
  swap_in(a, b);
  all.size = std::min(a, b);
  const char* text = "1 + 1";  // 2 + 2
  return g(a, b) - 0x1f;
}
struct S {
  int member = 3;
  int twice(int v) const { return v + v; }
};
}  // namespace lensd
'''


def mutants(text):
    """Returns {line number: {changed line}}."""
    found = {}
    for number, all_sites in sites(text):
        for site in all_sites:
            changed = text[:site.begin] + site.new + text[site.end:]
            found.setdefault(number, set()).add(changed.split("\n")[number - 1].strip())
    return found


class SitesTest(unittest.TestCase):
    def setUp(self):
        self.found = mutants(TEXT)

    def test_lines(self):
        self.assertEqual(set(self.found), {9, 10, 11, 12, 14, 18})

    def test_operators_and_conditions(self):
        line = self.found[9]
        for changed in ("if (a < b && !all.empty()) return a * 2;", "if (a > b && !all.empty()) return a * 2;",
                        "if (a <= b || !all.empty()) return a * 2;", "if (a <= b && all.empty()) return a * 2;",
                        "if (a <= b && !all.empty()) return a / 2;", "if (a <= b && !all.empty()) return a * 3;",
                        "if (!(a <= b && !all.empty())) return a * 2;"):
            self.assertIn(changed, line)

    def test_statements_and_arguments(self):
        self.assertEqual(self.found[10], {";"})
        self.assertEqual(self.found[11], {";", "swap_in(b, a);"})
        self.assertEqual(self.found[12], {";", "all.size = std::max(a, b);"})
        self.assertEqual(self.found[14], {"return g(b, a) - 0x1f;", "return g(a, b) + 0x1f;"})

    def test_screen_distances_stay(self):
        self.assertEqual(mutants("void f() {\n  g(ctx.px(7));\n}\n"), {2: {";"}})

    def test_barriers_stay(self):
        self.assertEqual(mutants("void f() {\n  __syncthreads();\n  __syncwarp();\n  LENSD_LAUNCHED();\n}\n"), {})

    def test_members_of_types_are_no_code(self):
        self.assertEqual(self.found[18], {"int twice(int v) const { return v - v; }"})

    def test_every_mutant_differs(self):
        for number, lines in self.found.items():
            self.assertNotIn(TEXT.split("\n")[number - 1].strip(), lines)


if __name__ == "__main__":
    unittest.main()
