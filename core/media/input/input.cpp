#include "core/media/input/input.hpp"

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "core/base/log.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/base/unique_fd.hpp"
#include "core/image/view.hpp"
#include "core/media/input/input_checks.hpp"

namespace lensd {
namespace {

/// Refused demuxers: their input may name other files, or they accept any text.
constexpr std::array<std::string_view, 11> kRefusedDemuxers = {
    "hls", "concat", "dash", "imf", "sdp", "rtsp", "tty", "ass", "ffmetadata", "lavfi", "webm_dash_manifest"};
/// lavfi sources that open files or load plugins.
constexpr std::array<std::string_view, 5> kRefusedFilters = {"movie", "amovie", "frei0r_src", "openclsrc",
                                                             "ladspa"};

constexpr int kMaxRetries = 1000;  // after EAGAIN, per packet

/// Limits of the data that a server may send until the next packet is complete. Live streams:
/// kStreamPacketBytes plus kPixelBytes per pixel of the picture. Files, and opening any source: kFileBytes.
constexpr int64_t kStreamPacketBytes = 64 << 20, kFileBytes = 512 << 20;
constexpr int64_t kPixelBytes = 8;
/// Time that read() waits for a file on a server; playback continues when data arrives.
constexpr int64_t kFileSilenceNs = 60'000'000'000;

bool is_listed(const auto& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

}  // namespace

Input::Input(const std::string& url, StreamKind kind, const StopFlags& stop, const LiveOptions& live,
             int track, bool or_best)
    : where_(display_url(url)), kind_(classify(url)), stop_(stop), deadline_(&stop) {
  ff::initialize();
  ff::forget_log();
  const ConnectPolicy::Scope scope(policy_);
  ff::take_cut_logged();
  if (is_live(kind_)) {
    policy_.limit_received(kFileBytes);
    deadline_.set(live.open_ns);
    silence_ = SilenceLimit(url, live);
  }
  switch (kind_) {
    case UrlKind::path:
    case UrlKind::standard_input:
      open_file(url);
      break;
    case UrlKind::sequence:
      open_sequence(url);
      break;
    case UrlKind::generated:
      open_generated(url);
      break;
    case UrlKind::network:
      open_network(url, live, {.sound = kind == StreamKind::audio, .track = track, .or_best = or_best});
      break;
    case UrlKind::camera:
      open_camera(url, live);
      break;
    case UrlKind::pipewire:
      open_pipewire(url, live);
      break;
    case UrlKind::screen:
      open_screen(url, live);
      break;
    case UrlKind::other:
      if (scheme_of(url) == "file") fail("the file is on another host", "use its path on this host");
      fail("unknown kind of source",
           "use a file, img_%04d.png, -, test:NAME, rtsp:// http:// https:// udp:// srt:// rtmp://, "
           "/dev/videoN, pipewire:, portal: or screen:");
  }
  check_sizes();  // before anything is decoded
  if (context_->pb && std::string_view(context_->iformat->name) == "png_pipe")
    if (const std::string problem = png_problem(*context_->pb); !problem.empty()) fail(problem);
  // Devices describe their stream when they are opened.
  const bool device = kind_ == UrlKind::camera || kind_ == UrlKind::pipewire || kind_ == UrlKind::screen;
  if (invents_times()) {
    // FFmpeg makes up the timestamps, so do not probe further packets for the frame rate.
    context_->fps_probe_size = 0;
    if (this->live() && scheme_of(url).starts_with("http")) silence_.allow_slow();
  }
  const int error = device ? 0 : find_stream_info(*context_);
  fail_if_endless();
  if (error < 0 && deadline_.expired()) fail("no picture before the open timeout");
  fail_hls();
  if (error < 0) fail("cannot read its streams: " + ff::error_text(error), ff::log_hint());
  pick_stream(kind, track, or_best);
  check_sizes();
  if (is_live(kind_) && on_demand() && !image_container() && !live.silence_given)
    silence_.raise(kFileSilenceNs);
  if (io_ && io_->regular()) find_parts();
  if (live.audio && this->live()) {
    audio_ = live.audio;
    connect_audio();
  }
  cut_ = ff::take_cut_logged();
  watch_programs();
  if (bypasses_parser_) parser_ = std::make_unique<LowDelayParser>(*stream_->codecpar);
  start_reading();
}

Input::~Input() {
  if (!read_ahead_) return;
  deadline_.set_final(0);  // interrupts the thread, which this object waits for
  read_ahead_.reset();
  hls_->store_progress(codec_changed_);
}

void Input::make_context() {
  context_.reset(ff::allocated(avformat_alloc_context()));
  context_->interrupt_callback = deadline_.callback();
}

int Input::open_demuxer(const std::string& url, const AVInputFormat* format, ff::Options& options) {
  AVFormatContext* context = context_.release();  // FFmpeg frees it on failure
  const int error = avformat_open_input(&context, url.c_str(), format, options.get());
  context_.reset(context);
  return error;
}

void Input::fail(const std::string& what, const std::string& hint) const {
  throw Error(ExitCode::bad_source, where_, what, hint);
}

void Input::fail_if_interrupted() const {
  if (stop_.raised()) fail("opening was interrupted");
}

/// Throws Error if a server has sent more than a picture can need.
void Input::fail_if_endless() const {
  if (policy_.received_too_much()) fail("the server sends too much data for one picture");
}

int Input::deny_open(AVFormatContext*, AVIOContext**, const char* url, int, AVDictionary**) noexcept {
  log::warn("a source tried to open '{}', which is not allowed", url_without_secrets(url ? url : ""));
  return AVERROR(EPERM);
}

/// Opens an image of a sequence, unless it is no regular file or png_problem() refuses it.
int Input::open_image(AVFormatContext* context, AVIOContext** io, const char* url, int flags,
                      AVDictionary** options) noexcept {
  const auto& self = *static_cast<const Input*>(context->opaque);
  // FFmpeg would wait for the writer of a FIFO, and cannot be interrupted there.
  const UniqueFd image(open(url, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status = {};
  if (!image || fstat(image.get(), &status) != 0) return AVERROR(errno);
  if (!S_ISREG(status.st_mode)) return AVERROR(EINVAL);
  char name[32];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", image.get());
  const int error = self.default_open_(context, io, name, flags, options);
  if (error < 0 || png_problem(**io).empty()) return error;
  avio_closep(io);
  return AVERROR_INVALIDDATA;
}

void Input::open_file(const std::string& url) {
  io_ = std::make_unique<FileIo>(url, stop_);
  const AVInputFormat* format = nullptr;
  const char* name = url == "-" ? "" : url.c_str();
  int score = av_probe_input_buffer2(io_->context(), &format, name, nullptr, 0, 0);
  // FFmpeg selects image2 by the extension, and image2 would open the file itself. Probe only the content.
  if (score >= 0 && format && std::string_view(format->name) == "image2") {
    format = nullptr;
    score = av_probe_input_buffer2(io_->context(), &format, "", nullptr, 0, 0);
  }
  fail_if_interrupted();
  // TGA files have no signature to probe.
  const bool tga = !format && lower_case(url).ends_with(".tga") && is_tga(*io_->context());
  if (tga) format = av_find_input_format("image2pipe");
  if (!format || (score < 0 && !tga))
    fail("this is not a video or image that FFmpeg can read", ff::log_hint());
  if (is_listed(kRefusedDemuxers, format->name))
    fail(fmt::format("this is not a video or image but {}", format->long_name),
         "playlists and text are refused: name the media file itself");
  const auto open = [&](int flags) {
    make_context();
    context_->pb = io_->context();
    context_->io_open = deny_open;
    context_->flags |= flags;
    ff::Options options;
    options.set("protocol_whitelist", "none");
    if (tga) {
      context_->video_codec_id = AV_CODEC_ID_TARGA;
      options.set("frame_size", std::to_string(avio_size(context_->pb)));
    }
    open_local(where_, format, options);
  };
  try {
    open(0);
  } catch (const Error&) {
    // FFmpeg reads all fragments of an .mp4 when it opens it, and fails if a header is incomplete. With
    // AVFMT_FLAG_IGNIDX it starts with the first fragment instead.
    const bool fragments = std::string_view(format->name).find("mp4") != std::string_view::npos;
    if (!fragments || stop_.raised() || !io_->regular() || avio_seek(io_->context(), 0, SEEK_SET) < 0) throw;
    io_->context()->error = 0, io_->context()->eof_reached = 0;
    open(AVFMT_FLAG_IGNIDX);
  }
}

void Input::open_sequence(const std::string& url) {
  make_context();
  context_->opaque = this;
  default_open_ = context_->io_open;
  context_->io_open = open_image;
  ff::Options options;
  options.set("protocol_whitelist", "file");
  options.set("pattern_type", "sequence");
  options.set("start_number", "0");
  options.set("start_number_range", "10000");
  open_local(url, av_find_input_format("image2"), options);
}

void Input::open_generated(const std::string& url) {
  std::string graph = url.substr(std::string_view("test:").size());
  if (graph.empty()) graph = "testsrc2=size=1280x720:rate=30";
  if (graph.find_first_of(",;[]") != std::string::npos)
    fail("only one source with its options is allowed, not a filter graph",
         "write options after '=', separated by ':'");
  const std::string name = graph.substr(0, graph.find('='));
  const AVFilter* filter = avfilter_get_by_name(name.c_str());
  const bool generator = filter && avfilter_filter_pad_count(filter, 0) == 0 &&
                         avfilter_filter_pad_count(filter, 1) > 0 &&
                         avfilter_pad_get_type(filter->outputs, 0) == AVMEDIA_TYPE_VIDEO;
  if (!generator || is_listed(kRefusedFilters, name))
    fail(fmt::format("'{}' is not a generated video", name),
         "try test:testsrc2, test:mandelbrot or test:smptehdbars");
  if (reads_file(*filter, graph.substr(std::min(graph.size(), name.size() + 1))))
    fail("a generated video may not read files", "write options as key=value, without quotes");
  make_context();
  ff::Options options;
  open_local(graph, av_find_input_format("lavfi"), options);
}

void Input::open_local(const std::string& url, const AVInputFormat* format, ff::Options& options) {
  const int error = open_demuxer(url, format, options);
  if (error >= 0) return;
  if (kind_ == UrlKind::sequence && error == AVERROR(ENOENT))
    fail("there is no image of this sequence", "the first number must be 0 to 9999");
  const std::string what = error == AVERROR_INVALIDDATA ? "this is not a video or image that FFmpeg can read"
                                                        : "cannot be opened: " + ff::error_text(error);
  fail(what, ff::log_hint());
}

/// Returns stream number `track` of `kind`, see the constructor; null: there is none. Sets `number` to the
/// number of streams of this kind.
AVStream* Input::find_stream(StreamKind kind, int track, int& number) const {
  // A playlist that was chosen by number has only one stream of this kind.
  if (hls_ && (kind == StreamKind::video ? hls_->variant() > 0 : hls_->separate_audio())) track = 0;
  AVStream* best = nullptr;
  number = 0;
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    AVStream& s = *context_->streams[i];
    const AVMediaType type = kind == StreamKind::video ? AVMEDIA_TYPE_VIDEO : AVMEDIA_TYPE_AUDIO;
    if (s.codecpar->codec_type != type || is_cover(s)) continue;
    if (++number, track > 0) {
      if (number == track) best = &s;
      continue;
    }
    const bool preferred =
        !best || ((s.disposition & AV_DISPOSITION_DEFAULT) && !(best->disposition & AV_DISPOSITION_DEFAULT));
    if (preferred) best = &s;
  }
  return best;
}

void Input::pick_stream(StreamKind kind, int track, bool or_best) {
  const bool video = kind == StreamKind::video;
  const char* const name = video ? "video" : "audio";
  for (unsigned i = 0; i < context_->nb_streams; ++i) context_->streams[i]->discard = AVDISCARD_ALL;
  int number = 0;
  stream_ = find_stream(kind, track, number);
  if (!stream_ && or_best) stream_ = find_stream(kind, 0, number);
  if (video && number == 0 && !live() && has_audio()) stream_ = find_cover(*context_);
  if (!stream_ && number > 0)
    fail(fmt::format("it has no {} track {}, the last one is {}", name, track, number));
  if (!stream_)
    fail(fmt::format("it has no {} stream", name),
         video && has_audio() ? "it has audio only" : ff::log_hint());
  stream_->discard = AVDISCARD_DEFAULT;
}

void Input::find_parts() {
  int number = 0;
  if (AVStream* video = find_stream(StreamKind::video, 0, number))
    parts_ = JoinedParts::find(*context_, *video, stop_);
}

void Input::check_sizes() const {
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    const AVCodecParameters& p = *context_->streams[i]->codecpar;
    if (p.codec_type == AVMEDIA_TYPE_VIDEO && (p.width > kMaxSide || p.height > kMaxSide))
      fail(fmt::format("a picture of {}×{} is too large, the limit is {}×{}", p.width, p.height, kMaxSide,
                       kMaxSide));
  }
}

bool Input::image_container() const noexcept {
  return !camera_ && !pipewire_ && holds_images(*context_);
}

bool Input::seeks_by_time() const noexcept {
  if (kind_ == UrlKind::sequence) return true;
  return ((on_demand() && server_seeks()) || (io_ && io_->regular())) && !image_container() &&
         !is_cover(*stream_) && !(context_->iformat->flags & AVFMT_NOTIMESTAMPS);
}

bool Input::has_audio() const noexcept {
  if (hls_ && hls_->separate_audio()) return true;
  for (unsigned i = 0; i < context_->nb_streams; ++i)
    if (context_->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) return true;
  return false;
}

int Input::read(AVPacket& packet) noexcept {
  if (!parser_) return read_packet(packet);
  if (parser_->next(packet)) return 0;
  if (const int error = read_packet(packet); error < 0) return error;
  parser_->put(packet);
  return parser_->next(packet) ? 0 : AVERROR(EAGAIN);
}

int Input::seek(int64_t ticks) noexcept {
  const ConnectPolicy::Scope scope(policy_);
  policy_.limit_received(INT64_MAX);                  // FFmpeg may read up to the position
  if (silence_ns() > 0) deadline_.set(silence_ns());  // the old deadline may have passed in a pause
  if (!parts_) return av_seek_frame(context_.get(), stream_->index, ticks, AVSEEK_FLAG_BACKWARD);
  return av_seek_frame(context_.get(), stream_->index, parts_->move(*context_->pb, ticks), AVSEEK_FLAG_BYTE);
}

/// Returns the maximum number of bytes that a server may send until the next packet.
int64_t Input::most_packet_bytes() const noexcept {
  if (!live() && !image_container()) return kFileBytes;
  const AVCodecParameters& video = *stream_->codecpar;
  return kStreamPacketBytes + kPixelBytes * std::max(video.width, 0) * std::max(video.height, 0);
}

int Input::read_packet(AVPacket& packet) noexcept {
  if (camera_) return read_camera_packet(packet);
  if (read_ahead_) {
    for (;;) {
      const int error = read_ahead_->next(packet);
      if (error < 0 || packet.stream_index == stream_->index) return error;
      take_audio(packet);
    }
  }
  const ConnectPolicy::Scope scope(policy_);
  const bool limited = silence_ns() > 0;
  if (limited) deadline_.set(silence_ns());
  for (int retries = 0;;) {
    av_packet_unref(&packet);
    if (stop_.raised()) return AVERROR_EXIT;
    policy_.limit_received(most_packet_bytes());
    const int error = av_read_frame(context_.get(), &packet);
    cut_ = ff::take_cut_logged() || cut_;
    if (error < 0 && stop_.raised()) return AVERROR_EXIT;
    if (policy_.received_too_much()) return AVERROR(EMSGSIZE);
    // After the deadline FFmpeg still returns the packet that its parser kept, then AVERROR_EXIT as the end
    // of the input. In both cases the source has sent nothing.
    if (deadline_.expired() || (error == AVERROR_EXIT && limited)) return AVERROR(ETIMEDOUT);
    // Limit retries if there is no deadline: a generated source that is out of memory always returns EAGAIN.
    if (error == AVERROR(EAGAIN) && (limited || ++retries < kMaxRetries)) continue;
    // A sender may add its audio after the first pictures (RTMP).
    if (audio_ && !audio_stream_ && context_->nb_streams > streams_seen_ && !try_connect_audio())
      return AVERROR(ENOMEM);
    if (error >= 0 && packet.stream_index != stream_->index) {
      take_audio(packet);
      continue;
    }
    if (error == AVERROR_EOF && hls_ && !hls_->reason().empty()) return AVERROR(EIO);  // segments are missing
    if (error >= 0 && parts_) parts_->place(packet);
    const int64_t time = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
    if (error >= 0 && invents_times())
      silence_.packet(now_ns());
    else if (error >= 0 && time != AV_NOPTS_VALUE)
      silence_.packet(ff::to_ns(time, stream_->time_base));
    return error;
  }
}

}  // namespace lensd
