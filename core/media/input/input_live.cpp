// Input for live sources: network streams, cameras, PipeWire nodes, the screen.
extern "C" {
#include <libavutil/opt.h>
}

#include <netdb.h>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/media/input/input.hpp"
#include "core/media/input/login_refused.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/live/live_options.hpp"
#include "core/media/live/tls_options.hpp"

namespace lensd {
namespace {

constexpr int64_t kProbeBytes = 1 << 20;
/// Maximum stream time to probe before decoding begins.
constexpr int64_t kAnalyzeUs = 300'000, kAnalyzeLowLatencyUs = 100'000;
/// Frames to probe for the rate of a stream that does not declare one.
constexpr int kRateFrames = 3;
/// Time after which an unchanged picture of a PipeWire node is repeated. Shorter if LiveOptions::stall_ns is
/// short, so that the source does not count as stalled.
constexpr int64_t kStillRepeatNs = 500'000'000;
/// Number of redirections that FFmpeg follows.
constexpr int kMaxRedirections = 8;

/// Returns a short reason for placeholders and panels.
std::string describe(int error, UrlKind kind) {
  constexpr std::pair<int, const char*> kReasons[] = {
      {AVERROR(EIO), "connection lost"},
      {AVERROR(ECONNREFUSED), "connection refused"},
      {AVERROR(ETIMEDOUT), "no answer"},
      {AVERROR(EHOSTUNREACH), "host not reachable"},
      {AVERROR(ENETUNREACH), "host not reachable"},
      {AVERROR(ECONNRESET), "connection reset"},
      {AVERROR(EPIPE), "connection reset"},
      {AVERROR(EBUSY), "in use by another program"},
      {AVERROR(EPERM), "not allowed"},
      {AVERROR_EOF, "the stream ended at once"},
      {AVERROR_HTTP_NOT_FOUND, "the server has no such file or stream (404)"},
      {AVERROR_HTTP_BAD_REQUEST, "the server does not accept the request (400)"},
      {AVERROR_HTTP_OTHER_4XX, "the server does not accept the request (4xx)"},
      {AVERROR_HTTP_SERVER_ERROR, "the server has failed (5xx)"},
      {AVERROR_INVALIDDATA, "this is not a video stream that FFmpeg can read"}};
  if (kind == UrlKind::screen && error == AVERROR(EIO)) return "cannot open the X11 display";
  for (const auto& [code, text] : kReasons)
    if (code == error) return text;
  return ff::error_text(error);
}

/// Returns true if an RTSP server may have failed with this error because of its audio: it announces audio,
/// but refuses to send it. FFmpeg then fails for the video as well.
bool may_refuse_audio(int error, const std::string& url) {
  constexpr int kOther[] = {AVERROR_EXIT,           AVERROR(ECONNREFUSED), AVERROR(EHOSTUNREACH),
                            AVERROR(ENETUNREACH),   AVERROR(ETIMEDOUT),    AVERROR_HTTP_UNAUTHORIZED,
                            AVERROR_HTTP_FORBIDDEN, AVERROR(ENOMEM)};
  return error < 0 && std::ranges::find(kOther, error) == std::end(kOther) &&
         scheme_of(url).starts_with("rtsp");
}

/// Returns why a server refused the access; empty if `error` has another cause.
std::string access_problem(int error, const std::string& url) {
  if (error == AVERROR_HTTP_FORBIDDEN) return "the server refuses access";
  if (error != AVERROR_HTTP_UNAUTHORIZED) return {};
  const bool login = url.find('@') < url.find_first_of("/?#", url.find("://") + 3);
  return login ? "wrong user name or password" : "a user name and a password are needed";
}

/// Returns why the host was not found; empty if the failure has another cause. Reads FFmpeg's log, because
/// FFmpeg returns the same error code as for a lost connection.
std::string lookup_problem(const std::string& url) {
  const std::string logged = ff::log_hint();
  int error = 0;
  if (logged.find("Cannot open connection") != std::string::npos) {  // RTMP logs no reason: resolve again
    addrinfo* list = nullptr;
    error = getaddrinfo(host_of(url).c_str(), nullptr, nullptr, &list);
    if (error == 0) {
      freeaddrinfo(list);
      return {};
    }
  } else if (logged.find("resolve hostname") == std::string::npos &&
             logged.find("getaddrinfo") == std::string::npos) {
    return {};
  }
  const size_t host_end = url.find_first_of("/?#", url.find("://") + 3);
  if (host_end != std::string::npos && url.find('@', host_end) != std::string::npos)
    return "cannot find the host (check the address; in user names and passwords, write '/' as %2F, '?' as "
           "%3F "
           "and '#' as %23)";
  const std::string cause = error != 0 ? gai_strerror(error) : logged.substr(logged.rfind(": ") + 2);
  if (cause == gai_strerror(EAI_NONAME) || cause == gai_strerror(EAI_NODATA))
    return fmt::format("there is no host '{}' (check the address)", host_of(url));
  return fmt::format("cannot find the host '{}': {} (check the address and the network)", host_of(url),
                     cause);
}

}  // namespace

int Input::open_allowed(AVFormatContext* context, AVIOContext** io, const char* url, int flags,
                        AVDictionary** options) noexcept {
  auto& self = *static_cast<Input*>(context->opaque);
  if (!url || self.allowed_url_ != url) return deny_open(context, io, url, flags, options);
  int error = self.default_open_(context, io, url, flags, options);
  if (error < 0 || !self.finds_playlists_) return error;
  error = self.take_playlist(io);
  if (error >= 0 && self.progress_ && avio_size(*io) > 0) self.progress_->opens_file = true;
  return error;
}

void Input::set_probing(const LiveOptions& live) {
  context_->probesize = kProbeBytes;
  context_->max_analyze_duration = live.low_latency ? kAnalyzeLowLatencyUs : kAnalyzeUs;
  context_->fps_probe_size = kRateFrames;
  // Do not set AVFMT_FLAG_NOBUFFER: it would discard the probed packets and with them the first key frame.
  // The probed packets add no delay, because they are decoded at once and the pipeline takes the newest
  // picture.
}

void Input::open_network(const std::string& url, const LiveOptions& live, const HlsAccess::Request& request) {
  policy_.allow(host_of(url));
  progress_ = live.hls;
  finds_playlists_ = scheme_of(url).starts_with("http") && !live_demuxer(url, kind_, live);
  // FFmpeg accepts protocol names in lower case only.
  allowed_url_ = scheme_of(url) + url.substr(url.find("://"));
  if (const char* proxy = std::getenv("http_proxy")) policy_.allow(host_of(proxy));
  for (const auto& [key, value] : live.extra)
    if (key == "http_proxy") policy_.allow(host_of(value));
  LiveOptions first = live;
  const bool reopens = progress_ && progress_->reopens;
  if ((request.sound || reopens) && scheme_of(url).starts_with("http")) {
    // LiveReader repeats attempts to open a video. Nothing repeats those of its sound, and those of a seek.
    first.extra.emplace(first.extra.begin(), "reconnect_on_network_error", "1");
    first.extra.emplace(first.extra.begin(), "reconnect_on_http_error", kTemporaryHttpErrors);
  }
  open_live(allowed_url_, url, first);
  if (!playlist_.empty()) return open_hls(allowed_url_, live, request);
  refuse_redirection(url, context_->url ? context_->url : "");
  sized_ = scheme_of(url).starts_with("http") && context_->pb && avio_size(context_->pb) > 0;
  if (!sized_) read_transport_stream(live.low_latency);
}

/// Makes a context that may only open allowed_url_.
void Input::make_network_context(const LiveOptions& live) {
  make_context();
  set_probing(live);
  context_->opaque = this;
  default_open_ = context_->io_open;
  context_->io_open = open_allowed;
}

/// Watches the programs of a live transport stream. With `low_latency`, replaces FFmpeg's parser: its demuxer
/// and parser would each delay every picture until the next one arrives.
void Input::read_transport_stream(bool low_latency) {
  const bool stream = context_->pb && !(context_->pb->seekable & AVIO_SEEKABLE_NORMAL);
  if (!stream || std::string_view(context_->iformat->name) != "mpegts") return;
  context_->flags |= AVFMT_FLAG_CUSTOM_IO;
  transport_ = std::make_unique<TransportStreamIo>(std::exchange(context_->pb, nullptr), low_latency);
  context_->pb = transport_->context();
  bypasses_parser_ = low_latency;
  if (!low_latency) return;
  context_->flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN;
  // Do not search the first 50 packets for timestamps: with NOFILLIN, FFmpeg never fills them in.
  context_->max_ts_probe = 1;
}

void Input::open_camera(const std::string& url, const LiveOptions& live) {
  const std::string path = camera_path(url);
  auto device = live.camera_device ? live.camera_device(path) : std::make_unique<V4l2Device>(path);
  camera_ = std::make_unique<V4l2Capture>(std::move(device), path, where_,
                                          RequestedMode{live.format, live.size, live.rate}, live.extra,
                                          live.shared_controls, live.camera_monitor);
  describe_camera(camera_->format().codec, camera_->format().pixels, camera_->size(), camera_->rate());
}

void Input::open_pipewire(const std::string& url, const LiveOptions& live) {
  const PipewireCapture::Request request{live.size, live.rate, live.portal, live.camera_monitor,
                                         std::min(kStillRepeatNs, live.stall_ns * 2 / 3)};
  pipewire_ = std::make_unique<PipewireCapture>(url, where_, request, stop_, live.open_ns);
  // Once a picture has arrived, it is repeated. silence_ therefore limits only the wait for the first
  // picture.
  if (pipewire_->may_be_silent()) silence_.raise(live.open_ns);
  describe_camera(AV_CODEC_ID_RAWVIDEO, pipewire_->pixels(), pipewire_->size(), pipewire_->rate());
}

/// Makes a context that describes the pictures of a camera.
void Input::describe_camera(AVCodecID codec, AVPixelFormat pixels, Extent size, double rate) {
  context_.reset(ff::allocated(avformat_alloc_context()));
  AVStream& stream = *ff::allocated(avformat_new_stream(context_.get(), nullptr));
  stream.time_base = ff::kNanoseconds;
  if (rate > 0) stream.avg_frame_rate = stream.r_frame_rate = av_d2q(rate, 1'000'000);
  AVCodecParameters& parameters = *stream.codecpar;
  parameters.codec_type = AVMEDIA_TYPE_VIDEO;
  parameters.codec_id = codec;
  parameters.format = pixels;
  parameters.width = size.width, parameters.height = size.height;
}

/// Without a size, opens the area from the offset to the end of the screen. x11grab would use the size of the
/// whole screen for every offset.
void Input::open_screen(const std::string& url, const LiveOptions& live) {
  const std::string display = screen_display(url);
  const ScreenOffset offset = screen_offset(display);
  LiveOptions area = live;
  const auto is_size = [](const auto& option) { return option.first == "video_size"; };
  const bool has_size = live.size.width > 0 || std::ranges::any_of(live.extra, is_size);
  if (!has_size && (offset.x > 0 || offset.y > 0)) {
    open_live(offset.display, url, live);
    const AVCodecParameters& screen = *context_->streams[0]->codecpar;
    area.size = {screen.width - offset.x, screen.height - offset.y};
    if (area.size.width <= 0 || area.size.height <= 0)
      fail(fmt::format("the offset is outside the screen of {}x{}", screen.width, screen.height));
  }
  open_live(display, url, area);
}

/// Opens `demuxer_url`, the address that FFmpeg needs for `url`.
void Input::open_live(const std::string& demuxer_url, const std::string& url, const LiveOptions& live) {
  ff::Options options;
  bool verifies = false;
  const auto attempt = [&](const LiveOptions& settings) {
    kind_ == UrlKind::network ? make_network_context(settings) : make_context();
    options.clear();
    fill_live_options(options, url, kind_, settings);
    verifies = kind_ == UrlKind::network && set_tls_options(options, url, settings.tls);
    for (const auto& [key, value] : settings.extra) options.set(key.c_str(), value);
    return open_demuxer(demuxer_url, live_demuxer(url, kind_, settings), options);
  };
  LiveOptions pictures = live;
  pictures.audio = nullptr;
  const bool with_audio = live.audio && !live.audio->refused();
  const auto audio_refused = [&](int result) {
    const bool other_cause = deadline_.expired() || !policy_.refused_address().empty();
    return with_audio && may_refuse_audio(result, url) && !other_cause && lookup_problem(url).empty();
  };
  deadline_.set(live.open_ns);
  int error = attempt(with_audio ? live : pictures);
  if (audio_refused(error) && (error = attempt(pictures)) >= 0) {
    // Count the audio as refused only if a second request fails after a request without audio has worked.
    // Each of the two further attempts has half of the time, so that opening takes at most twice as long.
    deadline_.set(live.open_ns / 2);
    error = attempt(live);
    if (audio_refused(error)) live.audio->set_refused();
    deadline_.set(live.open_ns / 2);
    if (error < 0) error = attempt(pictures);
  }
  if (!playlist_.empty()) return;
  if (error < 0) {
    fail_if_interrupted();
    if (!policy_.refused_address().empty()) fail_redirected(policy_.refused_address());
    fail_if_endless();
    if (deadline_.expired()) fail("no answer before the open timeout");
    if (!playlist_problem_.empty()) fail(playlist_problem_);
    if (const std::string problem = lookup_problem(url); !problem.empty()) fail(problem);
    // FFmpeg returns the same code for a lost connection.
    if (error == AVERROR(EIO) && scheme_of(url).starts_with("http") &&
        policy_.connections() > kMaxRedirections)
      fail("it redirects too many times");
    if (verifies && certificate_refused())
      fail("its certificate cannot be verified (to accept it, set url and tls = \"any\" in [source])",
           ff::log_hint());
    if (const std::string problem = access_problem(error, url); !problem.empty())
      throw LoginRefused(ExitCode::bad_source, where_, problem);
    // FFmpeg returns the same code for invalid options.
    if (ff::log_hint().find("not on whitelist") != std::string::npos)
      fail(
          "this is a DASH playlist, or another format that lensd does not play from a network "
          "(use the address of the stream itself)");
    fail(describe(error, kind_), ff::log_hint());
  }
  if (verifies) remove_tls_options(options);
  if (const char* option = options.unused())
    throw Error(ExitCode::invalid_config, where_, fmt::format("this source has no option '{}'", option),
                "see options in [source]");
}

/// Throws Error if the source was redirected to another internal host name. ConnectPolicy checks only
/// addresses, so it allows other names of an allowed address.
void Input::refuse_redirection(const std::string& url, std::string final_url) const {
  uint8_t* location = nullptr;
  if (context_->pb && av_opt_get(context_->pb, "location", AV_OPT_SEARCH_CHILDREN, &location) >= 0 &&
      location) {
    if (*location) final_url = reinterpret_cast<const char*>(location);
    av_free(location);
  }
  const std::string asked = host_of(url), got = host_of(final_url);
  if (got.empty() || got == asked || !is_internal_host(got)) return;
  fail_redirected(got);
}

void Input::fail_redirected(const std::string& address) const {
  fail(fmt::format("it redirects to the internal address {}", address),
       "if that is intended, use that address directly");
}

/// Returns true for a file on an HTTP server. A stream has neither a size nor a duration, but FLV relays send
/// the duration of a file that a publisher plays to them. An image without a size is a file until a second
/// one follows it.
bool Input::on_demand() const noexcept {
  if (hls_) return hls_->on_demand();
  if (kind_ != UrlKind::network || !context_ || !context_->pb) return false;
  const std::string_view format = context_->iformat->name;
  if (format == "mpjpeg" || format == "mjpeg" || image_stream_) return false;
  const bool relayed = format == "flv" && !server_seeks();
  return image_container() || sized_ || (context_->duration > 0 && !relayed);
}

/// Returns false if the server can send a file only from its start.
bool Input::server_seeks() const noexcept {
  return hls_ || (context_->pb->seekable & AVIO_SEEKABLE_NORMAL);
}

template <class Read>
int Input::read_camera(const Read& read) noexcept {
  deadline_.set(silence_ns());
  for (;;) {
    if (stop_.raised()) return AVERROR_EXIT;
    const int error = read();
    if (error != AVERROR(EAGAIN)) return error;
    if (deadline_.expired()) return AVERROR(ETIMEDOUT);
  }
}

int Input::read_camera_packet(AVPacket& packet) noexcept {
  return read_camera([&] { return camera_->read(packet); });
}

int Input::read(AVFrame& frame, PictureAllocator& allocator) noexcept {
  return read_camera(
      [&] { return pipewire_ ? pipewire_->read(frame, allocator) : camera_->read(frame, allocator); });
}

/// Passes the audio of this connection to audio_. A track that the stream does not have is no error.
void Input::connect_audio() {
  int number = 0;
  audio_stream_ = find_stream(StreamKind::audio, audio_->track(), number);
  if (audio_stream_) audio_stream_->discard = AVDISCARD_DEFAULT;
  streams_seen_ = context_->nb_streams;
  const AVStream* s = audio_stream_;
  if (s) audio_config_.connected(*s->codecpar);
  audio_->connected(s ? s->codecpar : nullptr, s ? s->time_base : AVRational{1, 1}, bypasses_parser_);
}

void Input::watch_programs() noexcept {
  // Do not call watch() after a change: it would clear the change before the reader has called changed().
  if (transport_ && !transport_->programs().changed())
    transport_->programs().watch(stream_->id, audio_stream_ ? audio_stream_->id : -1);
}

/// Like connect_audio(). Returns false if out of memory.
bool Input::try_connect_audio() noexcept {
  try {
    connect_audio();
    watch_programs();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Takes a packet that does not belong to stream_.
void Input::take_audio(AVPacket& packet) noexcept {
  if (!audio_stream_) return;
  if (packet.stream_index == audio_stream_->index) {
    if (audio_config_.put(packet) && !changed()) audio_->put(packet);
    if (audio_config_.adts_changed() && now_ns() - audio_announced_ns_ > kAnnouncementsNs) announce_audio();
  } else if (static_cast<unsigned>(packet.stream_index) >= streams_seen_) {
    const AVCodecParameters& codec = *context_->streams[packet.stream_index]->codecpar;
    const bool flv = std::string_view(context_->iformat->name) == "flv";
    another_publisher_ = another_publisher_ || (flv && codec.codec_type == AVMEDIA_TYPE_AUDIO);
  }
}

/// Announces the new rate and channels of the audio, as if the source had connected again.
void Input::announce_audio() noexcept {
  try {
    const LiveAudio::Connection last = audio_->connection();
    if (!last.codec) return;
    audio_config_.set_new_format(*last.codec);
    audio_->connected(last.codec.get(), last.time_base, last.unparsed);
    audio_config_.connected(*last.codec);
    audio_announced_ns_ = now_ns();
  } catch (const std::exception&) {
    // out of memory: the next packet tries again
  }
}

}  // namespace lensd
