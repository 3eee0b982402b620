// An iteration of diffusion on the CPU, for 8 and 16 bits. `Depth` has the types of samples, states and flows
// and the loops over rows:
//
//   load(samples, states, n)                        the states of samples
//   flows(a, b, flows, n)                           diffusion_flow() from b to a
//   add(at, left, right, up, down, states, n)       at + right - left + down - up
//   store(states, in, out, n, channels)             the samples of states, and the alpha of `in`
//
// left[i] is the flow from value i to its left neighbour, right[i] the flow from the right neighbour to value
// i. `up` and `down` are the same flows in the vertical direction.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/common/border/border.hpp"
#include "kernels/diffusion/diffusion.hpp"

namespace lensd {

/// Private memory of a worker: two rows of states with a pixel of border, three rows of flows, and a result
/// row.
template <class Depth>
struct DiffusionWorker {
  typename Depth::State *at, *below, *done;
  typename Depth::Flow *across, *up, *down;

  static size_t values(const ImageFormat& f) { return (f.row_samples() + 8 + 63) / 64 * 64; }
  static size_t bytes(const ImageFormat& f) { return values(f) * 3 * (sizeof *at + sizeof *up); }
  DiffusionWorker(uint8_t* memory, const ImageFormat& f) {
    const size_t n = values(f);
    across = reinterpret_cast<typename Depth::Flow*>(memory), up = across + n, down = up + n;
    at = reinterpret_cast<typename Depth::State*>(down + n), below = at + n, done = below + n;
  }
};

/// Input of an iteration: the picture, or states in scratch memory.
template <class Depth>
struct DiffusionSource {
  ConstImageRef image;
  const uint8_t* states;  ///< states in scratch memory; null: use the picture
  size_t pitch;
  Border border;

  /// Loads row y by the border rule, with a pixel of border on both sides.
  void load(int y, typename Depth::State* to) const {
    const int width = image.width(), ch = image.channels(), inside = border_index(y, image.height(), border);
    const size_t n = image.format.row_samples();
    auto* const first = to + ch;
    if (inside < 0) {
      std::fill_n(to, n + static_cast<size_t>(2 * ch), typename Depth::State{});
      return;
    }
    if (states)
      std::memcpy(first, states + pitch * static_cast<size_t>(inside), n * sizeof *to);
    else
      Depth::load(image.samples<typename Depth::Sample>(inside), first, n);
    const int left = border_index(-1, width, border), right = border_index(width, width, border);
    for (int c = 0; c < ch; ++c) {
      to[c] = left < 0 ? typename Depth::State{} : first[left * ch + c];
      first[width * ch + c] = right < 0 ? typename Depth::State{} : first[right * ch + c];
    }
  }
};

/// Computes rows `band` of an iteration. `pitch`: pitch of the states in scratch memory. `last`: writes
/// the picture.
template <class Depth>
void diffusion_iteration(const Depth& depth, const PassArgs& args, Band band, Border border, size_t pitch,
                         bool last) {
  using Sample = typename Depth::Sample;
  const ConstImageRef in = args.in[0];
  const int ch = in.channels();
  const size_t n = in.format.row_samples();
  const DiffusionSource<Depth> source{
      in, args.step == 0 ? nullptr : args.scratch[static_cast<size_t>((args.step - 1) & 1)], pitch, border};
  DiffusionWorker<Depth> w(args.worker, in.format);
  source.load(band.begin - 1, w.at);
  source.load(band.begin, w.below);
  depth.flows(w.at + ch, w.below + ch, w.up, n);
  std::swap(w.at, w.below);
  for (int y = band.begin; y < band.end; ++y) {
    source.load(y + 1, w.below);
    depth.flows(w.at + ch, w.below + ch, w.down, n);
    depth.flows(w.at, w.at + ch, w.across, n + static_cast<size_t>(ch));
    auto* const states =
        last ? w.done
             : reinterpret_cast<typename Depth::State*>(args.scratch[static_cast<size_t>(args.step & 1)] +
                                                        pitch * static_cast<size_t>(y));
    depth.add(w.at + ch, w.across, w.across + ch, w.up, w.down, states, n);
    if (last) depth.store(states, in.samples<Sample>(y), args.out.samples<Sample>(y), n, ch);
    std::swap(w.at, w.below), std::swap(w.up, w.down);
  }
}

}  // namespace lensd
