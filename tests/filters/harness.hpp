// Runs one filter by itself, as an executor would: configure, block, scratch, state, statistics, all passes.
//
//   Filter + formats ── make_cpu_rig / make_cuda_rig ──▶ Rig ── run(images) ──▶ pixels, statistics, guard
//   check
//
// Images lie in memory with a chosen misalignment and row padding; the bytes around rows are filled with a
// pattern and checked after each run. The buffers end with the last row, so that sanitizers see reads beyond
// it.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/graph/exec/bound_nodes.hpp"
#include "core/graph/filter.hpp"

namespace lensd::test {

/// Where images lie: `offset` bytes into an aligned block, rows `padding` bytes longer than needed.
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
  std::vector<uint8_t> stats_bytes;  ///< what the passes left
};

/// What some filters get besides images.
struct RunExtras {
  const PictureRef* picture = nullptr;
  std::span<const uint8_t> tracks = {};  ///< bytes of a TrackTable
  bool again = false;                    ///< the frame of the last run once more
  bool cut = false;                      ///< the frames before do not belong to this one
};

class Rig {
 public:
  virtual ~Rig() = default;
  /// One frame. The filter's present parameters count, as long as they need no reconfiguration.
  virtual RunOutput run(const std::vector<Image>& in, const RunExtras& extras) = 0;
  RunOutput run(const std::vector<Image>& in, const PictureRef* picture = nullptr) {
    return run(in, RunExtras{.picture = picture});
  }
  /// From here on run() replays what the passes queue now (CUDA only).
  virtual void capture() {}
  bool has_state = false;

 protected:
  /// The frame block of the next run.
  FrameBlock next_frame(const RunExtras& extras) {
    if (extras.cut) clock_.cut();
    clock_.tick(extras.again);
    if (!extras.again) ++index_;
    return {.index = index_,
            .pts_ns = index_ * 40'000'000,
            .state_index = clock_.state_index(),
            .reset = clock_.reset()};
  }

 private:
  StateClock clock_;
  int64_t index_ = -1;
};

/// Throws what configure() throws.
std::unique_ptr<Rig> make_cpu_rig(Filter& filter, const FilterInputs& inputs, Placement placement,
                                  int threads);
/// Only in builds with CUDA and with a device; check cuda_unavailable().
std::unique_ptr<Rig> make_cuda_rig(Filter& filter, const FilterInputs& inputs, Placement placement);

/// Why there is no CUDA run, empty when there is one.
std::string cuda_unavailable();

/// A host or device picture of an image's rows.
size_t pitch_of(const ImageFormat& format, Placement placement);
/// Bytes from the block's start to the end of the last row.
size_t bytes_of(const ImageFormat& format, Placement placement);
inline constexpr uint8_t kGuard = 0xa5;
/// Spreads tight pixels over a block that is filled with kGuard, and back; pack says whether the guards
/// stand.
void unpack(const Image& image, Placement placement, uint8_t* block);
bool pack(const uint8_t* block, Placement placement, Image& image);

/// Uniform noise, alpha included.
Image noise(ImageFormat format, std::mt19937& random);
enum class Draw { all, live };
/// Sets every parameter (or the live ones alone, which need no new plan) to a random allowed value, bounds
/// included more often than by chance; sizes in pixels stay moderate. Returns them as text.
std::string randomise(Filter& filter, std::mt19937& random, Draw which = Draw::all);

/// Empty when equal, else where the first difference is and how many there are.
std::string difference(const Image& expected, const Image& actual);

}  // namespace lensd::test
