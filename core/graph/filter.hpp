// The interface between the graph and a filter.
//
//   schema ──▶ parameters ──▶ fill_block() ──▶ block: plain data that both backends' code reads
//   configure(formats) ──▶ Layout: output format, passes, scratch      (set-up; may allocate)
//   run(args, band) on CPU workers · launch(args, stream) on CUDA      (per frame; may not allocate, lock,
//   log
//                                                                       or synchronise)
//
// The executor opens a timing scope around each pass; filters never time themselves. A filter object belongs
// to the process thread; run() is called by several workers at once and therefore const.
//
// Contract for every filter: any extent from 1×1 to 16384×16384 and any pitch; input and output never alias;
// bytes outside an image's rows are neither read nor written; the output is the same on both backends and
// for any number of threads; alpha passes through untouched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/param.hpp"
#include "core/device/backend.hpp"
#include "core/device/cuda_fwd.hpp"
#include "core/device/workers.hpp"
#include "core/graph/tap.hpp"
#include "core/image/frame.hpp"
#include "core/image/image.hpp"
#include "core/image/picture.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// One kernel (CUDA) or one sweep over bands (CPU).
struct PassSpec {
  const char* name = "";  ///< static storage
  int items = 1;          ///< CPU: rows, or whatever run() counts, split among the workers
  int grain = 1;          ///< CPU: items come in whole multiples of this
  double bytes = 0;       ///< fewest bytes read and written, for the roofline
  double operations = 0;  ///< fewest arithmetic operations, for the roofline
};

/// What configure() decides. Scratch lives during the node's passes only and is shared with other nodes.
struct Layout {
  ImageFormat output;
  std::vector<PassSpec> passes;
  std::vector<size_t> scratch_bytes;  ///< blocks of 256-byte-aligned memory on the backend's side
  size_t worker_bytes = 0;            ///< CPU: private memory of each worker
  size_t state_bytes = 0;             ///< kept from frame to frame; zeroed on install, seek and format change
  size_t stats_bytes = 0;             ///< zeroed before the node's first pass of every frame, read late
};

/// What a filter is configured for.
struct FilterInputs {
  std::span<const ImageFormat> images;
  const PictureInfo* picture = nullptr;  ///< the source node and scopes only
  Backend backend = Backend::cpu;
};

/// Arguments of one pass. All pointers are on the backend's side except where said.
struct PassArgs {
  int pass = 0;
  std::span<const ConstImageRef> in;
  ImageRef out;
  const void* block = nullptr;       ///< CPU: host memory; CUDA: device memory
  const void* host_block = nullptr;  ///< the same bytes on the host (launch shapes only)
  std::span<uint8_t* const> scratch;
  void* state = nullptr;
  void* stats = nullptr;
  const PictureRef* picture = nullptr;  ///< the source node only; a host struct on both backends
  uint8_t* worker = nullptr;            ///< CPU: this worker's private memory
};

/// Input and output of the scalar oracle. `state` and `stats` persist between calls, for temporal filters.
struct ReferenceRun {
  std::vector<Image> in;
  Image out;
  std::vector<uint8_t> state;
  std::vector<Statistic> stats;
};

class Filter {
 public:
  virtual ~Filter() = default;

  virtual const FilterSchema& schema() const = 0;
  virtual void* params() = 0;
  const void* params() const { return const_cast<Filter*>(this)->params(); }

  /// Output, passes and memory for these inputs. Throws Error(invalid_config) when they do not fit.
  virtual Layout configure(const FilterInputs& inputs) = 0;

  /// Derived parameters (radii, taps, tables) as plain data; `block` has block_bytes() bytes.
  virtual size_t block_bytes() const = 0;
  virtual void fill_block(void* block) const = 0;

  /// What the CUDA launches depend on besides formats; a captured graph is valid while it stays the same.
  virtual uint32_t variant() const { return 0; }

  virtual void run(const PassArgs& args, Band band) const = 0;
  /// Queues one pass. Only in builds with CUDA; the base throws.
  virtual void launch(const PassArgs& args, CudaStream stream) const;

  /// Turns the bytes that the passes left in `stats` into named values.
  virtual void read_stats(const void* stats, std::vector<Statistic>& out) const;

  /// The definition, scalar and readable: tests compare both backends with it.
  virtual void reference(ReferenceRun& run) const = 0;

  /// Checks and sets one parameter. A sentence when refused (the old value stays).
  std::optional<std::string> set(const std::string& name, const ParamValue& value);
};

/// Supplies what every filter repeats: parameters `P` and the block `B`, filled by `B::make(params)` (a
/// static function in the filter's *_math.hpp that takes const P&). Derived classes have a static
/// `FilterSchema make_schema()`.
template <class Self, class P, class B>
class FilterBase : public Filter {
  static_assert(std::is_trivially_copyable_v<B>);

 public:
  static const FilterSchema& static_schema() {
    static const FilterSchema schema = Self::make_schema();
    return schema;
  }
  const FilterSchema& schema() const final { return static_schema(); }
  void* params() final { return &params_; }
  size_t block_bytes() const final { return sizeof(B); }
  void fill_block(void* block) const final { *static_cast<B*>(block) = B::make(params_); }

 protected:
  static const B& block_of(const PassArgs& args) { return *static_cast<const B*>(args.block); }
  P params_;
};

/// Formats that a filter takes; the plan adds conversion nodes where an input has another one. A filter
/// with several inputs gets them all in the same format.
enum class Accepts : uint8_t { any, gray8, rgba8 };

/// A line of the registry.
struct FilterEntry {
  const FilterSchema& (*schema)();
  std::unique_ptr<Filter> (*make)();
  int min_inputs = 1, max_inputs = 1;
  Accepts accepts = Accepts::any;
};

template <class F>
constexpr FilterEntry entry(int min_inputs = 1, int max_inputs = 1, Accepts accepts = Accepts::any) {
  return {&F::static_schema, [] { return std::unique_ptr<Filter>(std::make_unique<F>()); }, min_inputs,
          max_inputs, accepts};
}

/// The filters that a graph may name, and the makers of the nodes that the plan adds by itself.
/// Immutable; kernels/registry.cpp defines the one that the program uses.
struct Registry {
  std::span<const FilterEntry> filters;
  std::unique_ptr<Filter> (*make_source)() = nullptr;                 ///< decoded picture → Gray8 or RGBA8
  std::unique_ptr<Filter> (*make_convert)(PixelFormat to) = nullptr;  ///< Gray8 ↔ RGBA8
  std::unique_ptr<Filter> (*make_scope)(ScopeKind kind) =
      nullptr;  ///< counts in `stats`; its image means nothing

  /// Null when there is no such filter.
  const FilterEntry* find(std::string_view name) const noexcept;
};

}  // namespace lensd
