// Guard for vector code that needs whole vectors (shuffles between lanes, several lane widths at once).
//
// Highway before 1.1 on GCC before 12.3 has a baseline of one-lane vectors, which lack such operations; there
// the scalar loop that follows each vector loop does all the work. Read after <hwy/highway.h>, inside the
// per-target part, as `#if LENSD_SIMD_WIDE`.
#pragma once

#define LENSD_SIMD_WIDE (HWY_TARGET != HWY_SCALAR)
