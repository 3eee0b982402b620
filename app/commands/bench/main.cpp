// lensd_kernel_bench [FILTER…]: lensd bench as a separate program.
#include <cstdio>

#include "app/commands/bench/bench.hpp"
#include "core/base/error.hpp"

int main(int argc, char** argv) {
  try {
    lensd::bench::run({.filters = {argv + 1, argv + argc}});
  } catch (const lensd::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
