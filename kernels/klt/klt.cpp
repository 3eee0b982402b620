#include "kernels/klt/klt.hpp"

#include <cstring>

#include "kernels/grayscale/luma.hpp"
#include "kernels/klt/klt_simd.hpp"
#include "kernels/klt/klt_table.hpp"

namespace lensd {
namespace {

constexpr const char* kPyramidNames[] = {"pyramid 1", "pyramid 2", "pyramid 3",
                                         "pyramid 4", "pyramid 5", "pyramid 6"};
constexpr int kLevelsALaunch = 3;  ///< CUDA: levels that one launch makes

double pixels_of(Extent extent) {
  return static_cast<double>(extent.width) * extent.height;
}

/// 8-bit luma samples side by side: the decoded plane is the picture that klt needs.
bool has_plain_luma(const PictureInfo& info) {
  const PictureFormat& format = info.format;
  return format.depth == 8 && format.model != ColourModel::rgb && format.components[0].step == 1;
}

}  // namespace

FilterSchema Klt::make_schema() {
  using P = KltParams;
  const auto anew = ParamChange::reconfigure;
  return Schema<P>("klt", "follows corners from frame to frame")
      .integer("max_features", &P::max_features, 1, kMaxTracks, "tracks at a time",
               {.widget = Widget::log_slider, .change = anew})
      .real("quality", &P::quality, 0, 1, "least strength of a new corner, as part of the strongest one's")
      .real("min_distance", &P::min_distance, 0, 1000, "between new corners and to living tracks",
            {.unit = "px"})
      .integer("block", &P::block, 1, 31, "side of the square in which corners are looked for, odd",
               {.unit = "px", .widget = Widget::odd_slider, .change = anew})
      .integer("window", &P::window, 5, kKltMostWindow, "side of the square that is followed, odd",
               {.unit = "px", .widget = Widget::odd_slider, .change = anew})
      .integer("levels", &P::levels, 0, kKltMostLevels, "halvings of the picture, for large motion",
               {.change = anew})
      .integer("iterations", &P::iterations, 1, 100, "most steps on each level")
      .real("epsilon", &P::epsilon, 0, 1, "a smaller step is the last one", {.unit = "px"})
      .real("min_eigen", &P::min_eigen, 0, 1, "least texture of a window, as OpenCV's minEigThreshold",
            {.widget = Widget::log_slider})
      .real("fb_threshold", &P::fb_threshold, 0, 100,
            "ends tracks that do not find back to within this distance; 0: no check",
            {.unit = "px", .zero = "no check"})
      .real("redetect_below", &P::redetect_below, 0, 1,
            "new corners are looked for under this part of max_features")
      .boolean("gain_bias", &P::gain_bias, "matches patches of other brightness and contrast")
      .boolean("affine_check", &P::affine_check, "ends tracks that no longer look as in their first frame",
               {.change = anew})
      .build();
}

Layout Klt::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const bool cuda = inputs.backend == Backend::cuda;
  const int capacity = params_.max_features;
  shape_ = KltShape::make(format.extent, params_);
  from_picture_ = inputs.picture && has_plain_luma(*inputs.picture);

  Layout layout{.output = format, .passes = {}, .scratch_bytes = {}};
  auto& passes = layout.passes;
  const double pixels = pixels_of(format.extent);
  const int in_channels = from_picture_ ? 1 : channels(format.format);
  passes.push_back({.name = "luma",
                    .items = format.extent.height,
                    .grain = 32,
                    .bytes = pixels * (in_channels + 1),
                    .operations = pixels,
                    .reads_picture = from_picture_});
  for (int i = 1; i <= shape_.levels; i += cuda ? kLevelsALaunch : 1) {
    const double made = pixels_of(shape_.level[i].extent);
    passes.push_back({.name = kPyramidNames[i - 1],
                      .items = shape_.level[i].extent.height,
                      .grain = 16,
                      .bytes = pixels_of(shape_.level[i - 1].extent) + made,
                      .operations = 20 * made});
  }
  const auto next = [&passes] { return static_cast<int>(passes.size()); };
  const double window = static_cast<double>(shape_.window) * shape_.window;
  const double searches = static_cast<double>(capacity) * (shape_.levels + 1);
  passes_.follow = next();
  passes.push_back({.name = "follow",
                    .items = capacity,
                    .grain = 8,
                    .bytes = 2 * searches * window,
                    .operations = searches * window * (30 + 5 * 12)});
  passes_.settle = next();
  passes.push_back({.name = "settle", .bytes = capacity * 80.0, .operations = capacity * 100.0});
  passes_.corners = next();
  for (const PassSpec& pass : corner_passes(format.extent, capacity, inputs.backend)) passes.push_back(pass);
  passes_.table = next();
  passes.push_back({.name = "table", .bytes = capacity * 80.0, .operations = capacity * 10.0});
  passes_.patches = next();
  if (cuda && shape_.patch_bytes > 0)
    passes.push_back({.name = "patches", .bytes = 2.0 * capacity * shape_.patch_bytes});

  layout.scratch_bytes = {sizeof(Found) + sizeof(Corner) * static_cast<size_t>(capacity),
                          corner_scratch_bytes(format.extent, capacity),
                          klt_table_scratch_bytes(format.extent, capacity)};
  if (!cuda)
    layout.worker_bytes =
        std::max(klt_shrink_worker_bytes(format.extent), corner_worker_bytes(format.extent));
  layout.state_bytes = shape_.bytes, layout.lasting_bytes = shape_.lasting_bytes;
  layout.stats_bytes = shape_.lasting_bytes;
  layout.gives_tracks = layout.passes_through = true;
  return layout;
}

ConstImageRef Klt::luma_plane(const PictureRef& picture) const {
  const ComponentLayout& luma = picture.info.format.components[0];
  return {picture.planes[luma.plane] + luma.offset,
          picture.pitch_bytes[luma.plane],
          {PixelFormat::gray8, shape_.level[0].extent}};
}

CornerJob Klt::corner_job(const PassArgs& args) const {
  const auto state = args.state_of<uint8_t>();
  const KltShape::Level& picture = shape_.level[0];
  Found* where = reinterpret_cast<Found*>(args.scratch[0]);
  return {.luma = {.halves = {state.halves[0] + picture.offset, state.halves[1] + picture.offset},
                   .frame = args.frame,
                   .pitch_bytes = picture.pitch,
                   .extent = picture.extent},
          .params = &static_cast<const KltBlock*>(args.block)->corners,
          .living = static_cast<const TrackTable*>(args.stats),
          .wanted = &where->wanted,
          .found = where->corners(),
          .count = &where->count,
          .scratch = args.scratch[1]};
}

KltTableJob Klt::table_job(const PassArgs& args) const {
  const auto state = args.state_of<uint8_t>();
  return {.shape = &shape_,
          .before = state.before(),
          .after = state.after(),
          .halves = {state.halves[0], state.halves[1]},
          .block = &block_of(args),
          .frame = args.frame,
          .table = static_cast<TrackTable*>(args.stats),
          .found = found(args).corners(),
          .count = &found(args).count,
          .wanted = &found(args).wanted,
          .scratch = args.scratch[2]};
}

void Klt::take_luma(const PassArgs& args, Band band) const {
  const auto level = shape_.view(args.state_of<uint8_t>().after(), 0);
  const ImageRef luma{level.data, level.pitch_bytes, {PixelFormat::gray8, level.extent}};
  const ConstImageRef in = from_picture_ ? luma_plane(*args.picture) : args.in[0];
  if (in.format.format == PixelFormat::rgba8) return luma_rows(in, luma, band, block_of(args).luma);
  for (int y = band.begin; y < band.end; ++y) std::memcpy(luma.row(y), in.row(y), in.row_bytes());
}

void Klt::run(const PassArgs& args, Band band) const {
  const auto state = args.state_of<uint8_t>();
  uint8_t* after = state.after();
  if (args.pass == 0) return take_luma(args, band);
  if (args.pass < passes_.follow)
    return klt_shrink_rows(shape_.view(static_cast<const uint8_t*>(after), args.pass - 1),
                           shape_.view(after, args.pass), band, args.worker);
  if (args.pass == passes_.follow) {
    const KltFollowJob job{&shape_,
                           state.before(),
                           after,
                           {state.halves[0], state.halves[1]},
                           &block_of(args),
                           static_cast<TrackTable*>(args.stats),
                           args.frame->reset != 0};
    return klt_follow_places(job, band);
  }
  if (args.pass == passes_.settle) return klt_settle(table_job(args));
  if (args.pass == passes_.table) return klt_finish(table_job(args));
  run_corners(corner_job(args), args.pass - passes_.corners, band, args.worker);
}

void Klt::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& table = *static_cast<const TrackTable*>(stats);
  double residual = 0;
  uint32_t tracked = 0;
  for (uint32_t i = 0; i < table.capacity; ++i) {
    const Track& track = table.tracks()[i];
    if (track.status == TrackStatus::tracked) residual += static_cast<double>(track.residual), ++tracked;
  }
  out.push_back({"live", static_cast<double>(table.alive)});
  for (int i = 1; i < kTrackStatuses; ++i) {
    std::string label = name(static_cast<TrackStatus>(i));
    if (const size_t colon = label.find(':'); colon != std::string::npos) label[colon] = '_';
    out.push_back({std::move(label), static_cast<double>(table.counts[i])});
  }
  out.push_back({"median_age", static_cast<double>(table.median_age)});
  out.push_back({"mean_residual", tracked > 0 ? residual / tracked : 0});
}

}  // namespace lensd
