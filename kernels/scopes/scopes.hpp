// scopes: counts the pixels of an image exactly, for histogram, waveform, RGB parade and vectorscope.
//
// The counts are the node's statistics, with the layout described in core/graph/scope_request.hpp; the output
// image is a 1×1 dummy. Luma and colour differences use the BT.601 matrix or, for BT.709 and BT.2020 sources,
// the BT.709 matrix (ITU-R BT.601-7, BT.709-6), in full range and fixed point. The filters before a scope do
// not change the matrix.
//
// 16 bits: samples, luma16() and colour differences are rounded to 10 bits. Colour differences are computed
// from all 16 bits and rounded once.
//
// Formats: all. Aliasing: none. Border rule: none. Temporal reach: none. Exact: integers.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/scopes/scope_math.hpp"

namespace lensd {

class Scope final : public FilterBase<Scope, ScopeParams, ScopeBlock> {
 public:
  explicit Scope(ScopeKind kind) : kind_(kind) {}
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  /// Sets only the output image; the oracle of the counts is count_reference().
  void reference(ReferenceRun& run) const override;
  std::vector<uint32_t> count_reference(const Image& image) const;

 private:
  // Bands of rows count into private tables and add these to the common counters. Bands of columns write only
  // their own counters. The functions of columns are in scope_columns.cpp.
  void count_histogram(const PassArgs& args, Band rows) const;
  void launch_histogram(const PassArgs& args, CudaStream stream) const;
  void count_waveform(const PassArgs& args, Band columns) const;
  void launch_waveform(const PassArgs& args, CudaStream stream) const;
  void count_parade(const PassArgs& args, Band columns) const;
  void launch_parade(const PassArgs& args, CudaStream stream) const;
  void count_chroma(const PassArgs& args, Band rows) const;
  void launch_chroma(const PassArgs& args, CudaStream stream) const;

  ScopeKind kind_;
};

}  // namespace lensd
