// app/pipeline with a stream that mixes interlaced and progressive pictures.

#include <gtest/gtest.h>

#include "tests/unit/app/pipeline/pipeline_fixture.hpp"

namespace lensd {
namespace {

/// 4:2:0 pictures. Three interlaced ones follow each three progressive ones, or all are of one kind.
class FieldSource final : public Source {
 public:
  enum class Kind { progressive, interlaced, mixed };
  static constexpr Extent kExtent{160, 120};

  FieldSource(Kind kind, int64_t frames) : bytes_(kExtent, frames), kind_(kind), info_(bytes_.info()) {
    info_.picture.format = {.model = ColourModel::yuv,
                            .depth = 8,
                            .chroma_shift_x = 1,
                            .chroma_shift_y = 1,
                            .plane_count = 3,
                            .components = {{{0, 1, 0, 0}, {1, 1, 0, 0}, {2, 1, 0, 0}, {}}}};
  }
  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override {
    Picture picture;
    if (const FrameOutcome outcome = bytes_.next(picture); outcome != FrameOutcome::ok) return outcome;
    PictureRef ref;
    ref.info = info_.picture;
    ref.info.interlaced.value =
        kind_ == Kind::interlaced || (kind_ == Kind::mixed && picture.info.index / 3 % 2 == 1);
    const uint8_t* begin = picture.planes.planes[0];
    constexpr int kPixels = kExtent.width * kExtent.height;
    ref.planes = {begin, begin + kPixels, begin + kPixels * 5 / 4};
    ref.pitch_bytes = {kExtent.width, kExtent.width / 2, kExtent.width / 2};
    out = Picture(ref, picture.info, nullptr);
    return FrameOutcome::ok;
  }
  using Source::seek;
  void seek(int64_t position_ns, int back) override { bytes_.seek(position_ns, back); }
  std::string stream_errors() const override { return {}; }
  void interrupt() noexcept override {}

 private:
  SyntheticSource bytes_;
  Kind kind_;
  SourceInfo info_;
};

constexpr int64_t kPictures = 24;

std::vector<uint64_t> hashes(FieldSource::Kind kind, Backend backend) {
  PipelineOptions o = options("invert");
  o.backend = backend;
  Pipeline pipeline(std::make_unique<FieldSource>(kind, kPictures), o, registry());
  return run_all(pipeline);
}

class PipelineFields : public testing::TestWithParam<Backend> {};

TEST_P(PipelineFields, EachPictureIsConvertedByItsMark) {
  if (GetParam() == Backend::cuda) {
    if (const CudaStatus cuda = probe_cuda(); !cuda.available) GTEST_SKIP() << cuda.reason;
    use_pinned_memory(0);
  }
  const auto progressive = hashes(FieldSource::Kind::progressive, Backend::cpu);
  const auto interlaced = hashes(FieldSource::Kind::interlaced, Backend::cpu);
  const auto mixed = hashes(FieldSource::Kind::mixed, GetParam());
  ASSERT_EQ(mixed.size(), static_cast<size_t>(kPictures));
  for (size_t i = 0; i < mixed.size(); ++i) {
    EXPECT_NE(progressive[i], interlaced[i]);
    EXPECT_EQ(mixed[i], i / 3 % 2 == 1 ? interlaced[i] : progressive[i]) << "picture " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, PipelineFields, testing::Values(Backend::cpu, Backend::cuda),
                         [](const auto& p) { return p.param == Backend::cpu ? "cpu" : "cuda"; });

}  // namespace
}  // namespace lensd
