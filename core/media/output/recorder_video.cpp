#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/files/video_file.hpp"
#include "core/media/output/recorders.hpp"
#include "core/media/output/recording_clock.hpp"

namespace lensd {
namespace {

constexpr AVRational kNanoseconds = {1, 1'000'000'000};

/// One file from the first frame to the last.
class VideoRecorder final : public Recorder {
 public:
  VideoRecorder(const std::string& path, const std::string& muxer, ImageFormat format,
                const RecorderOptions& options)
      : format_(format),
        encoder_(output_format_of(muxer, path), pixels_format(format), options.fps, options, path),
        audio_(options.audio_from.empty() ? nullptr : AudioCopy::open(options.audio_from)),
        file_(path, {.overwrite = true, .beneath = {}}, muxer, encoder_.context(), audio_.get(), 0,
              options.crash_safe) {}

  ~VideoRecorder() override {
    try {
      finish();
    } catch (const Error&) {
      // finish() was not called: whoever dropped the recorder has no use for another error.
    }
  }

  void write(ConstImageRef image, const FrameInfo& info) override {
    if (!(image.format == format_))
      throw Error(ExitCode::runtime_failure, path(), "the picture's size or format changed while recording",
                  "start a new recording");
    const AVCodecContext& c = encoder_.context();
    const auto [ticks, jump] = clock_.place(info, c.time_base, encoder_.frame_ticks());
    if (jump && audio_) audio_->follow(av_rescale_q(ticks, c.time_base, kNanoseconds), info.pts_ns);
    encoder_.send(pixels(image), ticks);
    end_ = ticks + encoder_.frame_ticks();
    ++frames_;
    drain();
  }

  void finish() override {
    if (finished_) return;
    finished_ = true;
    encoder_.send_end();
    drain();
    file_.finish(end_);
  }

  int64_t frames() const override { return frames_; }
  std::string path() const override { return file_.path(); }

 private:
  void drain() {
    try {
      while (encoder_.receive(*packet_)) file_.write(*packet_);
    } catch (const Error&) {
      finished_ = true;  // the file was completed up to its last whole part
      throw;
    }
  }

  ImageFormat format_;
  VideoEncoder encoder_;
  std::unique_ptr<AudioCopy> audio_;
  VideoFile file_;
  RecordingClock clock_;
  ff::PacketPtr packet_ = ff::make_packet();
  int64_t frames_ = 0, end_ = 0;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Recorder> make_video_recorder(const std::string& path, const std::string& muxer,
                                              ImageFormat format, const RecorderOptions& options) {
  return std::make_unique<VideoRecorder>(path, muxer, format, options);
}

}  // namespace lensd
