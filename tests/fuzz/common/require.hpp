// Reports a broken property from a fuzz target.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace lensd::fuzz {

/// Ends the program if `ok` is false. libFuzzer then stores the input.
template <class... Args>
void require(bool ok, fmt::format_string<Args...> text, Args&&... args) {
  if (ok) return;
  fmt::print(stderr, "broken property: {}\n", fmt::format(text, std::forward<Args>(args)...));
  std::abort();
}

}  // namespace lensd::fuzz
