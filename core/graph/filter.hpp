// The interface between the graph and a filter.
//
//   schema ──▶ parameters ──▶ fill_block() ──▶ block: plain data that both backends read
//   configure(formats) ──▶ Layout: output format, passes, scratch      set-up; may allocate
//   run(args, band) on CPU workers · launch(args, stream) on CUDA      per frame; must not allocate, lock,
//                                                                      log or synchronise
//
// The executor times each pass; filters do not time themselves. A filter is owned by the process thread.
// run() is const because several workers call it at once.
//
// Contract for every filter: any extent from 1×1 to 16384×16384 and any pitch; input and output never alias;
// bytes outside an image's rows are neither read nor written; the output is the same on both backends and
// for any number of threads; alpha is copied.
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
#include "core/image/colour_settings.hpp"
#include "core/image/frame.hpp"
#include "core/image/image.hpp"
#include "core/image/picture.hpp"
#include "core/image/tracks.hpp"
#include "core/image/view.hpp"

namespace lensd {

class Filter;
struct PassArgs;
using CpuPass = void (*)(const Filter&, const PassArgs&, Band);
/// Queues a pass. The launch is captured in CUDA graphs and replayed, so launch configurations may only
/// depend on formats and `reconfigure` parameters.
using CudaPass = void (*)(const Filter&, const PassArgs&, CudaStream);

/// One kernel (CUDA) or one loop over row bands (CPU).
struct PassSpec {
  const char* name = "";      ///< a string with static storage
  CpuPass run = nullptr;      ///< runs one band; made with cpu_pass<&F::member>
  CudaPass launch = nullptr;  ///< queues the pass; made with cuda_pass<&F::member>
  int step = 0;               ///< iteration or level that this pass computes; copied to PassArgs::step
  int items = 1;              ///< CPU: number of rows or other items to divide among the workers
  int grain = 1;              ///< CPU: the size of each band but the last is a multiple of this
  double bytes = 0;           ///< minimum number of bytes read and written, for the roofline
  double operations = 0;      ///< minimum number of arithmetic operations, for the roofline
  /// True if the pass reads PassArgs::picture. Such passes come first in their node. They write only state,
  /// except those of the source node, which write its image. They may run before passes of earlier nodes and,
  /// on CUDA, outside the captured graph.
  bool reads_picture = false;
};

/// Per-frame values that passes read; uploaded with the parameter blocks.
struct FrameBlock {
  int64_t index = 0, pts_ns = 0;
  /// Index of the state buffer with the previous frame's state; the other buffer receives this frame's state.
  /// Unchanged if a frame is run again.
  uint32_t state_index = 0;
  /// 1: there is no previous frame (start, seek, cut, new format). The previous state then holds zeros or the
  /// state before the cut, from which monotonic counters may be carried over.
  uint32_t reset = 1;
  FieldOrder fields = FieldOrder::progressive;  ///< field order of the source's frame
};
static_assert(sizeof(FrameBlock) == 32);

inline constexpr size_t kMaxCounterBytes = 256;  ///< maximum of Layout::counter_bytes

/// The result of configure(). Scratch memory is valid only during the node's passes; nodes share it.
struct Layout {
  ImageFormat output;
  std::vector<PassSpec> passes;
  std::vector<size_t> scratch_bytes;  ///< sizes of 256-byte-aligned blocks in the backend's memory
  size_t worker_bytes = 0;            ///< CPU: size of each worker's private memory
  /// Size of each of the two state buffers, which are zeroed initially; see FrameBlock. A new plan keeps a
  /// node's state if id, filter, input formats and state size are the same.
  size_t state_bytes = 0;
  size_t lasting_bytes = 0;  ///< bytes at the state's start that are kept even if formats or size change
  /// Bytes at the state's start that are kept while the node is not in the plan; at most kMaxCounterBytes.
  size_t counter_bytes = 0;
  size_t stats_bytes = 0;     ///< size of the statistics, zeroed before every frame
  bool gives_tracks = false;  ///< the statistics are a TrackTable
  /// True if the output is the input image: no pass writes `out`.
  bool passes_through = false;
};

struct FilterInputs {
  std::span<const ImageFormat> images;
  /// Set for the source node, automatic nodes and some trackers (FilterEntry::gives_tracks); else null.
  const PictureInfo* picture = nullptr;
  int precision = 8;           ///< bits per sample of the source node's output, 8 or 16
  ColourSettings colour = {};  ///< settings of the source node's conversion
  Backend backend = Backend::cpu;
};

/// A node's two state buffers. Kernels take a copy and read FrameBlock::state_index from device memory.
template <class T>
struct StatePair {
  T* halves[2];
  const FrameBlock* frame;
  /// Returns the previous frame's state.
  LENSD_HD const T* before() const { return half(frame->state_index); }
  /// Returns a copy of the previous frame's state, or T{} if there is no previous frame.
  LENSD_HD T past() const { return frame->reset ? T{} : *before(); }
  /// Returns the buffer for this frame's state. Its contents are stale.
  LENSD_HD T* after() const { return half(~frame->state_index); }

 private:
  /// Selects with a condition, because device code would copy the array to local memory to index it.
  LENSD_HD T* half(uint32_t i) const { return (i & 1) != 0 ? halves[1] : halves[0]; }
};

/// Arguments of one pass. Pointers refer to the backend's memory unless marked "host".
struct PassArgs {
  int step = 0;  ///< PassSpec::step
  std::span<const ConstImageRef> in;
  ImageRef out;
  const void* block = nullptr;
  const void* host_block = nullptr;  ///< host: the bytes of `block`, for launch configurations only
  std::span<uint8_t* const> scratch;
  const FrameBlock* frame = nullptr;
  void* state = nullptr;   ///< two buffers of state_bytes each; use state_of<T>()
  size_t state_bytes = 0;  ///< size of one buffer
  void* stats = nullptr;
  const TrackTable* tracks = nullptr;   ///< tracks of the nearest upstream tracker
  const PictureRef* picture = nullptr;  ///< host: for passes with PassSpec::reads_picture
  uint8_t* worker = nullptr;            ///< CPU: this worker's private memory

  template <class T>
  StatePair<T> state_of() const {
    return {static_cast<T*>(state), reinterpret_cast<T*>(static_cast<uint8_t*>(state) + state_bytes), frame};
  }
};

/// Input and output of Filter::reference(). `state` and `stats` persist between calls. An empty `state` means
/// that there is no previous frame.
struct ReferenceRun {
  std::vector<Image> in;
  Image out;
  std::vector<uint8_t> state;
  std::vector<Statistic> stats;
  FrameBlock frame = {};
  const TrackTable* tracks = nullptr;     ///< for filters that read tracks
  const PictureRef* picture = nullptr;    ///< for filters that were configured with a picture
  std::vector<uint8_t> stats_bytes = {};  ///< if not empty: the statistics that both backends must write
};

class Filter {
 public:
  virtual ~Filter() = default;

  virtual const FilterSchema& schema() const = 0;
  /// Returns the parameters that schema() describes.
  virtual void* params() = 0;
  const void* params() const { return const_cast<Filter*>(this)->params(); }

  /// Returns output, passes and memory for these inputs. Throws Error(invalid_config) if the inputs do not
  /// fit.
  virtual Layout configure(const FilterInputs& inputs) = 0;

  /// Returns the size of the parameter block.
  virtual size_t block_bytes() const = 0;
  /// Writes derived parameters (radii, taps, tables) as plain data to `block` of block_bytes() bytes.
  virtual void fill_block(void* block) const = 0;

  /// Appends the values in `stats`, which the passes wrote, to `out` with their names.
  virtual void read_stats(const void* stats, std::vector<Statistic>& out) const;

  /// Computes the reference result in scalar code. Tests compare both backends with it.
  virtual void reference(ReferenceRun& run) const = 0;

  /// Sets one parameter. Returns nullopt, or why the value is refused; the old value is then kept.
  std::optional<std::string> set(const std::string& name, const ParamValue& value);
};

/// cpu_pass and cuda_pass convert a const member function to an entry of a pass table: `{.name = "follow",
/// .run = cpu_pass<&Klt::follow>, .launch = cuda_pass<&Klt::launch_follow>}`. In builds without CUDA,
/// cuda_pass is null and the member function need not be defined.
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

/// Computes the items of `band`. Thread-safe.
inline void run_pass(const Filter& filter, const PassSpec& pass, PassArgs args, Band band) {
  args.step = pass.step;
  pass.run(filter, args, band);
}
/// Queues the pass on `stream`; see CudaPass. Call in builds with CUDA only.
inline void launch_pass(const Filter& filter, const PassSpec& pass, PassArgs args, CudaStream stream) {
  args.step = pass.step;
  pass.launch(filter, args, stream);
}

/// Implements Filter for parameters `P` and a block `B` that `static B B::make(const P&)` returns. `Self`
/// must have a static `FilterSchema make_schema()`.
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
  size_t block_bytes() const override { return sizeof(B); }
  void fill_block(void* block) const override { *static_cast<B*>(block) = B::make(params_); }

 protected:
  static const B& block_of(const PassArgs& args) { return *static_cast<const B*>(args.block); }
  P params_;
};

/// Formats that a filter accepts, each with 8 and with 16 bits per sample. The plan adds conversions for
/// inputs in another format, so that all inputs of a filter have the same format.
enum class Accepts : uint8_t { any, gray, rgba };

struct FilterEntry {
  const FilterSchema& (*schema)() = nullptr;
  std::unique_ptr<Filter> (*make)() = nullptr;
  const char* purpose = "";  ///< the row of the README's table that lists the filter
  int min_inputs = 1, max_inputs = 1;
  Accepts accepts = Accepts::any;
  /// True if the filter reads the tracks of an upstream node (along first inputs). If that node is disabled,
  /// this node passes its input through too. If there is no such node, make_plan() throws.
  bool needs_tracks = false;
  /// True if the filter outputs tracks. If its first input is the source node, and the picture is not rotated
  /// or mirrored, the filter is configured with the picture and may read the picture's luma.
  bool gives_tracks = false;
  /// True if the filter moves pixels other than by scaling the whole image. Tracks of the first input then do
  /// not fit the output.
  bool moves_pixels = false;
};

/// Returns all working formats that the filter takes without conversion.
std::vector<PixelFormat> accepted_formats(const FilterEntry& entry);

/// Returns the entry of filter `F`. `traits` sets the members after `purpose`.
template <class F>
constexpr FilterEntry entry(const char* purpose, FilterEntry traits = {}) {
  traits.schema = &F::static_schema, traits.purpose = purpose;
  traits.make = [] { return std::unique_ptr<Filter>(std::make_unique<F>()); };
  return traits;
}

/// The filters that a graph may name, and factories for the nodes that the plan adds. Immutable.
/// kernels/registry.cpp defines the program's registry.
struct Registry {
  std::span<const FilterEntry> filters;
  std::unique_ptr<Filter> (*make_source)() = nullptr;                 ///< decoded picture → working image
  std::unique_ptr<Filter> (*make_convert)(PixelFormat to) = nullptr;  ///< between working formats
  std::unique_ptr<Filter> (*make_scope)(ScopeKind kind) = nullptr;    ///< writes counts to `stats` only

  /// Returns the filter's entry, or null if there is no such filter.
  const FilterEntry* find(std::string_view name) const noexcept;
};

}  // namespace lensd
