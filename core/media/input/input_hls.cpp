// Input for HLS playlists from HTTP servers.
//
// A playlist is recognised by its first line, regardless of its address and content type. FFmpeg's demuxer
// then reads the playlist that HlsAccess has rewritten. A complete playlist is played as a seekable file; a
// live one is read ahead.
extern "C" {
#include <libavutil/opt.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/media/input/input.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/live/live_options.hpp"

namespace lensd {
namespace {

/// Limits of probing. The start of a stream arrives in a burst, so probing costs no time.
constexpr int64_t kHlsProbeBytes = 5'000'000, kHlsAnalyzeUs = 2'000'000;
/// A live stream counts as lost after this many segment durations without data.
constexpr int64_t kMissedSegments = 3;

/// Demuxers of playlists ("hls") and of segments. A playlist in place of a segment does no harm, because
/// FFmpeg refuses to open the addresses that it lists.
constexpr const char* kDemuxers = "hls,mpegts,mov,aac,mp3,ac3,eac3";

/// Sets the options of FFmpeg's demuxer that this version of FFmpeg supports.
void set_demuxer_options(ff::Options& options, const AVInputFormat& demuxer) {
  constexpr std::pair<const char*, const char*> kValues[] = {
      // Do not reuse connections: HlsAccess must open each of them.
      {"http_persistent", "0"},
      {"http_multiple", "0"},
      // Allow all names of segments: HlsAccess checks the addresses, and kDemuxers limits the content.
      {"allowed_extensions", "ALL"},
      {"allowed_segment_extensions", "ALL"},
      {"extension_picky", "0"},
      // The input's deadline ends the wait for new segments, not a reload count that differs between
      // versions.
      {"max_reload", "100000"},
      {"m3u8_hold_counters", "100000"},
  };
  const AVClass* type = demuxer.priv_class;
  for (const auto& [name, value] : kValues)
    if (type && av_opt_find(&type, name, nullptr, 0, AV_OPT_SEARCH_FAKE_OBJ)) options.set(name, value);
}

}  // namespace

/// Reads the playlist at allowed_url_ and closes `io`, so that FFmpeg does not open its demuxer itself. If
/// the content is not a playlist, restores the position and does nothing else.
int Input::take_playlist(AVIOContext** io) noexcept {
  unsigned char begin[hls::kBegin.size()] = {};
  const int bytes = avio_read(*io, begin, sizeof begin);
  const bool playlist = bytes == sizeof begin && std::ranges::equal(begin, hls::kBegin);
  // These bytes are still in the buffer, so the seek needs no request.
  if (!playlist) return avio_seek(*io, 0, SEEK_SET) < 0 ? AVERROR(EIO) : 0;
  int error = AVERROR_INVALIDDATA;
  try {
    playlist_url_ = allowed_url_;
    playlist_ = hls::kBegin;
    if (const int failed = HlsAccess::read_text(**io, playlist_, playlist_url_); failed < 0)
      playlist_.clear(), error = failed;
  } catch (const Error& problem) {
    playlist_problem_ = problem.problem();
    playlist_.clear();
  } catch (const std::exception&) {
    playlist_.clear();
    error = AVERROR(ENOMEM);
  }
  avio_closep(io);
  return error;
}

int Input::open_part(AVFormatContext* context, AVIOContext** io, const char* url, int flags,
                     AVDictionary** options) noexcept {
  return static_cast<Input*>(context->opaque)->hls_->open(context, io, url, flags, options);
}

int Input::close_part(AVFormatContext* context, AVIOContext* io) noexcept {
  return static_cast<Input*>(context->opaque)->hls_->close(io);
}

void Input::open_hls(const std::string& url, const LiveOptions& live, const HlsAccess::Request& request) {
  make_context();
  refuse_redirection(url, playlist_url_);
  hls_ = std::make_unique<HlsAccess>(url, live, context_->io_open, deadline_, policy_);
  context_->opaque = this;
  context_->io_open = open_part;
  context_->io_close2 = close_part;
  context_->probesize = kHlsProbeBytes;
  context_->max_analyze_duration = kHlsAnalyzeUs;
  const AVInputFormat* demuxer = av_find_input_format("hls");
  if (!demuxer) throw Error(ExitCode::unavailable, where_, "this FFmpeg cannot read HLS playlists");
  // Set these before the demuxer is opened, because HlsAccess opens the first address before it.
  const std::string protocols = allowed_protocols("http") + ",crypto";
  ff::check_memory(av_opt_set(context_.get(), "protocol_whitelist", protocols.c_str(), 0));
  ff::check_memory(av_opt_set(context_.get(), "format_whitelist", kDemuxers, 0));
  ff::Options options;
  set_demuxer_options(options, *demuxer);
  const AVClass* general = avformat_get_class();
  for (const auto& [key, value] : live.extra)
    if (av_opt_find(&general, key.c_str(), nullptr, 0, AV_OPT_SEARCH_FAKE_OBJ))
      options.set(key.c_str(), value);
  HlsAccess::Request all = request;
  all.with_audio = live.audio != nullptr, all.audio_track = live.audio ? live.audio->track() : 0;
  int error = 0;
  try {
    context_->url = ff::allocated(av_strdup(url.c_str()));  // FFmpeg's io_open compares with it
    hls_->begin(*context_, std::exchange(playlist_, {}), playlist_url_, all);
    av_freep(&context_->url);  // avformat_open_input() sets it
    context_->pb = hls_->master();
    error = open_demuxer(url, demuxer, options);
  } catch (const Error& problem) {
    fail_if_interrupted();
    if (deadline_.expired()) fail("no answer before the open timeout");
    fail(problem.problem(), problem.hint());
  }
  fail_hls();
  if (error < 0) {
    fail_if_interrupted();
    if (deadline_.expired()) fail("no answer before the open timeout");
    if (const std::string reason = hls_->reason(); !reason.empty()) fail(reason);
    fail("its HLS segments are not a video that FFmpeg can read", ff::log_hint());
  }
  const int64_t least = hls_->on_demand() ? live.open_ns : kMissedSegments * hls_->target_ns();
  silence_.raise(least);
}

/// Throws Error if the playlists or keys of an HLS stream cannot be loaded.
void Input::fail_hls() const {
  if (!hls_ || hls_->problem().empty()) return;
  fail_if_interrupted();
  if (deadline_.expired()) fail("no answer before the open timeout");
  fail(hls_->problem());
}

/// Call once the source is open. Afterwards, failed requests for files on HTTP servers are repeated until the
/// deadline. Before this call, LiveReader repeats them for videos, and open_network() for sound. Starts the
/// read-ahead of a live HLS stream.
void Input::start_reading() {
  if (sized_) {
    av_opt_set_int(context_->pb, "reconnect_on_network_error", 1, AV_OPT_SEARCH_CHILDREN);
    av_opt_set(context_->pb, "reconnect_on_http_error", kTemporaryHttpErrors, AV_OPT_SEARCH_CHILDREN);
  }
  if (!hls_) return;
  hls_->keep_trying();
  if (hls_->on_demand()) return;
  ReadAhead::Streams streams{
      .video = stream_->index, .audio = -1, .video_base = stream_->time_base, .audio_base = {1, 1}};
  codec_ = stream_->codecpar->codec_id;
  if (audio_stream_) streams.audio = audio_stream_->index, streams.audio_base = audio_stream_->time_base;
  read_ahead_ = std::make_unique<ReadAhead>([this](AVPacket& packet) { return read_from_server(packet); },
                                            streams, stop_, hls_->reserve_ns());
}

/// Reads a packet of a live HLS stream. Called by the read-ahead thread.
int Input::read_from_server(AVPacket& packet) noexcept {
  const ConnectPolicy::Scope scope(policy_);
  deadline_.set(silence_ns());
  for (;;) {
    const int error = av_read_frame(context_.get(), &packet);
    if (stop_.raised()) return AVERROR_EXIT;
    if (!hls_->problem().empty()) return AVERROR(EPERM);
    if (deadline_.expired() || error == AVERROR_EXIT) return AVERROR(ETIMEDOUT);
    if (error == AVERROR(EAGAIN)) continue;
    codec_changed_ = error >= 0 && stream_->codecpar->codec_id != codec_;
    return codec_changed_ ? AVERROR_INPUT_CHANGED : error;
  }
}

}  // namespace lensd
