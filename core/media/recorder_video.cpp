#include <fmt/format.h>

extern "C" {
#include <libavutil/opt.h>
}

#include "core/media/audio_copy.hpp"
#include "core/media/recorders.hpp"
#include "core/media/video_encoder.hpp"

namespace lensd {
namespace {

constexpr AVRational kNanoseconds = {1, 1'000'000'000};

struct OutputFree {
  void operator()(AVFormatContext* p) const noexcept {
    if (p->pb) avio_closep(&p->pb);
    avformat_free_context(p);
  }
};
using OutputPtr = std::unique_ptr<AVFormatContext, OutputFree>;

OutputPtr make_output(const std::string& path, const std::string& muxer) {
  AVFormatContext* context = nullptr;
  avformat_alloc_output_context2(&context, nullptr, muxer.c_str(), path.c_str());
  if (!context) throw Error(ExitCode::runtime_failure, path, "FFmpeg cannot write " + muxer + " files here");
  return OutputPtr(context);
}

/// Recording time of frames: from 0 at the first one, strictly rising, going on when the source jumps back.
class RecordingClock {
 public:
  int64_t place(const FrameInfo& info, AVRational time_base, int64_t frame_ticks) {
    if (last_ < 0) {
      offset_ns_ = -info.pts_ns;
    } else if (info.serial != serial_ || info.pts_ns + 1'000'000'000 < last_pts_ns_) {
      offset_ns_ = av_rescale_q(last_ + frame_ticks, time_base, kNanoseconds) - info.pts_ns;
    }
    serial_ = info.serial;
    last_pts_ns_ = info.pts_ns;
    last_ = std::max(last_ + 1, av_rescale_q(info.pts_ns + offset_ns_, kNanoseconds, time_base));
    return last_;
  }

 private:
  int64_t last_ = -1, last_pts_ns_ = 0, offset_ns_ = 0;
  uint32_t serial_ = 0;
};

class VideoRecorder final : public Recorder {
 public:
  VideoRecorder(const std::string& path, const std::string& muxer, ImageFormat format,
                const RecorderOptions& options)
      : path_(path),
        format_(format),
        output_(make_output(path, muxer)),
        encoder_(*output_->oformat, format, options, path) {
    stream_ = ff::allocated(avformat_new_stream(output_.get(), nullptr));
    stream_->time_base = encoder_.context().time_base;
    stream_->avg_frame_rate = stream_->r_frame_rate = encoder_.context().framerate;
    avcodec_parameters_from_context(stream_->codecpar, &encoder_.context());
    if (!options.audio_from.empty()) audio_ = AudioCopy::open(options.audio_from, *output_);
    if (const int error = avio_open(&output_->pb, ("file:" + path).c_str(), AVIO_FLAG_WRITE); error < 0)
      fail(error);
    if (options.crash_safe && (muxer == "mp4" || muxer == "mov")) write_in_fragments();
    check(avformat_write_header(output_.get(), nullptr));
    header_written_ = true;
    avio_flush(output_->pb);
  }

  ~VideoRecorder() override {
    try {
      finish();
    } catch (const Error&) {
      // finish() was not called: whoever dropped the recorder has no use for another error.
    }
  }

  void write(ConstImageRef image, const FrameInfo& info) override {
    if (!(image.format == format_))
      throw Error(ExitCode::runtime_failure, path_, "the picture's size or format changed while recording",
                  "start a new recording");
    if (frames_ == 0 && audio_) audio_->start_at(info.pts_ns);
    encoder_.send(image, clock_.place(info, encoder_.context().time_base, encoder_.frame_ticks()));
    ++frames_;
    drain();
  }

  void finish() override {
    if (!header_written_) return;
    header_written_ = false;  // whatever happens, the file is finished once
    if (!failed_) {
      encoder_.send_end();
      drain();
    }
    // Also after a failure: the trailer holds what makes the rest playable.
    const int error = av_write_trailer(output_.get());
    const int closed = avio_closep(&output_->pb);
    if (failed_) return;
    check(error);
    check(closed);
  }

  int64_t frames() const override { return frames_; }
  std::string path() const override { return path_; }

 private:
  void write_in_fragments() {
    // FFmpeg 7.1 turns the fragments into an ordinary file at the end; before, they stay.
    if (av_opt_set(output_->priv_data, "movflags", "+hybrid_fragmented+frag_keyframe", 0) < 0)
      av_opt_set(output_->priv_data, "movflags", "+frag_keyframe+empty_moov+default_base_moof", 0);
    av_opt_set(output_->priv_data, "frag_duration", "1000000", 0);  // µs: at most a second is lost
  }

  void drain() {
    while (encoder_.receive(*packet_)) {
      av_packet_rescale_ts(packet_.get(), encoder_.context().time_base, stream_->time_base);
      packet_->stream_index = stream_->index;
      const int64_t end_ns = av_rescale_q(packet_->pts + packet_->duration, stream_->time_base, kNanoseconds);
      check(av_interleaved_write_frame(output_.get(), packet_.get()));
      if (audio_) check(audio_->copy_until(end_ns));
      // What is in the file survives the process, and a full disk is told now.
      avio_flush(output_->pb);
      if (output_->pb->error < 0) check(output_->pb->error);
    }
  }

  void check(int error) {
    if (error < 0) fail(error);
  }

  [[noreturn]] void fail(int error) {
    failed_ = true;
    const bool full = error == AVERROR(ENOSPC) || error == AVERROR(EDQUOT);
    throw Error(ExitCode::runtime_failure, path_, "cannot be written: " + ff::error_text(error),
                full ? fmt::format("free some space; the first {} frames are kept", frames_) : "");
  }

  std::string path_;
  ImageFormat format_;
  OutputPtr output_;
  VideoEncoder encoder_;
  AVStream* stream_ = nullptr;
  std::unique_ptr<AudioCopy> audio_;
  RecordingClock clock_;
  ff::PacketPtr packet_ = ff::make_packet();
  int64_t frames_ = 0;
  bool header_written_ = false, failed_ = false;
};

}  // namespace

std::unique_ptr<Recorder> make_video_recorder(const std::string& path, const std::string& muxer,
                                              ImageFormat format, const RecorderOptions& options) {
  return std::make_unique<VideoRecorder>(path, muxer, format, options);
}

}  // namespace lensd
