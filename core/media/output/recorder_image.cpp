#include <filesystem>

#include "core/base/whole_file.hpp"
#include "core/media/output/encoders/image_encoder.hpp"
#include "core/media/output/recorders.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

/// One file, or numbered ones.
class ImageRecorder final : public Recorder {
 public:
  ImageRecorder(const std::string& path, ImageFileType type)
      : path_(path), sequence_(is_sequence_pattern(path)), encoder_(type) {}

  void write(ConstImageRef image, const FrameInfo&) override {
    const auto bytes = encoder_.encode(image);
    write_whole_file(name(frames_ + 1), bytes, sequence_ ? Flush::none : Flush::to_disk,
                     MissingFolders::refuse);
    ++frames_;
  }
  void finish() override {}
  int64_t frames() const override { return frames_; }
  std::string path() const override { return path_; }

 private:
  std::string name(int64_t number) const {
    char buffer[4096];
    if (!sequence_ ||
        av_get_frame_filename(buffer, sizeof buffer, path_.c_str(), static_cast<int>(number)) < 0)
      return path_;
    return buffer;
  }

  std::string path_;
  bool sequence_;
  ImageEncoder encoder_;
  int64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<Recorder> make_image_recorder(const std::string& path, const RecorderOptions& options) {
  ImageFileType type;
  image_file_type(path, type);
  const std::filesystem::path file(path);
  if (!is_sequence_pattern(path) && !options.still)
    throw Error(ExitCode::usage, path, "many frames do not fit into one image",
                "number the files: " + file.stem().string() + "_%04d" + file.extension().string());
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_directory(folder))
    throw Error(ExitCode::runtime_failure, path, "cannot be written: there is no folder " + folder.string());
  return std::make_unique<ImageRecorder>(path, type);
}

}  // namespace lensd
