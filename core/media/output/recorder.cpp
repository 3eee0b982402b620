#include "core/media/recorder.hpp"

#include <filesystem>

#include "core/base/log.hpp"
#include "core/base/text/text.hpp"
#include "core/base/whole_file.hpp"
#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/files/video_file.hpp"
#include "core/media/still.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

/// Counts frames and discards them, for benchmarks.
class NullRecorder final : public Recorder {
 public:
  void write(ConstImageRef, const FrameInfo&) override { ++frames_; }
  void finish() override {}
  std::string path() const override { return "null:"; }
};

/// Writes one image file or a numbered sequence.
class ImageRecorder final : public Recorder {
 public:
  ImageRecorder(const std::string& path, StillEncoder::Type type, const RecorderOptions& options)
      : path_(path),
        sequence_(is_sequence_pattern(path)),
        existing_(options.overwrite ? Existing::replace : Existing::keep),
        aspect_(options.pixel_aspect),
        encoder_(type) {
    const std::filesystem::path file(path);
    if (!sequence_ && !options.still)
      throw Error(ExitCode::usage, path, "one image file cannot hold several frames",
                  "number the files: " + escape_percent(file.stem().string()) + "_%04d" +
                      escape_percent(file.extension().string()));
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
      throw Error(ExitCode::runtime_failure, path,
                  "cannot be written: there is no folder " + folder.string());
  }

  void write(ConstImageRef image, const FrameInfo&) override {
    write_whole_file(file_name(), encoder_.encode(image, aspect_), sequence_ ? Flush::none : Flush::to_disk,
                     MissingFolders::refuse, PipeReader::may_be_slow, existing_);
    ++frames_;
  }
  void finish() override {}
  std::string path() const override { return path_; }

 private:
  std::string file_name() const {
    char buffer[4096];
    const int number = static_cast<int>(frames_) + 1;
    if (!sequence_ || av_get_frame_filename(buffer, sizeof buffer, path_.c_str(), number) < 0) return path_;
    return buffer;
  }

  std::string path_;
  bool sequence_;
  Existing existing_;
  PixelAspect aspect_;
  StillEncoder encoder_;
};

/// Returns true if pictures with these tags may be in one file, because players show them almost alike.
bool fit_one_file(const ColourTags& a, const ColourTags& b) {
  const Primaries left = a.primaries.value_or(Primaries::bt709),
                  right = b.primaries.value_or(Primaries::bt709);
  return a.transfer == b.transfer && (left == right || (!is_wide(left) && !is_wide(right)));
}

/// Writes all frames to one video file.
class VideoRecorder final : public Recorder {
 public:
  VideoRecorder(const std::string& path, const std::string& muxer, ImageFormat format,
                const RecorderOptions& options)
      : format_(format),
        tags_(options.tags),
        stop_(options.stop),
        encoder_(output_format_of(muxer, path), pixels_format(format, options.pixel_aspect, options.tags),
                 options.fps, options, path),
        audio_(AudioCopy::open(options.audio_from, options.stop)),
        file_(path, {.overwrite = options.overwrite, .beneath = {}, .stop = options.stop}, muxer,
              EncodedFormat(encoder_), audio_.get(), 0) {
    const AVCodecContext& codec = encoder_.context();
    if (const Notice& notice = encoder_.notice(); !notice.text.empty())
      notice.problem ? log::warn("{}: {}", path, notice.text) : log::info("{}: {}", path, notice.text);
    if (tags_.alpha && !has_alpha(codec.pix_fmt))
      log::info("{}: the source has transparency, and {} does not keep it", path, codec.codec->name);
  }

  ~VideoRecorder() override {
    try {
      finish();
    } catch (const Error&) {
      // Callers that need the error call finish().
    }
  }

  void write(ConstImageRef image, const FrameInfo& info) override {
    if (!(image.format == format_))
      throw Error(ExitCode::runtime_failure, path(), "the picture's size or format changed while recording",
                  "start a new recording");
    if (!fit_one_file(info.tags, tags_))
      throw Error(ExitCode::runtime_failure, path(),
                  "the picture's transfer or primaries changed while recording", "start a new recording");
    const auto [ticks, jump] = encoder_.next_time(info);
    if (jump && audio_) audio_->add_jump(*jump);
    encoder_.send(pixels(image), ticks);
    ++frames_;
    write_packets();
  }

  void finish() override {
    if (std::exchange(finished_, true)) return;
    encoder_.send_end();
    write_packets();
    file_.finish(encoder_.end_ticks(), audio_end_, stop_);
  }
  void source_ended() override { audio_end_ = AudioEnd::source; }

  std::string path() const override { return file_.path(); }

 private:
  void write_packets() {
    try {
      while (const AVPacket* packet = encoder_.receive()) file_.write(*packet);
    } catch (const Error&) {
      // Do not write more. VideoFile has closed the file, or its destructor completes it.
      finished_ = true;
      throw;
    }
  }

  ImageFormat format_;
  ColourTags tags_;
  const std::atomic<bool>* const stop_;
  VideoEncoder encoder_;
  std::unique_ptr<AudioCopy> audio_;
  VideoFile file_;
  AudioEnd audio_end_ = AudioEnd::video;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Recorder> open_recorder(const std::string& path, ImageFormat format,
                                        const RecorderOptions& options) {
  ff::initialize();
  if (path == "null:") return std::make_unique<NullRecorder>();
  if (const auto type = still_type(path)) return std::make_unique<ImageRecorder>(path, *type, options);
  if (const std::string muxer = muxer_of(path); !muxer.empty())
    return std::make_unique<VideoRecorder>(path, muxer, format, options);
  throw Error(ExitCode::usage, path, "unknown file type",
              "use .mp4, .mov, .mkv, .webm, .avi, .png, .jpg or null:");
}

void write_image(const std::string& path, ConstImageRef image, PixelAspect aspect, Existing existing) {
  const auto type = still_type(path);
  if (!type) throw Error(ExitCode::usage, path, "images are written as .png or .jpg");
  write_whole_file(path, StillEncoder(*type).encode(image, aspect), Flush::to_disk, MissingFolders::refuse,
                   PipeReader::may_be_slow, existing);
}

}  // namespace lensd
