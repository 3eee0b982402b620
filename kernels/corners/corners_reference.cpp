// The scalar oracle of the corner detector.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "kernels/common/border/border.hpp"
#include "kernels/corners/corners.hpp"
#include "kernels/corners/corners_math.hpp"

namespace lensd {
namespace {

int reflected(int i, int n) {
  return border_index(i, n, Border::reflect101);
}

struct Gradient {
  int dx, dy;
};

/// Returns the largest number of fraction bits of a pixel with which gradients fit in 16 bits and 2·Σ dx² in
/// 32 bits.
int fraction_bits(const Image& luma, int block) {
  if (!luma.is_deep()) return 0;
  int bits = 0;
  for (; bits < 5; ++bits) {
    const double gradient = 4 * 255 * std::exp2(bits + 1);
    if (2 * gradient * gradient * block * block >= std::exp2(31)) break;
  }
  return bits;
}

/// Returns the Sobel 3×3 gradient of every pixel, in grey levels with `bits` fraction bits.
std::vector<Gradient> gradients(const Image& luma, int bits) {
  const int w = luma.width(), h = luma.height();
  const double unit = luma.is_deep() ? std::exp2(7 - bits) : 1;
  std::vector<Gradient> result;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const auto at = [&](int i, int j) {
        return static_cast<int>(
            std::floor(luma.sample(reflected(x + i, w), reflected(y + j, h)) / unit + 0.5));
      };
      Gradient g{0, 0};
      for (int k = -1; k <= 1; ++k) {
        g.dx += (2 - k * k) * (at(1, k) - at(-1, k));
        g.dy += (2 - k * k) * (at(k, 1) - at(k, -1));
      }
      result.push_back(g);
    }
  return result;
}

/// Returns the smallest eigenvalue at every pixel. The block starts block / 2 pixels left of and above the
/// pixel. Border rule: gradients are mirrored without a change of sign.
std::vector<float> eigenvalues(const Image& luma, int block) {
  const int w = luma.width(), h = luma.height();
  const std::vector<Gradient> gradient = gradients(luma, fraction_bits(luma, block));
  std::vector<float> result;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int32_t s = 0, a = 0, b = 0;
      for (int j = -(block / 2); j < block - block / 2; ++j)
        for (int i = -(block / 2); i < block - block / 2; ++i) {
          const Gradient& g = gradient[static_cast<size_t>(reflected(y + j, h) * w + reflected(x + i, w))];
          s += g.dx * g.dx + g.dy * g.dy, a += g.dx * g.dx, b += g.dx * g.dy;
        }
      result.push_back(corner_eigenvalue(s, a, b));
    }
  return result;
}

}  // namespace

std::vector<Corner> corners_reference(const Image& luma, const CornerParams& params, const TrackTable* tracks,
                                      uint32_t wanted, CornerCount& count) {
  count = {};
  wanted = std::min(wanted, static_cast<uint32_t>(params.capacity));
  if (wanted == 0) return {};
  const int w = luma.width(), h = luma.height();
  const std::vector<float> map = eigenvalues(luma, params.block);
  const float strongest = *std::ranges::max_element(map), threshold = params.quality * strongest;
  count.strongest = std::bit_cast<uint32_t>(strongest);

  const auto key = [&](int x, int y) {
    return corner_key(std::bit_cast<uint32_t>(map[static_cast<size_t>(y * w + x)]), x, y);
  };
  std::vector<uint64_t> candidates;
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      if (!(map[static_cast<size_t>(y * w + x)] > threshold)) continue;
      uint64_t most = 0;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) most = std::max(most, key(x + i, y + j));
      if (most == key(x, y)) candidates.push_back(most);
    }
  std::ranges::sort(candidates, std::greater<>());

  struct Point {
    int x, y;
  };
  std::vector<Point> kept;
  if (tracks)
    for (uint32_t i = 0; i < tracks->capacity; ++i) {
      const Track& track = tracks->tracks()[i];
      if (is_alive(track.status)) kept.push_back({corner_pixel(track.x, w), corner_pixel(track.y, h)});
    }
  const uint32_t reach = corner_reach_squared(params.min_distance);
  std::vector<Corner> found;
  for (const uint64_t candidate : candidates) {
    const int x = corner_key_x(candidate), y = corner_key_y(candidate);
    const auto close = [&](const Point& p) {
      const int dx = p.x - x, dy = p.y - y;
      return static_cast<uint32_t>(dx * dx + dy * dy) < reach;
    };
    if (std::any_of(kept.rbegin(), kept.rend(), close)) continue;
    kept.push_back({x, y});
    found.push_back({x, y, corner_key_strength(candidate)});
    if (found.size() == wanted) break;
  }
  count.found = static_cast<uint32_t>(found.size());
  return found;
}

}  // namespace lensd
