// Pixel formats of recordings: every encoder gets a format that it supports.

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <fmt/format.h>

#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd::test {
namespace {

struct EncoderCase {
  const char* codec;
  PixelFormat format;
};

class RecordingEncoder : public RecordingTest, public testing::WithParamInterface<EncoderCase> {};

TEST_P(RecordingEncoder, GetsAFormatThatItSupports) {
  const auto& [codec, format] = GetParam();
  if (!avcodec_find_encoder_by_name(codec)) GTEST_SKIP() << "this FFmpeg has no " << codec;
  RecorderOptions options;
  options.codec = codec;
  record(file("out.mov"), {format, {64, 48}}, 3, options);
  EXPECT_EQ(frames_in(file("out.mov")), 3u);
}

std::vector<EncoderCase> encoder_cases() {
  std::vector<EncoderCase> out;
  for (const char* codec : {"prores_ks", "prores_aw", "libx264rgb", "r210", "v210", "qtrle"})
    for (const PixelFormat format :
         {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16, PixelFormat::rgba16})
      out.push_back({codec, format});
  return out;
}

std::string encoder_case_name(const testing::TestParamInfo<EncoderCase>& info) {
  const PixelFormat format = info.param.format;
  return fmt::format("{}_{}{}", info.param.codec, is_gray(format) ? "gray" : "rgba",
                     8 * sample_bytes(format));
}

INSTANTIATE_TEST_SUITE_P(Encoders, RecordingEncoder, testing::ValuesIn(encoder_cases()), encoder_case_name);

}  // namespace
}  // namespace lensd::test
