#include "core/media/stream_output.hpp"

extern "C" {
#include <libavdevice/avdevice.h>
}

#include <mutex>
#include <utility>

#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/files/video_file.hpp"
#include "core/media/output/recording_clock.hpp"
#include "core/media/output/stream_sender.hpp"

namespace lensd {
namespace {

constexpr AVRational kNanoseconds = {1, 1'000'000'000};
/// Receivers join at key frames; pictures kept back are latency.
constexpr double kKeySeconds = 2, kMaxDelay = 0.05;

void register_devices() {
  static std::once_flag once;
  std::call_once(once, avdevice_register_all);
}

}  // namespace

struct StreamOutput::Machine {
  Options options;
  StreamTarget target;
  StreamTally tally;
  RecordingClock clock;
  std::unique_ptr<VideoEncoder> encoder;
  std::unique_ptr<StreamSender> sender;
  ff::PacketPtr packet = ff::make_packet();

  explicit Machine(const Options& o) : options(o), target(stream_target(o.url)) {
    options.encoder.key_interval_s = kKeySeconds;
    options.encoder.max_delay_s = kMaxDelay;
    if (target.muxer == "v4l2") options.encoder = {.codec = "rawvideo", .preset = {}, .crf = {}};
  }

  void open(const PixelsFormat& format) {
    encoder = std::make_unique<VideoEncoder>(output_format_of(target.muxer, target.shown), format,
                                             options.fps, options.encoder, target.shown);
    if (!encoder->notice().empty()) tally.tell(false, encoder->notice());
    clock = {};
    sender = std::make_unique<StreamSender>(target, encoder->context(), options.audio_from, tally);
  }
  void drain() {
    while (encoder->receive(*packet)) sender->push(*packet);
  }
  void close() {
    if (!encoder) return;
    encoder->send_end();
    drain();
    sender.reset();
    encoder.reset();
  }
};

StreamOutput::StreamOutput(const Options& options) {
  ff::capture_log();
  avformat_network_init();
  register_devices();
  machine_ = std::make_unique<Machine>(options);
}

StreamOutput::~StreamOutput() {
  try {
    finish();
  } catch (const Error&) {
    // The encoder failed at its last packets; nobody waits for them.
  }
}

void StreamOutput::write(ConstImageRef image, const FrameInfo& info) {
  Machine& m = *machine_;
  const PixelsFormat format = pixels_format(image.format);
  if (m.encoder && !m.encoder->adapt(format)) m.close();  // receivers learn the new size from a new stream
  if (!m.encoder) m.open(format);
  const AVRational time_base = m.encoder->context().time_base;
  const auto [ticks, jump] = m.clock.place(info, time_base, m.encoder->frame_ticks());
  if (jump) m.sender->follow(av_rescale_q(ticks, time_base, kNanoseconds), info.pts_ns);
  m.encoder->send(pixels(image), ticks, m.sender->wants_key());
  m.drain();
}

void StreamOutput::finish() {
  machine_->close();
}

StreamOutput::State StreamOutput::state() const noexcept {
  return machine_->tally.state;
}
int64_t StreamOutput::sent() const noexcept {
  return machine_->tally.sent;
}
int64_t StreamOutput::bytes() const noexcept {
  return machine_->tally.bytes;
}
uint64_t StreamOutput::dropped() const noexcept {
  return machine_->tally.dropped;
}
int64_t StreamOutput::connections() const noexcept {
  return machine_->tally.connections;
}

std::string StreamOutput::take_notice(bool& problem) {
  StreamTally& tally = machine_->tally;
  const std::lock_guard lock(tally.mutex);
  problem = tally.problem;
  return std::exchange(tally.news, {});
}

const std::string& StreamOutput::shown_url() const noexcept {
  return machine_->target.shown;
}

}  // namespace lensd
