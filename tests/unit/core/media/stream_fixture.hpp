// A StreamOutput and frames for it.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "core/media/stream_output.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {

inline constexpr ImageFormat kStreamFormat{PixelFormat::rgba8, {160, 120}};

class StreamTest : public MediaTest {
 protected:
  static StreamOutput::Options options(const std::string& url) {
    StreamOutput::Options o;
    o.url = url;
    return o;
  }
  /// Writes frames to `output`, slowly enough for it to connect.
  static void send(StreamOutput& output, int64_t first, int64_t count,
                   std::chrono::milliseconds pace = std::chrono::milliseconds(5)) {
    for (int64_t i = first; i < first + count; ++i) {
      output.write(picture(kStreamFormat, static_cast<int>(i)).ref(), at(i));
      std::this_thread::sleep_for(pace);
    }
  }
};

}  // namespace lensd::test
