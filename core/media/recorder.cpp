#include "core/media/recorder.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/media/image_encoder.hpp"
#include "core/media/recorders.hpp"

namespace lensd {
namespace {

/// Counts frames, for measuring.
class NullRecorder final : public Recorder {
 public:
  void write(ConstImageRef, const FrameInfo&) override { ++frames_; }
  void finish() override {}
  int64_t frames() const override { return frames_; }
  std::string path() const override { return "null:"; }

 private:
  int64_t frames_ = 0;
};

constexpr struct {
  const char* ending;
  const char* muxer;
} kContainers[] = {
    {".mp4", "mp4"}, {".mov", "mov"}, {".mkv", "matroska"}, {".webm", "webm"}, {".avi", "avi"}};

}  // namespace

std::unique_ptr<Recorder> open_recorder(const std::string& path, ImageFormat format,
                                        const RecorderOptions& options) {
  ff::capture_log();
  if (path == "null:") return std::make_unique<NullRecorder>();
  ImageFileType type;
  if (image_file_type(path, type)) return make_image_recorder(path, options);
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  for (const auto& container : kContainers)
    if (ending == container.ending) return make_video_recorder(path, container.muxer, format, options);
  throw Error(ExitCode::usage, path, "no file type is known by this ending",
              "use .mp4, .mov, .mkv, .webm, .avi, .png, .jpg or null:");
}

}  // namespace lensd
