// scopes: histogram, waveform, RGB parade and vectorscope of an image, as exact counts of pixels.
//
// The counts are the node's statistics, laid out as core/graph/scope_request.hpp says; its output image is
// 1×1 and means nothing. Luma and colour differences are those of BT.601 or, for sources of BT.709 or
// BT.2020, of BT.709 (ITU-R BT.601-7, BT.709-6), in full range and fixed point, whatever the image went
// through since it was decoded.
//
// Formats: Gray8, RGBA8. Aliasing: none. Border rule: none. Temporal reach: none. Exact: integers.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/scopes/scope_math.hpp"

namespace lensd {

class Scope final : public FilterBase<Scope, ScopeParams, ScopeBlock> {
 public:
  explicit Scope(ScopeKind kind) : kind_(kind) {}
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  /// The image only; the definition of the counts is count_reference().
  void reference(ReferenceRun& run) const override;
  std::vector<uint32_t> count_reference(const Image& image) const;

 private:
  ScopeKind kind_;
};

}  // namespace lensd
