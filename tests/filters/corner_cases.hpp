// Detections of corners on both backends and by the oracle, and pictures for them.
#pragma once

#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "kernels/corners/corners.hpp"

namespace lensd {

bool operator==(const Corner& a, const Corner& b);
std::ostream& operator<<(std::ostream& out, const Corner& c);

namespace test {

struct CornerCase {
  Image luma;  ///< Gray8, or Gray16 with 7 fraction bits
  CornerParams params;
  std::vector<Track> living;
  uint32_t wanted = 1000;
};

struct FoundCorners {
  std::vector<Corner> corners;
  CornerCount count;
};

FoundCorners expected_corners(const CornerCase& test);
/// Detects corners on the CPU. Fills scratch and worker memory with a pattern first.
FoundCorners corners_on_cpu(const CornerCase& test, int threads);

enum class Side { cpu, cuda };
/// Compares a backend with the oracle: strengths, positions and order.
void compare_corners(const CornerCase& test, Side side, const std::string& what);

template <class Value>
Image corner_picture(Extent e, Value value) {
  Image image({PixelFormat::gray8, e});
  for (int y = 0; y < e.height; ++y)
    for (int x = 0; x < e.width; ++x) image.at(x, y) = static_cast<uint8_t>(value(x, y));
  return image;
}
/// Returns overlapping rectangles with some noise: like real pictures, few strong and many weak corners.
Image corner_scene(Extent e, std::mt19937& random);
/// Returns the picture with 7 fraction bits, which are `random` or 0.
Image with_fractions(const Image& image, std::mt19937* random);
std::vector<Track> tracks_in(Extent e, int count, std::mt19937& random);

}  // namespace test
}  // namespace lensd
