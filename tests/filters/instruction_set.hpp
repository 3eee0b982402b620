// Runs filters with the instruction sets of older processors.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <vector>

namespace lensd::test {

/// During its lifetime, the filters use no better instruction set than `best`.
class InstructionSet {
 public:
  explicit InstructionSet(int64_t best) {
    // In Highway's target masks, better targets have lower bits.
    hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(best - 1));
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~InstructionSet() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  InstructionSet(const InstructionSet&) = delete;
  InstructionSet& operator=(const InstructionSet&) = delete;
};

/// Returns the instruction sets of this processor that the filters are compiled for, the best one first.
inline std::vector<int64_t> instruction_sets() {
  std::vector<int64_t> sets;
  for (const int64_t set : {HWY_AVX3, HWY_AVX2, HWY_SSE4})
    if (hwy::SupportedTargets() & set) sets.push_back(set);
  return sets;
}

}  // namespace lensd::test
