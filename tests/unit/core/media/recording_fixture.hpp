// Fixture of the recording tests: recordings in a temporary folder, and a simulated full disk.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "core/media/recording.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {

constexpr ImageFormat kFormat{PixelFormat::rgba8, {64, 48}};

/// Simulates a full disk: until it is destroyed, files of this process cannot grow beyond `bytes`.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    struct rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  struct rlimit before_ = {};
};

class RecordingTest : public MediaTest {
 protected:
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      if (!entry.path().filename().string().starts_with('.'))  // not the ring's journal
        out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  }
  static size_t frames_in(const std::string& path) {
    auto source = open_source(path, {});
    return read_all(*source).infos.size();
  }
  size_t frames_in_all() const {
    size_t sum = 0;
    for (const std::string& f : files()) sum += frames_in(f);
    return sum;
  }
  static void write(Recording& recording, int64_t first, int64_t count, ImageFormat format = kFormat) {
    for (int64_t i = first; i < first + count; ++i)
      recording.write(picture(format, static_cast<int>(i)).ref(), at(i));
  }
  RecordTarget target(const std::string& name) const { return {file(name), {}}; }

  /// Makes a recording to `target`. Returns its error message, or an empty string.
  static std::string problem(const RecordTarget& target) {
    Recording recording({}, 25, "");
    try {
      recording.start(target);
      write(recording, 0, 30);
      recording.stop();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  /// Makes a complete recording of `frames` frames.
  void recorded(const RecordSettings& settings, const std::string& name, int64_t frames) const {
    Recording recording(settings, 25, "");
    recording.start(target(name));
    write(recording, 0, frames);
    recording.stop();
  }
  /// Returns the settings of a ring: files of one second each; the last `seconds` are kept.
  static RecordSettings ring_of(double seconds) {
    RecordSettings settings;
    settings.split_seconds = 1;
    settings.keep_minutes = seconds / 60;
    return settings;
  }
};

}  // namespace lensd::test
