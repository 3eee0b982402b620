// Plain loops, which the compiler vectorises for SSE4, AVX2 and AVX-512. The best supported instruction set
// is selected at run time.
#pragma once

#include <cstdint>

#ifndef __CUDACC__
#include <hwy/targets.h>
#endif

namespace lensd {

/// Returns the instruction set in use as one of Highway's HWY_… constants; better sets have smaller values.
/// Do not use hwy::SupportedTargets() instead: each call queries the processor, which takes tens of
/// microseconds on virtual machines.
int64_t simd_target();

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

/// Calls the lambda `loops`, compiled for the best instruction set. The compiler must be able to inline all
/// functions that `loops` calls.
template <class Loops>
void vectorised(const Loops& loops) {
#if HWY_ARCH_X86 && !defined(__CUDACC__)
  const int64_t target = simd_target();
  if (target <= HWY_AVX3) return run_avx512(loops);
  if (target <= HWY_AVX2) return run_avx2(loops);
#endif
  loops();
}

}  // namespace lensd
