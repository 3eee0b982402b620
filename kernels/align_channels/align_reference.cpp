#include "kernels/align_channels/align_channels.hpp"

namespace lensd {
namespace {

/// Returns the levels of the pyramid, each computed from the previous one.
std::vector<Image> pyramid(const Image& in, const AlignGeometry& g) {
  std::vector<Image> levels;
  for (int l = 0; l < g.levels; ++l) {
    Image level({in.format.format, g.level[l].extent});
    for (int y = 0; y < level.height(); ++y)
      for (int x = 0; x < level.width(); ++x)
        for (int c = 0; c < 3; ++c) {
          const auto of = [&](int dx, int dy) { return levels.back().sample(2 * x + dx, 2 * y + dy, c); };
          level.set_sample(x, y, c,
                           l == 0 ? in.sample(x, y, c) : (of(0, 0) + of(1, 0) + of(0, 1) + of(1, 1) + 2) / 4);
        }
    levels.push_back(std::move(level));
  }
  return levels;
}

/// Returns the sums over the level's window for channel `c` (0 red, 1 green, 2 blue) shifted by `shift`.
AlignSums window_sums(const Image& image, const AlignLevel& level, int c, AlignShift shift) {
  AlignSums sums{};
  const int middle = image.is_deep() ? kAlignMiddle : 0;
  for (int y = level.margin_y; y < image.height() - level.margin_y; ++y)
    for (int x = level.margin_x; x < image.width() - level.margin_x; ++x) {
      const int64_t v = image.sample(x + shift.x, y + shift.y, c) - middle;
      sums.value += v, sums.square += v * v, sums.product += v * (image.sample(x, y, 1) - middle);
    }
  return sums;
}

}  // namespace

void AlignChannels::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const AlignGeometry g = AlignGeometry::make(params_, in.format);
  const std::vector<Image> levels = pyramid(in, g);
  std::vector<uint64_t> memory(AlignWork::bytes(g) / sizeof(uint64_t));
  auto& work = *reinterpret_cast<AlignWork*>(memory.data());
  for (int l = g.levels - 1; l >= 0; --l) {
    const AlignLevel& level = g.level[l];
    const AlignSums green = window_sums(levels[static_cast<size_t>(l)], level, 1, {});
    work.green[l] = {green.value, green.square};
    for (int c = 0; c < 2; ++c) {
      const AlignShift prediction = l + 1 < g.levels ? level.prediction(work.shift[l + 1][c]) : AlignShift{};
      for (int i = 0; i < level.candidates(); ++i)
        if (const AlignShift shift = level.candidate(prediction, i); level.allowed(shift))
          work.sums(l, c, g)[i] = window_sums(levels[static_cast<size_t>(l)], level, 2 * c, shift);
      work.shift[l][c] = align_decide(g, work, l, c);
    }
  }

  run.out = in;
  for (int c = 0; c < 2; ++c) {
    const AlignShift shift = work.shift[0][c];
    for (int y = 0; y < in.height(); ++y)
      for (int x = 0; x < in.width(); ++x)
        run.out.set_sample(x, y, 2 * c,
                           in.sample(std::clamp(x + shift.x, 0, in.width() - 1),
                                     std::clamp(y + shift.y, 0, in.height() - 1), 2 * c));
  }
  const AlignStats stats{{work.shift[0][0], work.shift[0][1]}};
  run.stats.clear();
  read_stats(&stats, run.stats);
}

}  // namespace lensd
