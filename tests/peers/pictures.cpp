#include "tests/peers/pictures.hpp"

#include <fmt/format.h>

#include <opencv2/imgproc.hpp>

#include "core/media/source.hpp"
#include "tests/peers/ours.hpp"

namespace lensd::peers {
namespace {

constexpr Extent kSizes[] = {{1, 1}, {1, 7}, {3, 3}, {17, 31}, {64, 64}, {641, 479}, {1920, 1080}};

/// Moving shapes and digits, a fractal, flat bars and steps, which noise lacks.
constexpr const char* kSources[] = {"test:testsrc2=size=641x479", "test:mandelbrot=size=480x360",
                                    "test:smptehdbars=size=642x362"};
constexpr int kLater = 20;  ///< index of the second frame that is used

using Components = std::array<ComponentLayout, 4>;

PictureFormat format_of(Kind kind) {
  const auto bits = static_cast<uint8_t>(bits_of(kind));
  const auto make = [&](ColourModel model, uint8_t shift, bool alpha, uint8_t planes, Components components) {
    for (ComponentLayout& c : components)
      c.step = static_cast<uint8_t>(c.step * bits / 8), c.offset = static_cast<uint8_t>(c.offset * bits / 8);
    return PictureFormat{model, bits, shift, shift, alpha, planes, components};
  };
  switch (kind) {
    case Kind::gray:
    case Kind::gray16:
      return make(ColourModel::gray, 0, false, 1, {{{0, 1, 0, 0}}});
    case Kind::rgba:
    case Kind::rgba16:
      return make(ColourModel::rgb, 0, true, 1, {{{0, 4, 0, 0}, {0, 4, 1, 0}, {0, 4, 2, 0}, {0, 4, 3, 0}}});
    case Kind::nv12_flat:
      return make(ColourModel::yuv, 1, false, 2, {{{0, 1, 0, 0}, {1, 2, 0, 0}, {1, 2, 1, 0}}});
    default:
      return make(ColourModel::yuv, 0, false, 3, {{{0, 1, 0, 0}, {1, 1, 0, 0}, {2, 1, 0, 0}}});
  }
}

Sample blank(Kind kind, Extent extent) {
  Sample sample;
  sample.kind = kind;
  sample.info.format = format_of(kind);
  sample.info.extent = extent;
  const bool limited = kind == Kind::nv12_flat || kind == Kind::yuv444_blocks;
  sample.info.colour = {.matrix = YuvMatrix::bt601, .range = limited ? Range::limited : Range::full};
  const cv::Size size(extent.width, extent.height);
  const int one = bits_of(kind) == 16 ? CV_16UC1 : CV_8UC1;
  switch (kind) {
    case Kind::gray:
    case Kind::gray16:
      sample.memory = {cv::Mat(size, one)};
      break;
    case Kind::rgba:
    case Kind::rgba16:
      sample.memory = {cv::Mat(size, CV_MAKETYPE(one, 4))};
      break;
    case Kind::nv12_flat:
      sample.memory = {cv::Mat(size, CV_8UC1), cv::Mat(size / 2, CV_8UC2)};
      break;
    default:
      sample.memory = {cv::Mat(size, one), cv::Mat(size, one), cv::Mat(size, one)};
  }
  return sample;
}

/// Fills the plane with random bytes.
void fill(cv::Mat& plane, std::mt19937& random) {
  const size_t bytes = static_cast<size_t>(plane.cols) * plane.elemSize();
  for (int y = 0; y < plane.rows; ++y)
    for (size_t i = 0; i < bytes; ++i) plane.ptr(y)[i] = static_cast<uchar>(random() >> 13);
}

Sample working_sample(Kind kind, const Planes& planes, const std::string& name) {
  Sample sample = blank(kind, {planes[0].cols, planes[0].rows});
  cv::merge(planes, sample.memory[0]);
  sample.name = name;
  return sample;
}

}  // namespace

PictureRef Sample::ref() const {
  PictureRef ref;
  ref.info = info;
  for (size_t p = 0; p < memory.size(); ++p)
    ref.planes[p] = memory[p].data, ref.pitch_bytes[p] = static_cast<std::ptrdiff_t>(memory[p].step[0]);
  return ref;
}

Planes Sample::planes() const {
  if (kind != Kind::rgba && kind != Kind::rgba16) return memory;
  Planes planes;
  cv::split(memory[0], planes);
  return planes;
}

Sample noise(Kind kind, Extent extent, std::mt19937& random) {
  Sample sample = blank(kind, extent);
  sample.name = fmt::format("noise {}×{}", extent.width, extent.height);
  for (cv::Mat& plane : sample.memory) fill(plane, random);
  // OpenCV clamps luma below black before the matrix; lensd does not.
  if (sample.info.colour.range == Range::limited) cv::max(sample.memory[0], 16, sample.memory[0]);
  if (kind == Kind::nv12_flat)
    sample.memory[1] = cv::Vec2b(static_cast<uchar>(random() >> 13), static_cast<uchar>(random() >> 13));
  if (kind == Kind::yuv444_blocks)
    for (size_t p : {size_t{1}, size_t{2}}) {
      cv::Mat half(sample.memory[p], cv::Rect(0, 0, extent.width / 2, extent.height / 2));
      cv::resize(half.clone(), sample.memory[p], sample.memory[p].size(), 0, 0, cv::INTER_NEAREST);
    }
  return sample;
}

std::vector<Sample> noise_samples() {
  std::mt19937 random(1);
  std::vector<Sample> samples;
  for (const Extent extent : kSizes)
    for (const Kind kind : {Kind::gray, Kind::rgba, Kind::yuv444_full})
      samples.push_back(noise(kind, extent, random));
  for (const Extent extent : {Extent{2, 2}, Extent{64, 64}, Extent{642, 480}, Extent{1920, 1080}})
    samples.push_back(noise(Kind::yuv444_blocks, extent, random));
  for (int i = 0; i < 100; ++i) samples.push_back(noise(Kind::nv12_flat, {66, 34}, random));
  for (const Extent extent : kSizes)
    for (const Kind kind : {Kind::gray16, Kind::rgba16, Kind::yuv444_full16})
      samples.push_back(noise(kind, extent, random));
  return samples;
}

void add_with_16_bits(std::vector<Sample>& samples, const Sample& sample) {
  samples.push_back(sample);
  Sample deep = blank(sample.kind == Kind::gray ? Kind::gray16 : Kind::rgba16, sample.extent());
  deep.name = sample.name + ", 16 bits";
  cv::Mat low_bits(sample.memory[0].size(), CV_MAKETYPE(CV_8U, sample.memory[0].channels()));
  std::mt19937 random(2);
  fill(low_bits, random);
  // 256 v + noise differs from 257 v by less than one 8-bit step, so black, white and edges are kept.
  cv::Mat high(sample.memory[0].size(), CV_MAKETYPE(CV_16U, sample.memory[0].channels()));
  sample.memory[0].convertTo(high, CV_16U, 256);
  cv::add(high, low_bits, deep.memory[0], {}, CV_16U);
  samples.push_back(std::move(deep));
}

std::vector<Sample> generated_samples() {
  std::vector<Sample> samples;
  for (const char* source : kSources)
    for_each_frame(source, kLater + 1, [&](int index, const Sample& rgba, const Sample& gray) {
      if (index % kLater == 0) add_with_16_bits(samples, rgba), add_with_16_bits(samples, gray);
    });
  return samples;
}

void for_each_frame(const std::string& url, int most,
                    const std::function<void(int, const Sample&, const Sample&)>& take) {
  const std::unique_ptr<Source> source = open_source(url, {});
  Ours plain(Backend::cpu, "", "", Precision::eight), grey(Backend::cpu, "grayscale", "", Precision::eight);
  for (int index = 0; index < most;) {
    Picture picture;
    const FrameOutcome outcome = source->next(picture);
    if (outcome == FrameOutcome::end_of_stream) break;
    if (outcome == FrameOutcome::again) continue;
    const std::string name = fmt::format("{} frame {}", source->info().name, index);
    Planes colours = plain.run(picture.planes);
    if (colours.size() == 1)
      colours = {colours[0], colours[0], colours[0], cv::Mat(colours[0].size(), CV_8U, cv::Scalar(255))};
    take(index++, working_sample(Kind::rgba, colours, name),
         working_sample(Kind::gray, grey.run(picture.planes), name));
  }
}

}  // namespace lensd::peers
