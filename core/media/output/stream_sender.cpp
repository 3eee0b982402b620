#include "core/media/output/stream_sender.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/limits.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/media/hls_playlist.hpp"
#include "core/media/live/tls_options.hpp"
#include "core/media/output/hls_options.hpp"
#include "core/media/output/video_device.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

constexpr int64_t kConnectNs = 5'000'000'000, kWriteNs = 3'000'000'000, kEndNs = 800'000'000;
/// Maximum waits in finish(): for audio from the network, and for the thread to return after its deadline.
constexpr int64_t kAudioNs = 300'000'000, kMarginNs = 100'000'000;
constexpr auto kPollInterval = std::chrono::milliseconds(2);
constexpr int64_t kFirstRetryNs = 250'000'000, kLastRetryNs = 5'000'000'000;
/// A connection counts as a success after this time, because a receiver may accept streams and then drop
/// them.
constexpr int64_t kStableNs = 10'000'000'000;

constexpr struct {
  const char* begin;
  const char* muxer;
} kProtocols[] = {{"rtsp://", "rtsp"},  {"rtsps://", "rtsp"}, {"rtmp://", "flv"},       {"rtmps://", "flv"},
                  {"srt://", "mpegts"}, {"udp://", "mpegts"}, {"rtp://", "rtp_mpegts"}, {"v4l2:", "v4l2"}};

const char* muxer_for(const std::string& url) {
  for (const auto& protocol : kProtocols)
    if (url.starts_with(protocol.begin)) return url == protocol.begin ? nullptr : protocol.muxer;
  return is_playlist(url) ? "hls" : nullptr;
}

void set_options(const StreamTarget& target, ff::Options& options) {
  if (target.muxer == "rtsp") options.set("rtsp_transport", "tcp");
  if (target.muxer == "flv") options.set("flvflags", "no_duration_filesize");
  if (target.muxer == "hls") set_hls_options(target.url, options);
}

/// Throws Error(usage) if the port is invalid, or if it is missing and the protocol has no default.
void check_port(const std::string& url, const std::string& shown) {
  const bool has_default = url.starts_with("rtsp") || url.starts_with("rtmp");
  if (const auto wrong = port_problem(url, !has_default))
    throw Error(ExitCode::usage, shown, wrong->what, wrong->hint);
}

/// A connection through one of FFmpeg's muxers.
struct MuxerConnection final : StreamConnection {
  MuxerConnection(const AVOutputFormat& format, const std::string& url, const EncodedFormat& video,
                  AudioCopy* audio, bool is_playlist)
      : muxer(format, url, video, audio), hls(is_playlist) {}
  void start_at(int64_t ticks) override { muxer.start_at(ticks); }
  int write(const AVPacket& packet) override { return muxer.write(packet); }
  int complete(bool source_ended) override {
    if (source_ended && hls) av_opt_set(muxer.context().priv_data, "hls_flags", "-omit_endlist", 0);
    return muxer.write_trailer();
  }
  std::string reason(int /*error*/) const override { return muxer.file_problem(); }

  Muxer muxer;
  const bool hls;
};

}  // namespace

bool is_stream_target(const std::string& target) {
  return muxer_for(target) != nullptr;
}

void check_stream_url(const std::string& url, TlsCheck tls) {
  stream_target(url, tls);
}

StreamTarget stream_target(const std::string& url, TlsCheck tls) {
  if (url.size() > kMaxUrlBytes)
    throw Error(ExitCode::usage, "stream target",
                fmt::format("its name has {} bytes, the limit is {}", url.size(), kMaxUrlBytes));
  remember_secrets(url);
  const char* muxer = muxer_for(url);
  if (!muxer)
    throw Error(ExitCode::usage, url_without_secrets(url), "this is not a stream target",
                "use rtsp:// rtmp:// srt:// udp:// rtp://, a .m3u8 playlist or v4l2:/dev/videoN");
  if (is_playlist(url))
    check_playlist_path(url);
  else
    check_port(url, url_without_secrets(url));
  if (tls == TlsCheck::verify && url.starts_with("rtsps://"))  // FFmpeg's RTSP opens TLS without options
    throw Error(ExitCode::unavailable, url_without_secrets(url),
                "lensd cannot verify the certificate of an rtsps receiver",
                "use rtmps://, or tls = \"auto\" to send without verification");
  const std::string device = "v4l2:";
  return {url.starts_with(device) ? url.substr(device.size()) : url, url_without_secrets(url), muxer, tls};
}

StreamSender::StreamSender(const StreamTarget& target, const VideoEncoder& encoder, AudioSource audio_from,
                           std::shared_ptr<SharedStreamStatus> status)
    : worker_(std::make_shared<Worker>(target, encoder, std::move(audio_from), std::move(status))),
      thread_([worker = worker_] { worker->run_until_end(); }) {}

StreamSender::~StreamSender() {
  finish();
}

void StreamSender::push(const AVPacket& packet) {
  worker_->push(packet);
}

void StreamSender::add_jump(const SourceJump& jump) {
  worker_->add_jump(jump);
}

bool StreamSender::take_key_request() noexcept {
  return worker_->take_key_request();
}

void StreamSender::finish() {
  worker_->end();
  // Reading audio from the network may take seconds. Interrupt it, but first give the thread time to send the
  // queued pictures.
  const int64_t end = now_ns() + kAudioNs;
  while (!thread_.join_if_ended() && now_ns() < end) std::this_thread::sleep_for(kPollInterval);
  worker_->abandon_audio();
  thread_.join_within(std::chrono::nanoseconds(kEndNs - kAudioNs + kMarginNs));
}

StreamSender::Worker::Worker(const StreamTarget& target, const VideoEncoder& encoder, AudioSource audio_from,
                             std::shared_ptr<SharedStreamStatus> status)
    : target_(target),
      audio_from_(std::move(audio_from)),
      status_(std::move(status)),
      format_(encoder),
      retry_ns_(kFirstRetryNs),
      random_(static_cast<uint32_t>(now_ns())) {
  if (is_hls()) ++status_->unfinished;
}

// ---- encoder's thread -----------------------------------------------------------------------------------

void StreamSender::Worker::push(const AVPacket& packet) {
  if ((!skip_to_key_ || ff::is_key(packet)) && push_jump()) {
    Item item{ff::make_packet()};
    if (av_packet_ref(item.packet.get(), &packet) == 0 && queue_.try_push(item)) {
      skip_to_key_ = false;
      return;
    }
  }
  // The pictures after a lost one cannot be decoded until the next key frame.
  skip_to_key_ = true;
  count_dropped();
}

void StreamSender::Worker::add_jump(const SourceJump& jump) {
  if (audio_from_.none()) return;
  const bool seek = jump_ && jump_->jump.seek;  // an earlier jump that did not fit into the queue
  jump_ = Item{nullptr, jump};
  jump_->jump.seek |= seek;
  push_jump();
}

/// Queues the last jump, if it is not queued yet. Returns false if the queue is full.
bool StreamSender::Worker::push_jump() {
  if (!jump_ || !queue_.try_push(*jump_)) return !jump_;
  jump_.reset();
  return true;
}

/// Ends the thread after the queued packets, or at the final deadline. Idempotent.
void StreamSender::Worker::end() {
  if (ending_.exchange(true)) return;
  deadline_.set_final(kEndNs);
  // Lock the mutex, so that wait() cannot check ending_ before this call and sleep after it.
  { const std::lock_guard lock(mutex_); }
  queue_.close();
  wake_.notify_all();
}

// ---- sender's thread ------------------------------------------------------------------------------------

/// Waits `ns`. Returns false at once if the stream ends during the wait.
bool StreamSender::Worker::wait(int64_t ns) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, std::chrono::nanoseconds(ns), [this] { return ending_.load(); });
}

/// Waits before the next attempt, longer after each one until a connection is stable. A random jitter makes
/// the wait up to 20 % shorter. Returns false if the stream ends during the wait.
bool StreamSender::Worker::wait_for_retry() {
  const int64_t ns = retry_ns_ - retry_ns_ / 5 * static_cast<int64_t>(random_() % 1000) / 1000;
  retry_ns_ = std::min(retry_ns_ * 2, kLastRetryNs);
  return wait(ns);
}

/// Sets the state. After a short-lived connection, check_stable() adds the notice.
void StreamSender::Worker::connected() {
  status_->connected = true;
  status_->state = StreamOutput::State::sending;
  status_->set_reason({});
  connected_ns_ = now_ns(), stable_ = false;
  if (short_lived_) return;
  lost_reported_ = false;
  status_->notices.add(false, "sending to " + target_.shown);
}

/// Marks the connection as stable after kStableNs. Call regularly while it works.
void StreamSender::Worker::check_stable() {
  if (stable_ || now_ns() - connected_ns_ < kStableNs) return;
  stable_ = true, retry_ns_ = kFirstRetryNs;
  if (!std::exchange(short_lived_, false)) return;
  lost_reported_ = false;
  status_->notices.add(false, "sending to " + target_.shown);
}

/// Sets the state. Adds one notice per outage, not one per attempt.
void StreamSender::Worker::report_lost(const std::string& reason) {
  status_->set_reason(reason);
  status_->state = StreamOutput::State::waiting;
  if (!std::exchange(lost_reported_, true))
    status_->notices.add(true, fmt::format("{}: {}; retrying", target_.shown, reason));
}

void StreamSender::Worker::run_until_end() {
  for (bool ended = false; !ended;) try {
      run();
      ended = true;
    } catch (const std::exception& e) {  // such as a failed allocation
      if (status_->state == StreamOutput::State::sending) short_lived_ = !stable_;
      report_lost(fmt::format("the stream was interrupted: {}", e.what()));
      ended = !wait_for_retry();
    }
  discard_queue();
  status_->state = StreamOutput::State::idle;
  status_->set_reason({});
}

std::string StreamSender::Worker::reason_of(int error) const {
  if (!refusal_.empty()) return refusal_;
  if (error >= 0) return "the output ended before its first segment was written";
  if (error != AVERROR_EXIT) return ff::error_text(error);
  return is_hls() ? "not written in time" : "no answer before the deadline";
}

void StreamSender::Worker::run() {
  if (!audio_) audio_ = AudioCopy::open(audio_from_, &abandon_audio_);
  int error = 0;
  while (!ending_) {
    status_->state = StreamOutput::State::connecting;
    if (const std::unique_ptr<StreamConnection> connection = connect(error)) {
      connected();
      error = send(*connection);
      short_lived_ = !stable_ || is_hls();    // connecting to a playlist writes nothing
      deadline_.set(error < 0 ? 0 : kEndNs);  // do not wait for a lost receiver
      const int end_error = connection->complete(error >= 0 && status_->source_ended);
      if (error >= 0 && end_error >= 0) {
        if (is_hls()) --status_->unfinished;
        return;
      }
      if (error >= 0) error = end_error;
      refusal_ = connection->reason(error);
      status_->incomplete = is_hls();
    } else if (ending_ && !deadline_.expired()) {
      status_->set_reason(reason_of(error));  // for last_reason()
    }
    if (ending_) break;
    report_lost(reason_of(error));
    if (!wait_for_retry()) break;
  }
  // For other streams, a lost receiver at the end is no error.
  if (is_hls() && !lost_reported_)
    status_->notices.add(true, fmt::format("{}: {}", target_.shown, reason_of(error)));
}

std::unique_ptr<StreamConnection> StreamSender::Worker::connect(int& error) {
  deadline_.set(kConnectNs);
  started_ = false, refusal_.clear();
  if (target_.muxer == "v4l2") return open_device(error);
  try {
    if (is_hls()) refusal_ = status_->playlist_lock.take(target_.url, playlist_lock_);
    if (!refusal_.empty()) return nullptr;
    auto connection = std::make_unique<MuxerConnection>(output_format_of(target_.muxer, target_.shown),
                                                        target_.url, format_, audio_.get(), is_hls());
    AVFormatContext& context = connection->muxer.context();
    context.interrupt_callback = deadline_.callback();
    context.flags |= AVFMT_FLAG_FLUSH_PACKETS;
    ff::Options options;
    set_options(target_, options);
    const bool verifies = set_tls_options(options, target_.url, target_.tls);
    ff::forget_log();
    error = connection->muxer.write_header(options);
    if (error < 0 && verifies && certificate_refused())
      refusal_ = "its certificate cannot be verified (tls = \"any\" in [output] accepts it)";
    return error < 0 ? nullptr : std::move(connection);
  } catch (const Error& e) {
    error = e.code() == ExitCode::unavailable ? AVERROR(ENOENT) : AVERROR(ENOMEM);
    return nullptr;
  }
}

std::unique_ptr<StreamConnection> StreamSender::Worker::open_device(int& error) {
  try {
    return std::make_unique<VideoDevice>(std::make_unique<V4l2Device>(target_.url), target_.url,
                                         *format_.codec, format_.frame_rate);
  } catch (const Error& e) {
    error = AVERROR(EIO), refusal_ = e.problem();
    return nullptr;
  }
}

/// Sends packets until the stream ends or the connection fails. Returns 0 or an AVERROR.
int StreamSender::Worker::send(StreamConnection& connection) {
  discard_queue();  // older than the connection
  key_requested_ = true;
  while (auto item = queue_.pop()) {
    if (!item->packet) {
      if (audio_) audio_->add_jump(item->jump);
      continue;
    }
    const AVPacket& packet = *item->packet;
    if (!started_ && !ff::is_key(packet)) {
      count_dropped();
      continue;
    }
    if (!std::exchange(started_, true)) connection.start_at(packet.dts);
    deadline_.set(kWriteNs);
    const int result = connection.write(packet);
    if (result != 0) count_dropped();
    if (result < 0) return result;
    check_stable();
    if (result == StreamConnection::kNotSent) continue;
    status_->sent.fetch_add(1, std::memory_order_relaxed);
    status_->bytes.fetch_add(packet.size, std::memory_order_relaxed);
  }
  return 0;
}

void StreamSender::Worker::discard_queue() {
  while (auto item = queue_.try_pop()) {
    if (item->packet)
      count_dropped();
    else if (audio_)
      audio_->add_jump(item->jump);
  }
}

}  // namespace lensd
