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
#include "core/graph/scope_request.hpp"
#include "core/image/frame.hpp"
#include "core/image/image.hpp"
#include "core/image/picture.hpp"
#include "core/image/tracks.hpp"
#include "core/image/view.hpp"

namespace lensd {

class Filter;
struct PassArgs;
using CpuPass = void (*)(const Filter&, const PassArgs&, Band);
using CudaPass = void (*)(const Filter&, const PassArgs&, CudaStream);

/// One kernel (CUDA) or one sweep over bands (CPU).
struct PassSpec {
  const char* name = "";      ///< static storage
  CpuPass run = nullptr;      ///< cpu_pass<&F::member>
  CudaPass launch = nullptr;  ///< cuda_pass<&F::member>
  int step = 0;               ///< passed on as PassArgs::step: the iteration or level that this pass computes
  int items = 1;              ///< CPU: rows, or whatever run() counts, split among the workers
  int grain = 1;              ///< CPU: items come in whole multiples of this
  double bytes = 0;           ///< fewest bytes read and written, for the roofline
  double operations = 0;      ///< fewest arithmetic operations, for the roofline
  /// Reads PassArgs::picture. Such passes come first in their node, write nothing but state (the source: its
  /// image), and may run
  /// before the passes of the nodes ahead (on CUDA outside the captured graph, where planes move about).
  bool reads_picture = false;
};

/// What is known about the frame at hand, for passes; travels with the parameter blocks.
struct FrameBlock {
  int64_t index = 0, pts_ns = 0;
  /// Which half of a node's state holds what it kept of the frame before; the other half takes what is kept
  /// of this one. A frame that is run again has the same half: it starts from the same past.
  uint32_t state_index = 0;
  /// 1: there is no frame before (start, seek, cut, new format). What the kept half holds is then zeros or
  /// from before the cut, not the past of this frame; counters that never start anew may be taken from it.
  uint32_t reset = 1;
};
static_assert(sizeof(FrameBlock) == 24);

/// What configure() decides. Scratch lives during the node's passes only and is shared with other nodes.
struct Layout {
  ImageFormat output;
  std::vector<PassSpec> passes;
  std::vector<size_t> scratch_bytes;  ///< blocks of 256-byte-aligned memory on the backend's side
  size_t worker_bytes = 0;            ///< CPU: private memory of each worker
  /// Kept from frame to frame, taken over by a new plan whose node has the same id, filter, input formats and
  /// size of state. There are two halves of this size, zeros at first: see FrameBlock and PassArgs::state.
  size_t state_bytes = 0;
  size_t lasting_bytes = 0;   ///< the first bytes of the state: taken over whatever the formats are
  size_t stats_bytes = 0;     ///< zeroed before the node's first pass of every frame, read late
  bool gives_tracks = false;  ///< the statistics are a TrackTable
  /// The output is the input image itself: the node has no image of its own, and no pass writes `out`.
  bool passes_through = false;
};

/// What a filter is configured for.
struct FilterInputs {
  std::span<const ImageFormat> images;
  const PictureInfo* picture =
      nullptr;  ///< the source node, scopes, and trackers behind the source (see FilterEntry)
  Backend backend = Backend::cpu;
};

/// The two halves of a node's state. Passed to kernels by value, since only the device knows which half is
/// which.
template <class T>
struct StatePair {
  T* halves[2];
  const FrameBlock* frame;
  LENSD_HD const T* before() const { return halves[frame->state_index & 1]; }  ///< kept of the frame before
  /// A copy of a small state as it was before this frame; zeros where there is no past.
  LENSD_HD T past() const { return frame->reset ? T{} : *before(); }
  LENSD_HD T* after() const {
    return halves[~frame->state_index & 1];
  }  ///< to be filled, every byte that counts
};

/// Arguments of one pass. All pointers are on the backend's side except where said.
struct PassArgs {
  int pass = 0;
  int step = 0;  ///< of the pass; see PassSpec
  std::span<const ConstImageRef> in;
  ImageRef out;
  const void* block = nullptr;       ///< CPU: host memory; CUDA: device memory
  const void* host_block = nullptr;  ///< the same bytes on the host (launch shapes only)
  std::span<uint8_t* const> scratch;
  const FrameBlock* frame = nullptr;  ///< on the backend's side, like `block`
  void* state = nullptr;              ///< two halves of state_bytes each; use state_of<T>()
  size_t state_bytes = 0;             ///< of one half
  void* stats = nullptr;
  const TrackTable* tracks =
      nullptr;  ///< of the nearest node upstream that gives tracks; on the backend's side
  const PictureRef* picture = nullptr;  ///< for passes that read it; a host struct on both backends
  uint8_t* worker = nullptr;            ///< CPU: this worker's private memory

  template <class T>
  StatePair<T> state_of() const {
    return {static_cast<T*>(state), reinterpret_cast<T*>(static_cast<uint8_t*>(state) + state_bytes), frame};
  }
};

/// Input and output of the scalar oracle. `state` and `stats` persist between calls, for temporal filters; an
/// empty state is that of a fresh start.
struct ReferenceRun {
  std::vector<Image> in;
  Image out;
  std::vector<uint8_t> state;
  std::vector<Statistic> stats;
  FrameBlock frame = {};
  const TrackTable* tracks = nullptr;     ///< for readers of tracks
  const PictureRef* picture = nullptr;    ///< for filters that were configured to take luma
  std::vector<uint8_t> stats_bytes = {};  ///< where filled in, both backends must leave the same bytes
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

  virtual void run(const PassArgs&, Band) const {}
  /// Queues one pass. Launch shapes depend on formats and `reconfigure` parameters alone: what is queued is
  /// captured once for a plan and replayed. Only in builds with CUDA; the base throws.
  virtual void launch(const PassArgs& args, CudaStream stream) const;

  /// Turns the bytes that the passes left in `stats` into named values.
  virtual void read_stats(const void* stats, std::vector<Statistic>& out) const;

  /// The definition, scalar and readable: tests compare both backends with it.
  virtual void reference(ReferenceRun& run) const = 0;

  /// Checks and sets one parameter. A sentence when refused (the old value stays).
  std::optional<std::string> set(const std::string& name, const ParamValue& value);
};

/// Entries of a pass table: `{.name = "follow", .run = cpu_pass<&Klt::follow>, .launch =
/// cuda_pass<&Klt::launch_follow>}`. The members are const; in builds without CUDA `launch` is null and the
/// member need not be defined.
template <auto member>
struct PassMember;
template <class F, class Where, void (F::*member)(const PassArgs&, Where) const>
struct PassMember<member> {
  static void call(const Filter& filter, const PassArgs& args, Where where) {
    (static_cast<const F&>(filter).*member)(args, where);
  }
};
template <auto member>
inline constexpr CpuPass cpu_pass = &PassMember<member>::call;
#if LENSD_CUDA
template <auto member>
inline constexpr CudaPass cuda_pass = &PassMember<member>::call;
#else
template <auto member>
inline constexpr CudaPass cuda_pass = nullptr;
#endif

/// Pass number `pass` of a layout.
inline void run_pass(const Filter& filter, const Layout& layout, size_t pass, PassArgs args, Band band) {
  const PassSpec& spec = layout.passes[pass];
  args.pass = static_cast<int>(pass), args.step = spec.step;
  spec.run ? spec.run(filter, args, band) : filter.run(args, band);
}
inline void launch_pass(const Filter& filter, const Layout& layout, size_t pass, PassArgs args,
                        CudaStream stream) {
  const PassSpec& spec = layout.passes[pass];
  args.pass = static_cast<int>(pass), args.step = spec.step;
  spec.launch ? spec.launch(filter, args, stream) : filter.launch(args, stream);
}

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
  /// Reads the tracks of a node upstream (along first inputs). Where that node is disabled it passes its
  /// input on as well; where there is none the plan is refused.
  bool needs_tracks = false;
  /// Gives tracks. Where its first input is the upright source it is configured with the picture and may read
  /// luma from there.
  bool gives_tracks = false;
};

template <class F>
constexpr FilterEntry entry(int min_inputs = 1, int max_inputs = 1, Accepts accepts = Accepts::any) {
  return {&F::static_schema, [] { return std::unique_ptr<Filter>(std::make_unique<F>()); }, min_inputs,
          max_inputs, accepts};
}
/// A filter of one input that reads the tracks of a node upstream.
template <class F>
constexpr FilterEntry track_reader() {
  FilterEntry line = entry<F>();
  line.needs_tracks = true;
  return line;
}
/// A filter of one input that gives tracks.
template <class F>
constexpr FilterEntry tracker() {
  FilterEntry line = entry<F>();
  line.gives_tracks = true;
  return line;
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
