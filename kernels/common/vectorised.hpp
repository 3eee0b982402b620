// Plain loops, which the compiler vectorises for SSE4, AVX2 and AVX-512. The best supported instruction set
// is selected at run time.
#pragma once

#ifndef __CUDACC__
#include <hwy/targets.h>
#endif

namespace lensd {

#if HWY_ARCH_X86 && !defined(__CUDACC__)
template <class Loops>
[[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void run_avx512(const Loops& loops) {
  loops();
}
template <class Loops>
[[gnu::flatten, gnu::target("avx2")]] void run_avx2(const Loops& loops) {
  loops();
}
#endif

/// Calls `loops`, a lambda. The compiler must be able to inline all functions that it calls.
template <class Loops>
void vectorised(const Loops& loops) {
#if HWY_ARCH_X86 && !defined(__CUDACC__)
  const int64_t targets = hwy::SupportedTargets();
  if (targets & HWY_AVX3) return run_avx512(loops);
  if (targets & HWY_AVX2) return run_avx2(loops);
#endif
  loops();
}

}  // namespace lensd
