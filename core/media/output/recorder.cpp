#include "core/media/recorder.hpp"

#include "core/media/output/encoders/image_encoder.hpp"
#include "core/media/output/files/video_file.hpp"
#include "core/media/output/recorders.hpp"

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

}  // namespace

std::unique_ptr<Recorder> open_recorder(const std::string& path, ImageFormat format,
                                        const RecorderOptions& options) {
  ff::capture_log();
  if (path == "null:") return std::make_unique<NullRecorder>();
  ImageFileType type;
  if (image_file_type(path, type)) return make_image_recorder(path, options);
  if (const std::string muxer = muxer_of(path); !muxer.empty())
    return make_video_recorder(path, muxer, format, options);
  throw Error(ExitCode::usage, path, "no file type is known by this ending",
              "use .mp4, .mov, .mkv, .webm, .avi, .png, .jpg or null:");
}

}  // namespace lensd
