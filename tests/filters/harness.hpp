// Runs a single filter as an executor does: configure, block, scratch, state, statistics, all passes.
//
//   Filter + formats ── make_cpu_rig / make_cuda_rig ──▶ Rig ── run(images) ──▶ RunOutput
//
// Images have a chosen misalignment and row padding. The bytes before and between rows are filled with a
// pattern, which is checked in the output after each run. Buffers end with the last row, so that sanitizers
// detect reads beyond it.
#pragma once

#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/graph/exec/bound_plan.hpp"
#include "core/graph/filter.hpp"

namespace lensd::test {

/// Placement of images: `offset` bytes into an aligned block, rows `padding` bytes longer than needed; twice
/// as many for samples of two bytes.
struct Placement {
  int offset = 0, padding = 0;
  bool aligned_rows = false;  ///< pitch rounded up to 256 bytes before `padding` is added
};
inline constexpr Placement kAligned{0, 0, true};
inline constexpr Placement kOdd{3, 5, false};
inline constexpr Placement kHalfAligned{4, 8, true};

struct RunOutput {
  Image image;
  std::vector<Statistic> stats;
  bool guards_untouched = true;
  std::vector<uint8_t> stats_bytes;  ///< as written by the passes
};

/// Inputs of a run besides the images.
struct RunExtras {
  const PictureRef* picture = nullptr;
  std::span<const uint8_t> tracks = {};  ///< bytes of a TrackTable
  bool again = false;                    ///< repeats the previous frame
  bool cut = false;                      ///< resets the state before this frame
  FieldOrder fields = FieldOrder::progressive;
};

class Rig {
 public:
  virtual ~Rig() = default;
  /// Runs one frame with the filter's current parameters. Only live parameters may have changed.
  virtual RunOutput run(const std::vector<Image>& in, const RunExtras& extras) = 0;
  RunOutput run(const std::vector<Image>& in, const PictureRef* picture = nullptr) {
    return run(in, RunExtras{.picture = picture});
  }
  /// Captures the passes in a CUDA graph, which later run() calls replay (CUDA only).
  virtual void capture() {}
  bool has_state = false;

 protected:
  /// Returns the frame block of the next run.
  FrameBlock next_frame(const RunExtras& extras) {
    if (extras.cut) state_.reset_next();
    state_.advance(extras.again);
    if (!extras.again) ++index_;
    return {.index = index_,
            .pts_ns = index_ * 40'000'000,
            .state_index = state_.index(),
            .reset = state_.reset(),
            .fields = extras.fields};
  }

 private:
  StateIndex state_;
  int64_t index_ = -1;
};

/// Both functions throw the errors of configure().
std::unique_ptr<Rig> make_cpu_rig(Filter& filter, const FilterInputs& inputs, Placement placement,
                                  int threads);
/// Needs a build with CUDA and a device; check cuda_unavailable() first.
std::unique_ptr<Rig> make_cuda_rig(Filter& filter, const FilterInputs& inputs, Placement placement);

/// Returns why CUDA cannot be used, or an empty string if it can.
std::string cuda_unavailable();

/// Returns the placement's offset in bytes.
size_t offset_of(const ImageFormat& format, Placement placement);
/// Returns the bytes from one row to the next.
size_t pitch_of(const ImageFormat& format, Placement placement);
/// Returns the bytes from the block's start to the end of the last row.
size_t bytes_of(const ImageFormat& format, Placement placement);
inline constexpr uint8_t kGuard = 0xa5;
/// unpack() fills a block with kGuard and copies the image's rows into it. pack() copies the rows back and
/// returns true if all bytes before and between them still equal kGuard.
void unpack(const Image& image, Placement placement, uint8_t* block);
bool pack(const uint8_t* block, Placement placement, Image& image);

/// Returns true if pictures of this size have at most LENSD_MAX_PIXELS pixels (environment variable; without
/// it there is no limit). Runs with sanitizers, in which oracles are slow, leave out large pictures.
bool within_limit(Extent size);
/// Returns the sizes that are within the limit.
std::vector<Extent> within_limit(std::vector<Extent> sizes);
/// Returns uniform noise, alpha included.
Image noise(ImageFormat format, std::mt19937& random);
enum class Draw { all, live };
/// Sets every parameter, or only the live ones, to a random valid value. Draws bounds more often than other
/// values and limits sizes in pixels. Returns the values as text.
std::string randomise(Filter& filter, std::mt19937& random, Draw which = Draw::all);
/// Returns values that cover a parameter's range: all choices, all integers of a short range, or 9 numbers.
/// Limits sizes in pixels as randomise() does. Empty for texts and matrices.
std::vector<ParamValue> spread(const ParamSpec& spec);

/// Returns an empty string if the images are equal, otherwise the number of differences and the first one.
std::string difference(const Image& expected, const Image& actual);

}  // namespace lensd::test
