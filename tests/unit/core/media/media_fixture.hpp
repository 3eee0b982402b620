// Helpers of the media tests: a temporary folder, generated pictures, and sources read to the end.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/image/image.hpp"
#include "core/media/recorder.hpp"
#include "core/media/source.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd::test {

class MediaTest : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_ / name; }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::string get(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryFolder folder_;
};

/// A picture with detail everywhere, different in every frame.
inline Image picture(ImageFormat format, int frame) {
  Image image(format);
  uint32_t noise = 12345u + static_cast<uint32_t>(frame) * 977u;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c) {
        noise = noise * 1664525u + 1013904223u;
        image.at(x, y, c) = static_cast<uint8_t>(x * 3 + y * 5 + c * 60 + frame * 7 + (noise >> 29));
      }
  return image;
}

inline FrameInfo at(int64_t index, double fps = 25) {
  FrameInfo info;
  info.index = index;
  info.pts_ns = static_cast<int64_t>(static_cast<double>(index) * 1e9 / fps + 0.5);
  return info;
}

/// Records `frames` pictures to `path`. Returns `path`.
inline std::string record(const std::string& path, ImageFormat format, int frames,
                          RecorderOptions options = {}) {
  auto recorder = open_recorder(path, format, options);
  for (int i = 0; i < frames; ++i) {
    FrameInfo info = at(i, options.fps);
    info.tags = options.tags;
    recorder->write(picture(format, i).ref(), info);
  }
  recorder->finish();
  EXPECT_EQ(recorder->frames(), frames);
  return path;
}

/// Returns a hash of all planes of a decoded picture, without padding.
inline std::string digest(const PictureRef& ref) {
  std::string all;
  for (int p = 0; p < ref.info.format.plane_count; ++p) {
    const auto i = static_cast<size_t>(p);
    const ImageFormat plane{PixelFormat::gray8,
                            {static_cast<int>(ref.info.plane_row_bytes(p)), ref.info.plane_rows(p)}};
    all += FrameHash::digest({ref.planes[i], ref.pitch_bytes[i], plane});
  }
  return all;
}

/// Returns component `c` of the pixel at x, y of an 8-bit picture without chroma subsampling.
inline uint8_t sample(const PictureRef& ref, int x, int y, int c) {
  const ComponentLayout& l = ref.info.format.components[static_cast<size_t>(c)];
  return ref.planes[l.plane][y * ref.pitch_bytes[l.plane] + x * l.step + l.offset];
}

struct Decoded {
  std::vector<FrameInfo> infos;
  std::vector<std::string> digests;
};

inline Decoded read_all(Source& source, size_t limit = 100000) {
  Decoded out;
  Picture picture;
  while (out.infos.size() < limit && source.next(picture) == FrameOutcome::ok) {
    out.infos.push_back(picture.info);
    out.digests.push_back(digest(picture.planes));
  }
  return out;
}

/// Returns the Error that open_source() throws. Fails if it throws none.
inline Error refusal(const std::string& url, SourceOptions options = {}) {
  try {
    auto source = open_source(url, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << url << " was opened";
  return Error(ExitCode::done, "", "");
}

}  // namespace lensd::test
