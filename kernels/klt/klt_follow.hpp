// Pyramidal Lucas-Kanade after Bouguet, for one track. Both backends and the oracle run the same steps with
// different `Window` classes.
//
// A Window holds samples I and derivatives of a window in one picture, and compares them with samples J of a
// window in another picture. All lanes of a warp make the same calls.
//   Pixel                                                uint8_t or, if KltShape::deep, uint16_t
//   void take(level, spot, rect)                         takes samples I and derivatives at `spot`
//   KltMoments moments(rect)                             sums of I and the derivatives
//   KltMatch match(level, spot, rect)                    sums with J at `spot`
//   int64_t residual(level, spot, rect, gain_bias)       Σ |J − I| with 5 fraction bits; J at `spot`
// Rows and columns of the window outside `rect` lie outside the pictures; the sums leave them out.
#pragma once

#include <algorithm>

#include "kernels/klt/klt_affine.hpp"

namespace lensd {

/// Result of a search: the window's centre (x, y), and the mean difference in grey levels as `residual`.
struct KltSearchResult {
  float x = 0, y = 0;
  float residual = 0;
  TrackStatus status = TrackStatus::tracked;
};

/// Search on one level of the pyramids. (left, top) is the window's corner in the other picture.
template <class Window>
struct KltLevelSearch {
  using Pixel = typename Window::Pixel;
  Window& window;
  ImageView<const Pixel> own_picture, other_picture;
  const KltBlock& block;
  int side;
  float left, top;
  bool settled = false;  ///< the last step was at most one pixel
  KltSystem system{};
  KltRect rect{};

  LENSD_HD bool within(float at_left, float at_top) const {
    const Extent extent = own_picture.extent;
    return at_left > static_cast<float>(-side) && at_left < static_cast<float>(extent.width) &&
           at_top > static_cast<float>(-side) && at_top < static_cast<float>(extent.height);
  }

  /// Moves (left, top) until the window there in `other_picture` matches that at `own_spot` in `own_picture`.
  LENSD_HD TrackStatus run(const KltSpot& own_spot) {
    const Extent extent = own_picture.extent;
    const KltRect own = KltRect::for_derivatives(own_spot, extent, side);
    rect = own;
    if (own.too_small(side)) return TrackStatus::lost_outside;
    window.take(own_picture, own_spot, own);
    if (!make_system()) return TrackStatus::lost_texture;
    float last_x = 0, last_y = 0;
    for (int i = 0; i < block.iterations; ++i) {
      const KltSpot spot = KltSpot::at(left, top);
      const KltRect both = own.intersect(KltRect::for_samples(spot, extent, side));
      if (both.too_small(side)) return TrackStatus::lost_outside;
      if (!(both == rect)) {
        rect = both;
        if (!make_system()) return TrackStatus::lost_texture;
      }
      double dx, dy;
      if (!system.step(window.match(other_picture, spot, rect), dx, dy)) return TrackStatus::lost_texture;
      float step_x = static_cast<float>(dx), step_y = static_cast<float>(dy);
      // Halve the step if steps oscillate and hardly shrink.
      const float back = -(step_x * last_x + step_y * last_y);
      if (back > 0.5f * (last_x * last_x + last_y * last_y)) step_x *= 0.5f, step_y *= 0.5f;
      if (!within(left + step_x, top + step_y)) return TrackStatus::lost_outside;
      left += step_x, top += step_y;
      settled = step_x * step_x + step_y * step_y <= 1;
      if (dx * dx + dy * dy <= block.epsilon_squared) break;
      if (i > 0 && std::fabs(step_x + last_x) < 0.01f && std::fabs(step_y + last_y) < 0.01f) {
        left -= step_x * 0.5f, top -= step_y * 0.5f;
        break;
      }
      last_x = step_x, last_y = step_y;
    }
    return TrackStatus::tracked;
  }

  /// Returns the mean difference in grey levels after run(), or −1 if too little of the windows is inside.
  LENSD_HD float residual(const KltSpot& own_spot) {
    const Extent extent = own_picture.extent;
    const KltSpot spot = KltSpot::at(left, top);
    const KltRect both =
        KltRect::for_derivatives(own_spot, extent, side).intersect(KltRect::for_samples(spot, extent, side));
    if (both.too_small(side)) return -1;
    KltGainBias gain_bias;
    if (block.gain_bias) {
      system.m = window.moments(both), system.n = both.area();
      gain_bias = system.make_gain_bias(window.match(other_picture, spot, both));
    }
    return static_cast<float>(static_cast<double>(window.residual(other_picture, spot, both, gain_bias)) /
                              (32.0 * both.area()));
  }

 private:
  LENSD_HD bool make_system() {
    return system.make(window.moments(rect), rect.area(), block.min_eigen, block.gain_bias);
  }
};

/// Finds the window around (x, y) of one picture in another picture. `from` and `to`: the halves of the state
/// that hold the pyramids of the two pictures.
template <class Window>
LENSD_HD KltSearchResult klt_search(Window& window, const KltShape& shape, const uint8_t* from,
                                    const uint8_t* to, float x, float y, const KltBlock& block) {
  using Pixel = typename Window::Pixel;
  const float half = static_cast<float>(shape.window / 2);
  float scale = 1.0f / static_cast<float>(1 << shape.levels);
  KltSearchResult found{x * scale, y * scale, 0, TrackStatus::tracked};
  const auto lost = [&found](TrackStatus status) {
    found.status = status;
    return found;
  };
  for (int level = shape.levels;; --level) {
    KltLevelSearch<Window> search{.window = window,
                                  .own_picture = shape.view<Pixel>(from, level),
                                  .other_picture = shape.view<Pixel>(to, level),
                                  .block = block,
                                  .side = shape.window,
                                  .left = found.x - half,
                                  .top = found.y - half};
    // A failed search on a coarse level is ignored.
    const TrackStatus status = search.within(search.left, search.top)
                                   ? search.run(KltSpot::at(x * scale - half, y * scale - half))
                                   : TrackStatus::lost_outside;
    found.x = search.left + half, found.y = search.top + half;
    if (level > 0) {
      found.x *= 2, found.y *= 2, scale *= 2;
      continue;
    }
    if (status != TrackStatus::tracked) return lost(status);
    const Extent extent = search.own_picture.extent;
    if (!(found.x >= 0 && found.y >= 0 && found.x <= static_cast<float>(extent.width - 1) &&
          found.y <= static_cast<float>(extent.height - 1)))
      return lost(TrackStatus::lost_outside);
    const float residual = search.residual(KltSpot::at(x - half, y - half));
    if (residual < 0) return lost(TrackStatus::lost_outside);
    found.residual = residual;
    if (!search.settled || residual > kKltMaxResidual) return lost(TrackStatus::lost_residual);
    return found;
  }
}

/// Returns the track in the next frame, before the checks for crowding and drift.
template <class Window>
LENSD_HD Track klt_follow(Window& window, const KltShape& shape, const uint8_t* before, const uint8_t* after,
                          const Track& track, const KltBlock& block) {
  Track next = track;
  next.previous_x = track.x, next.previous_y = track.y;
  next.age = track.age + 1;
  next.return_error = 0;
  // A loop of two searches, so that device code contains the search only once.
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (int way = 0; way < 2; ++way) {
    const KltSearchResult found = klt_search(window, shape, way == 0 ? before : after,
                                             way == 0 ? after : before, next.x, next.y, block);
    if (way == 0) {
      next.status = found.status, next.residual = found.residual;
      next.x = found.x, next.y = found.y;
      if (next.status != TrackStatus::tracked || block.fb_threshold == 0) break;
    } else {
      const float dx = found.x - track.x, dy = found.y - track.y;
      next.return_error = std::sqrt(dx * dx + dy * dy);
      if (found.status != TrackStatus::tracked || next.return_error > block.fb_threshold)
        next.status = TrackStatus::lost_return;
    }
  }
  return next;
}

/// Returns the track with status lost_cut, for frames without a previous frame (FrameBlock::reset).
LENSD_HD inline Track klt_end_at_cut(const Track& track) {
  Track next = track;
  next.status = TrackStatus::lost_cut;
  next.previous_x = track.x, next.previous_y = track.y;
  return next;
}

/// Writes this frame's tracks to the given slots of the table, before the check for crowding. Host only.
template <class Window>
void klt_follow_slots(Window& window, const KltShape& shape, const KltState& state, const KltBlock& block,
                      TrackTable& table, Band slots) {
  using Pixel = typename Window::Pixel;
  const uint8_t* before = state.before();
  uint8_t* after = state.after();
  const auto& from = *reinterpret_cast<const TrackTable*>(before);
  const int known = std::min(shape.capacity, static_cast<int>(from.capacity));
  for (int slot = slots.begin; slot < slots.end; ++slot) {
    Track& next = table.tracks()[slot];
    next = {};
    if (slot >= known || !is_alive(from.tracks()[slot].status)) continue;
    const Track& track = from.tracks()[slot];
    next =
        state.frame->reset ? klt_end_at_cut(track) : klt_follow(window, shape, before, after, track, block);
    if (shape.patch_bytes == 0) continue;
    KltFirst& first = shape.first(after)[slot];
    first = shape.first(before)[slot];
    if (next.status != TrackStatus::tracked) continue;
    const KltFirstPatch<Pixel, KltAllLanes> patch(shape.patch<Pixel>(state.halves, slot), first,
                                                  shape.level[0].extent, shape.window, {});
    if (!klt_matches_first(patch, shape.view<Pixel>(static_cast<const uint8_t*>(after), 0), next.x, next.y,
                           shape.window, first.warp))
      next.status = TrackStatus::lost_drift;
  }
}

}  // namespace lensd
