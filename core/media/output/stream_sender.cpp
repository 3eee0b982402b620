#include "core/media/output/stream_sender.hpp"

extern "C" {
#include <libavdevice/avdevice.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "core/base/clock.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

constexpr AVRational kNanoseconds = {1, 1'000'000'000};
constexpr int64_t kConnectNs = 5'000'000'000, kWriteNs = 3'000'000'000, kEndNs = 800'000'000;
constexpr int64_t kFirstRetryNs = 250'000'000, kLastRetryNs = 5'000'000'000;

constexpr struct {
  const char* begin;
  const char* muxer;
} kProtocols[] = {{"rtsp://", "rtsp"},  {"rtsps://", "rtsp"}, {"rtmp://", "flv"},       {"rtmps://", "flv"},
                  {"srt://", "mpegts"}, {"udp://", "mpegts"}, {"rtp://", "rtp_mpegts"}, {"v4l2:", "v4l2"}};

const char* muxer_for(const std::string& url) {
  for (const auto& protocol : kProtocols)
    if (url.starts_with(protocol.begin)) return url == protocol.begin ? nullptr : protocol.muxer;
  return url.ends_with(".m3u8") && url.find("://") == std::string::npos ? "hls" : nullptr;
}

void set_options(const std::string& muxer, ff::Options& options) {
  if (muxer == "rtsp") options.set("rtsp_transport", "tcp");
  if (muxer == "flv") options.set("flvflags", "no_duration_filesize");
  if (muxer == "hls") {
    options.set("hls_time", "2");
    options.set("hls_list_size", "6");
    options.set("hls_flags", "delete_segments+independent_segments+temp_file");
  }
}

}  // namespace

bool is_stream_target(const std::string& target) {
  return muxer_for(target) != nullptr;
}

void check_stream_url(const std::string& url) {
  stream_target(url);
}

StreamTarget stream_target(const std::string& url) {
  const char* muxer = muxer_for(url);
  if (!muxer)
    throw Error(ExitCode::usage, without_secrets(url), "nothing can be sent there",
                "use rtsp:// rtmp:// srt:// udp:// rtp://, a .m3u8 playlist or v4l2:/dev/videoN");
  const std::string device = "v4l2:";
  return {url.starts_with(device) ? url.substr(device.size()) : url, without_secrets(url), muxer};
}

void StreamTally::tell(bool is_problem, std::string text) {
  const std::lock_guard lock(mutex);
  problem = is_problem, news = std::move(text);
}

void StreamSender::OutputFree::operator()(AVFormatContext* p) const noexcept {
  if (p->pb && !(p->oformat->flags & AVFMT_NOFILE)) avio_closep(&p->pb);
  avformat_free_context(p);
}

StreamSender::StreamSender(const StreamTarget& target, const AVCodecContext& encoder, std::string audio_from,
                           StreamTally& tally)
    : target_(target),
      audio_from_(std::move(audio_from)),
      tally_(tally),
      time_base_(encoder.time_base),
      frame_rate_(encoder.framerate),
      codec_(ff::allocated(avcodec_parameters_alloc()), [](auto* p) { avcodec_parameters_free(&p); }) {
  avcodec_parameters_from_context(codec_.get(), &encoder);
  thread_ = std::thread([this] { loop(); });
}

// ---- encoder's thread -----------------------------------------------------------------------------------

void StreamSender::push(const AVPacket& packet) {
  const bool key = (packet.flags & AV_PKT_FLAG_KEY) != 0;
  if (!skip_to_key_ || key) {
    Item item{ff::make_packet()};
    if (av_packet_ref(item.packet.get(), &packet) == 0 && queue_.try_push(item)) {
      skip_to_key_ = false;
      return;
    }
  }
  // What follows a lost picture cannot be decoded before the next key frame.
  skip_to_key_ = true;
  tally_.dropped.fetch_add(1, std::memory_order_relaxed);
}

void StreamSender::follow(int64_t recording_ns, int64_t position_ns) {
  if (audio_from_.empty()) return;
  Item item{nullptr, recording_ns, position_ns};
  queue_.try_push(item);
}

void StreamSender::finish() {
  if (!thread_.joinable()) return;
  end_deadline_ns_ = now_ns() + kEndNs;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  queue_.close();
  wake_.notify_all();
  thread_.join();
}

// ---- sender's thread ------------------------------------------------------------------------------------

int StreamSender::interrupted(void* self) {
  const auto& sender = *static_cast<const StreamSender*>(self);
  const int64_t now = now_ns();
  return now > sender.deadline_ns_.load(std::memory_order_relaxed) ||
         now > sender.end_deadline_ns_.load(std::memory_order_relaxed);
}

void StreamSender::set_deadline(int64_t ns) {
  deadline_ns_.store(now_ns() + ns, std::memory_order_relaxed);
}

/// False when the stream ends meanwhile.
bool StreamSender::wait(int64_t ns) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, std::chrono::nanoseconds(ns), [this] { return ending_.load(); });
}

void StreamSender::lost(const std::string& why) {
  tally_.state = StreamOutput::State::waiting;
  // Once for each time that it is lost, not for each attempt.
  if (!std::exchange(told_, true)) tally_.tell(true, fmt::format("{}: {}; trying again", target_.shown, why));
}

void StreamSender::loop() {
  if (!audio_from_.empty()) audio_ = AudioCopy::open(audio_from_);
  int64_t retry_ns = kFirstRetryNs;
  while (!ending_) {
    tally_.state = StreamOutput::State::connecting;
    int error = 0;
    OutputPtr output = connect(error);
    if (output) {
      told_ = false, retry_ns = kFirstRetryNs;
      tally_.state = StreamOutput::State::sending;
      tally_.connections.fetch_add(1, std::memory_order_relaxed);
      tally_.tell(false, "sending to " + target_.shown);
      error = send(*output);
      close(std::move(output), error >= 0);
      if (error >= 0) break;
    }
    if (ending_) break;
    lost(error == AVERROR_EXIT ? "no answer within the deadline" : ff::error_text(error));
    if (!wait(retry_ns)) break;
    retry_ns = std::min(retry_ns * 2, kLastRetryNs);
  }
  drain_stale();
  tally_.state = StreamOutput::State::idle;
}

StreamSender::OutputPtr StreamSender::connect(int& error) {
  set_deadline(kConnectNs);
  ff::forget_log();
  AVFormatContext* context = nullptr;
  error = avformat_alloc_output_context2(&context, nullptr, target_.muxer.c_str(), target_.url.c_str());
  if (error < 0) return nullptr;
  OutputPtr output(context);
  context->interrupt_callback = {interrupted, this};
  context->flags |= AVFMT_FLAG_FLUSH_PACKETS;
  AVStream* stream = avformat_new_stream(context, nullptr);
  if (!stream || avcodec_parameters_copy(stream->codecpar, codec_.get()) < 0) {
    error = AVERROR(ENOMEM);
    return nullptr;
  }
  stream->codecpar->codec_tag = 0;
  stream->time_base = time_base_;
  stream->avg_frame_rate = frame_rate_;
  drain_stale();
  wants_key_ = true;
  start_.reset();
  // The audio's times are shifted when the first picture is there; the stream has to be known before.
  if (audio_) audio_->add_stream(*context, 0);
  ff::Options options;
  set_options(target_.muxer, options);
  if (!(context->oformat->flags & AVFMT_NOFILE)) {
    error =
        avio_open2(&context->pb, target_.url.c_str(), AVIO_FLAG_WRITE, &context->interrupt_callback, nullptr);
    if (error < 0) return nullptr;
  }
  error = avformat_write_header(context, options.get());
  return error < 0 ? nullptr : std::move(output);
}

/// Sends until the stream ends (0) or the connection breaks (an AVERROR).
int StreamSender::send(AVFormatContext& output) {
  drain_stale();  // what came while the connection was made is old
  wants_key_ = true;
  while (auto item = queue_.pop()) {
    if (!item->packet) {
      if (audio_) audio_->follow(item->recording_ns, item->position_ns);
      continue;
    }
    AVPacket& packet = *item->packet;
    if (!start_) {
      if (!(packet.flags & AV_PKT_FLAG_KEY)) {
        tally_.dropped.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      start_ = packet.dts;
      if (audio_) audio_->begin_at(av_rescale_q(packet.dts, time_base_, kNanoseconds));
    }
    if (const int error = write(output, packet); error < 0) {
      tally_.dropped.fetch_add(1, std::memory_order_relaxed);
      return error;
    }
  }
  return 0;
}

int StreamSender::write(AVFormatContext& output, AVPacket& packet) {
  set_deadline(kWriteNs);
  if (audio_)
    if (const int error = audio_->copy_until(av_rescale_q(packet.dts, time_base_, kNanoseconds)); error < 0)
      return error;
  const int bytes = packet.size;
  packet.pts -= *start_, packet.dts -= *start_;
  av_packet_rescale_ts(&packet, time_base_, output.streams[0]->time_base);
  packet.stream_index = 0;
  const int error = av_write_frame(&output, &packet);
  if (error < 0) return error;
  if (output.pb && output.pb->error < 0) return output.pb->error;
  tally_.sent.fetch_add(1, std::memory_order_relaxed);
  tally_.bytes.fetch_add(bytes, std::memory_order_relaxed);
  return 0;
}

void StreamSender::close(OutputPtr output, bool whole) {
  if (audio_) audio_->leave_output();
  set_deadline(whole ? kEndNs : 0);  // to a receiver that is gone nothing is said any more
  av_write_trailer(output.get());
}

void StreamSender::drain_stale() {
  while (auto item = queue_.try_pop()) {
    if (item->packet)
      tally_.dropped.fetch_add(1, std::memory_order_relaxed);
    else if (audio_)
      audio_->follow(item->recording_ns, item->position_ns);
  }
}

}  // namespace lensd
