// This file has no include guard, because it is included inside lensd::HWY_NAMESPACE once for each SIMD
// target.

/// Returns a.low · b.low + a.high · b.high in 32 bits per lane; low and high are a lane's signed 16-bit
/// halves.
template <class D32, class V16>
HWY_INLINE hn::Vec<D32> pair_dot(D32 d32, V16 a, V16 b) {
#if HWY_MAJOR > 1 || HWY_MINOR >= 1
  return hn::WidenMulPairwiseAdd(d32, a, b);
#else
  // Highway before 1.1: on x86, ReorderWidenMulAccumulate adds the products of adjacent lanes (pmaddwd), as
  // WidenMulPairwiseAdd does.
  static_assert(HWY_ARCH_X86, "Highway 1.1 or newer is needed here");
  hn::Vec<D32> unused = hn::Zero(d32);
  return hn::ReorderWidenMulAccumulate(d32, a, b, hn::Zero(d32), unused);
#endif
}
