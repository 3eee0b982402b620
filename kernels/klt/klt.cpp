#include "kernels/klt/klt.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/common/vectorised.hpp"
#include "kernels/grayscale/grayscale.hpp"

namespace lensd {
namespace {

constexpr const char* kPyramidNames[] = {"pyramid 1", "pyramid 2", "pyramid 3",
                                         "pyramid 4", "pyramid 5", "pyramid 6"};
constexpr int kLevelsPerLaunch = 3;  ///< maximum levels per CUDA launch

double pixels_of(Extent extent) {
  return static_cast<double>(extent.width) * extent.height;
}

/// Returns true if the decoded picture has contiguous 8-bit luma samples. klt then reads them directly.
bool has_plain_luma(const PictureInfo& info) {
  const PictureFormat& format = info.format;
  return format.depth == 8 && format.model != ColourModel::rgb && format.components[0].step == 1;
}

}  // namespace

FilterSchema Klt::make_schema() {
  using P = KltParams;
  const auto replan = ParamChange::reconfigure;
  return Schema<P>("klt", "tracks corners from frame to frame")
      .integer("max_features", &P::max_features, 1, kMaxTracks, "maximum number of tracks",
               {.widget = Widget::log_slider, .change = replan})
      .real("quality", &P::quality, 0, 1, "minimum strength of a new corner, relative to the strongest")
      .real("min_distance", &P::min_distance, 0, 1000,
            "minimum distance of a new corner to others and to live tracks", {.unit = "px"})
      .integer("block", &P::block, 1, 31, "side of the corner detector's window, odd",
               {.unit = "px", .widget = Widget::odd_slider, .change = replan})
      .integer("window", &P::window, 5, kKltMaxWindow, "side of the tracked window, odd",
               {.unit = "px", .widget = Widget::odd_slider, .change = replan})
      .integer("levels", &P::levels, 0, kKltMaxLevels, "halvings of the picture, for large motion",
               {.change = replan})
      .integer("iterations", &P::iterations, 1, 100, "maximum steps per level")
      .real("epsilon", &P::epsilon, 0, 1, "a smaller step ends the search", {.unit = "px"})
      .real("min_eigen", &P::min_eigen, 0, 1, "minimum texture of a window, as OpenCV's minEigThreshold",
            {.widget = Widget::log_slider})
      .real("fb_threshold", &P::fb_threshold, 0, 100, "maximum forward-backward error; 0: no check",
            {.unit = "px", .zero = "no check"})
      .real("redetect_below", &P::redetect_below, 0, 1,
            "detect new corners below this fraction of max_features")
      .boolean("gain_bias", &P::gain_bias, "match patches of different brightness and contrast")
      .boolean("affine_check", &P::affine_check, "end tracks that no longer look like their first patch",
               {.change = replan})
      .build();
}

Layout Klt::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const bool cuda = inputs.backend == Backend::cuda;
  const int capacity = params_.max_features;
  from_picture_ = inputs.picture && has_plain_luma(*inputs.picture);
  shape_ = KltShape::make(format.extent, params_, sample_bytes(format.format) == 2 && !from_picture_);

  Layout layout{.output = format, .passes = {}, .scratch_bytes = {}};
  auto& passes = layout.passes;
  const double pixels = pixels_of(format.extent), pixel_bytes = shape_.deep ? 2 : 1;
  const int in_channels = from_picture_ ? 1 : channels(format.format);
  passes.push_back({.name = "luma",
                    .run = cpu_pass<&Klt::take_luma>,
                    .launch = cuda_pass<&Klt::launch_luma>,
                    .items = format.extent.height,
                    .grain = 32,
                    .bytes = pixels * pixel_bytes * (in_channels + 1),
                    .operations = pixels,
                    .reads_picture = from_picture_});
  for (int i = 1; i <= shape_.levels; i += cuda ? kLevelsPerLaunch : 1) {
    const double made = pixels_of(shape_.level[i].extent);
    passes.push_back({.name = kPyramidNames[i - 1],
                      .run = cpu_pass<&Klt::shrink>,
                      .launch = cuda_pass<&Klt::launch_shrink>,
                      .step = i,
                      .items = shape_.level[i].extent.height,
                      .grain = 16,
                      .bytes = pixel_bytes * (pixels_of(shape_.level[i - 1].extent) + made),
                      .operations = 20 * made});
  }
  const double window = static_cast<double>(shape_.window) * shape_.window;
  const double searches = static_cast<double>(capacity) * (shape_.levels + 1);
  passes.push_back({.name = "follow",
                    .run = cpu_pass<&Klt::follow>,
                    .launch = cuda_pass<&Klt::launch_follow>,
                    .items = capacity,
                    .grain = 8,
                    .bytes = 2 * searches * window * pixel_bytes,
                    .operations = searches * window * (30 + 5 * 12)});
  passes.push_back({.name = "settle",
                    .run = cpu_pass<&Klt::settle>,
                    .launch = cuda_pass<&Klt::launch_settle>,
                    .bytes = capacity * 80.0,
                    .operations = capacity * 100.0});
  corner_passes_ = corner_passes(format.extent, capacity, shape_.deep, inputs.backend);
  for (size_t i = 0; i < corner_passes_.size(); ++i) {
    PassSpec& pass = passes.emplace_back(corner_passes_[i].spec);
    pass.run = cpu_pass<&Klt::detect>, pass.launch = cuda_pass<&Klt::launch_detect>;
    pass.step = static_cast<int>(i);
  }
  passes.push_back({.name = "table",
                    .run = cpu_pass<&Klt::finish>,
                    .launch = cuda_pass<&Klt::launch_finish>,
                    .bytes = capacity * 80.0,
                    .operations = capacity * 10.0});
  if (cuda && shape_.patch_bytes > 0)
    passes.push_back({.name = "patches",
                      .launch = cuda_pass<&Klt::launch_patches>,
                      .bytes = 2.0 * capacity * shape_.patch_bytes});

  layout.scratch_bytes = {sizeof(Detection) + sizeof(Corner) * static_cast<size_t>(capacity),
                          corner_scratch_bytes(format.extent), table_scratch_bytes(format.extent, capacity)};
  if (!cuda) layout.worker_bytes = std::max(shrink_worker_bytes(), corner_worker_bytes(format.extent));
  layout.state_bytes = shape_.bytes, layout.lasting_bytes = shape_.lasting_bytes;
  layout.counter_bytes = sizeof(TrackTable);  // ids are not reused if the node returns
  static_assert(sizeof(TrackTable) <= kMaxCounterBytes);
  layout.stats_bytes = shape_.lasting_bytes;
  layout.gives_tracks = layout.passes_through = true;
  return layout;
}

ConstImageRef Klt::luma_source(const PassArgs& args) const {
  if (!from_picture_) return args.in[0];
  const PictureRef& picture = *args.picture;
  const ComponentLayout& luma = picture.info.format.components[0];
  return {picture.planes[luma.plane] + luma.offset,
          picture.pitch_bytes[luma.plane],
          {PixelFormat::gray8, shape_.level[0].extent}};
}

CornerJob Klt::corner_job(const PassArgs& args) const {
  const KltState state = state_of(args);
  const KltShape::Level& picture = shape_.level[0];
  Detection& where = detection(args);
  return {.luma = {.halves = {state.halves[0] + picture.offset, state.halves[1] + picture.offset},
                   .frame = args.frame,
                   .pitch_bytes = picture.pitch,
                   .extent = picture.extent,
                   .deep = shape_.deep},
          .params = &static_cast<const KltBlock*>(args.block)->corners,
          .tracks = &table_of(args),
          .wanted = &where.wanted,
          .found = where.corners(),
          .count = &where.count,
          .scratch = args.scratch[1]};
}

namespace {

/// Computes the luma of 16-bit samples, in grey levels with 7 fraction bits.
void take_deep_luma(const ConstImageRef& in, const ImageView<uint16_t>& out, Band rows,
                    const LumaBlock& weights) {
  vectorised([&in, &out, &weights, rows] {
    const LumaBlock w = weights;
    const int width = in.width();
    for (int y = rows.begin; y < rows.end; ++y) {
      const uint16_t* __restrict from = in.samples<uint16_t>(y);
      uint16_t* __restrict to = out.row(y);
      if (in.channels() == 1)
        for (int x = 0; x < width; ++x) to[x] = klt_deep_pixel(from[x]);
      else
        for (int x = 0; x < width; ++x)
          to[x] = klt_deep_pixel(luma16(w, from[4 * x], from[4 * x + 1], from[4 * x + 2]));
    }
  });
}

}  // namespace

void Klt::take_luma(const PassArgs& args, Band rows) const {
  uint8_t* const half = state_of(args).after();
  const ConstImageRef in = luma_source(args);
  if (shape_.deep) return take_deep_luma(in, shape_.view<uint16_t>(half, 0), rows, block_of(args).luma);
  const auto level = shape_.view<uint8_t>(half, 0);
  const ImageRef luma{level.data, level.pitch_bytes, {PixelFormat::gray8, level.extent}};
  if (in.channels() == 4) return luma_rows(in, luma, rows, block_of(args).luma);
  for (int y = rows.begin; y < rows.end; ++y) std::memcpy(luma.row(y), in.row(y), in.row_bytes());
}

void Klt::detect(const PassArgs& args, Band band) const {
  corner_passes_[static_cast<size_t>(args.step)].run(corner_job(args), band, args.worker);
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
