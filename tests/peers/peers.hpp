// lensd_peers: compares the filters with OpenCV and with double precision on the same pictures.
//
//   noise, test: sources, clips ──▶ Sample ─┬─▶ Ours (plan + executor, each backend) ──▶ planes ─┐
//                                           └─▶ Case::expected (OpenCV or double) ──▶ planes ────┴▶ Tally
//
// docs/peers.md lists what is compared, with the reasons if it is not an OpenCV function.
#pragma once

#include <functional>
#include <limits>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "core/image/picture.hpp"
#include "core/image/view.hpp"

namespace lensd::peers {

/// One cv::Mat per channel: CV_8U or CV_16U for pictures and for peers that round, CV_64F for references in
/// double precision.
using Planes = std::vector<cv::Mat>;

/// Content of a sample; selects the cases that use it.
enum class Kind : uint8_t {
  gray,
  rgba,
  nv12_flat,      ///< random luma, one chroma value for the whole picture
  yuv444_blocks,  ///< chroma in blocks of 2×2 equal samples, as OpenCV upsamples NV12
  yuv444_full,    ///< full range
  gray16,
  rgba16,
  yuv444_full16,  ///< full range, 16 bits
};

constexpr int bits_of(Kind kind) {
  return kind == Kind::gray16 || kind == Kind::rgba16 || kind == Kind::yuv444_full16 ? 16 : 8;
}

/// A picture as delivered by a decoder.
struct Sample {
  std::string name;  ///< for messages
  Kind kind = Kind::gray;
  PictureInfo info;
  std::vector<cv::Mat> memory;  ///< the picture's planes, interleaved as in the format

  Extent extent() const { return info.extent; }
  PictureRef ref() const;
  /// Returns the planes. gray: 1, rgba: 4, yuv444: 3; nv12: luma and one plane with two channels.
  Planes planes() const;
};

/// A case passes if no value differs by more than `worst` from the expected value, and at least the fraction
/// `equal` of the values are the rounded expected values. `equal` applies to each sample of at least kEnough
/// values, and to all samples together.
struct Bound {
  double worst = 0, equal = 0;
};
inline constexpr int64_t kEnough = 10000;

/// One row of the table.
struct Case {
  std::string filter;  ///< empty: only the conversion of the decoded picture
  std::string params;  ///< as on the command line: "radius=3:border=wrap"
  std::string peer;
  Bound bound;
  std::vector<Kind> kinds;
  std::function<Planes(const Planes&)> expected;
  bool every_frame = false;  ///< compare every frame of clips, not only a few
  int64_t most_pixels = std::numeric_limits<int64_t>::max();  ///< larger pictures are skipped
};

using Cases = std::vector<Case>;
/// Appends `c`, and the same case with 16 bits per sample and `deep` as its bound. `expected` gets pictures
/// with 8 or 16 bits and returns results of the same scale.
void add_at_both(Cases& cases, const Case& c, Bound deep);
/// Each of these functions appends the cases of one subject.
void add_point_cases(Cases& cases);
void add_window_cases(Cases& cases);
void add_median_cases(Cases& cases);
void add_edge_cases(Cases& cases);
void add_geometry_cases(Cases& cases);
void add_colour_cases(Cases& cases);

inline const std::vector<Kind> kGray{Kind::gray}, kRgba{Kind::rgba}, kBoth{Kind::gray, Kind::rgba};

using PlaneFunction = std::function<cv::Mat(const cv::Mat&)>;
/// Returns a function that applies `function` to each colour plane and leaves alpha unchanged.
std::function<Planes(const Planes&)> each_colour(PlaneFunction function);
/// Returns a function that applies `function` to each plane, including alpha.
std::function<Planes(const Planes&)> each_plane(PlaneFunction function);

}  // namespace lensd::peers
