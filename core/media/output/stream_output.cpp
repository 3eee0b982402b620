#include "core/media/stream_output.hpp"

#include "core/media/output/encoders/encoder_choice.hpp"
#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/stream_sender.hpp"

namespace lensd {

/// The encoder and the sender of its packets. Both are created with the first frame.
struct StreamOutput::Encoding {
  Options options;
  StreamTarget target;
  std::shared_ptr<SharedStreamStatus> status = std::make_shared<SharedStreamStatus>();
  AudioChange audio_change;
  std::unique_ptr<VideoEncoder> encoder;
  std::unique_ptr<StreamSender> sender;
  std::string reported;  ///< the last notice about an encoder, so that a new connection does not repeat it

  explicit Encoding(const Options& o)
      : options(o),
        target(stream_target(o.url, o.tls)),
        audio_change(has_audio(target) ? o.audio_from.live : nullptr) {
    if (!has_audio(target)) options.audio_from = {};
    options.encoder = stream_encoder(target.muxer, o.encoder);
  }

  /// Returns false for devices.
  static bool has_audio(const StreamTarget& target) {
    return output_format_of(target.muxer, target.shown).audio_codec != AV_CODEC_ID_NONE;
  }

  void open(const PixelsFormat& format, uint32_t connection) {
    encoder = std::make_unique<VideoEncoder>(output_format_of(target.muxer, target.shown), format,
                                             options.fps, options.encoder, target.shown);
    const Notice& notice = encoder->notice();
    if (!notice.text.empty() && std::exchange(reported, notice.text) != notice.text)
      status->notices.add(notice.problem, notice.text);
    audio_change.opened(connection);
    options.audio_from.connection = connection;
    sender = std::make_unique<StreamSender>(target, *encoder, options.audio_from, status);
  }
  /// Returns the frame's colour tags, or the default ones for a device, which cannot store tags.
  ColourTags tags(const FrameInfo& info) const { return target.muxer == "v4l2" ? ColourTags{} : info.tags; }
  void push_packets() {
    while (const AVPacket* packet = encoder->receive()) sender->push(*packet);
  }
  void close() {
    if (!encoder) return;
    encoder->send_end();
    push_packets();
    sender.reset();
    encoder.reset();
  }
};

void check_stream_codec(const std::string& url, const std::string& codec) {
  if (url.empty()) return check_encoder_name(codec, "output.codec");
  EncoderOptions options;
  options.codec = codec;
  ff::initialize();  // for the container of devices
  const StreamTarget target = stream_target(url);
  encoders_for(output_format_of(target.muxer, target.shown), stream_encoder(target.muxer, options),
               target.shown);
}

StreamOutput::StreamOutput(const Options& options) {
  ff::initialize();
  encoding_ = std::make_unique<Encoding>(options);
}

StreamOutput::~StreamOutput() {
  try {
    finish();
  } catch (const Error&) {
    // Callers that need the error call finish().
  }
}

void StreamOutput::write(ConstImageRef image, const FrameInfo& info, PixelAspect aspect) {
  Encoding& e = *encoding_;
  const PixelsFormat format = pixels_format(image.format, aspect, e.tags(info));
  // A new format needs a new stream.
  if (e.encoder && (!e.encoder->adapt(format) || e.audio_change.detect(info))) e.close();
  if (!e.encoder) e.open(format, info.connection);
  const auto [ticks, jump] = e.encoder->next_time(info);
  if (jump) e.sender->add_jump(*jump);
  e.encoder->send(pixels(image), ticks, e.sender->take_key_request());
  e.push_packets();
}

void StreamOutput::abandon() noexcept {
  encoding_->sender.reset();
  encoding_->encoder.reset();
}

void StreamOutput::source_ended() noexcept {
  encoding_->status->source_ended = true;
}

void StreamOutput::set_rate(double fps) noexcept {
  encoding_->options.fps = fps;
}

void StreamOutput::finish() {
  encoding_->close();
  SharedStreamStatus& status = *encoding_->status;
  status.playlist_lock.release();
  if (status.incomplete || status.unfinished > 0)
    throw Error(ExitCode::runtime_failure, encoding_->target.shown, "segments are missing");
}

StreamOutput::Status StreamOutput::status() const {
  const SharedStreamStatus& s = *encoding_->status;
  return {s.state, s.sent, s.bytes, s.dropped, s.reason()};
}

std::string StreamOutput::last_problem() const {
  return encoding_->status->last_reason();
}

bool StreamOutput::connected() const noexcept {
  return encoding_->status->connected;
}

std::vector<Notice> StreamOutput::take_notices() {
  return encoding_->status->notices.take();
}

const std::string& StreamOutput::shown_url() const noexcept {
  return encoding_->target.shown;
}

}  // namespace lensd
