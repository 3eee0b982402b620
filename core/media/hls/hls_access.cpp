#include "core/media/hls/hls_access.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/media/live/live_options.hpp"
#include "core/media/live/tls_options.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

constexpr int kTextBuffer = 4096, kTextPart = 32 * 1024;
constexpr size_t kMaxHosts = 64;
/// Wait before an address is retried after a temporary failure.
constexpr int64_t kHlsRetryNs = 300'000'000;
/// FFmpeg's HTTP client returns this if the server ignores the offset of a request.
constexpr int kOffsetIgnored = -1;
constexpr auto kRetryStep = std::chrono::milliseconds(20);
constexpr const char* kIfIntended = "if that is intended, use a playlist of that host";
constexpr std::string_view kCrypto = "crypto+";
/// Options of FFmpeg's demuxer that are passed on: the byte range of a segment, and the decryption key.
constexpr const char* kPassedOn[] = {"offset", "end_offset", "seekable", "key", "iv"};
/// Options of the user that apply to every host. Other options may be secrets, such as headers and cookies.
constexpr const char* kForAllHosts[] = {"user_agent", "http_proxy", "tls_verify", "ca_file"};

/// Returns "scheme://host:port" of an address without its login.
std::string origin_of(const std::string& address) {
  const size_t host = address.find("://") + 3;
  std::string authority = address.substr(host, address.find_first_of("/?#", host) - host);
  if (const size_t login = authority.rfind('@'); login != std::string::npos) authority.erase(0, login + 1);
  return address.substr(0, host) + authority;
}

std::string id_of(const std::string& address, int64_t offset) {
  return fmt::format("{}@{}", address, offset);
}

int64_t number_in(const AVDictionary* options, const char* key) {
  const AVDictionaryEntry* entry = av_dict_get(options, key, nullptr, 0);
  return entry ? std::atoll(entry->value) : 0;
}

/// Returns why a request has failed.
std::string text_of(int error) {
  if (error == AVERROR_EXIT || error == AVERROR(ETIMEDOUT)) return "no answer";
  return error == AVERROR_EOF ? "the server closed the connection" : ff::error_text(error);
}

/// Returns the address of a connection after redirections; empty if it is not known.
std::string location_of(AVIOContext& io) {
  uint8_t* location = nullptr;
  std::string out;
  if (av_opt_get(&io, "location", AV_OPT_SEARCH_CHILDREN, &location) >= 0 && location)
    out = reinterpret_cast<const char*>(location);
  av_free(location);
  return out;
}

}  // namespace

/// A text that FFmpeg reads like a file.
struct HlsAccess::Text {
  explicit Text(std::string content)
      : text(std::move(content)), io(ff::make_io(kTextBuffer, this, read, nullptr, nullptr)) {}
  static int read(void* self, uint8_t* buffer, int size) noexcept {
    auto& from = *static_cast<Text*>(self);
    const size_t bytes = std::min(static_cast<size_t>(size), from.text.size() - from.at);
    if (bytes == 0) return AVERROR_EOF;
    std::copy_n(from.text.data() + from.at, bytes, buffer);
    from.at += bytes;
    return static_cast<int>(bytes);
  }

  const std::string text;
  size_t at = 0;
  ff::IoPtr io;
};

HlsAccess::HlsAccess(std::string url, const LiveOptions& live, Open function, IoDeadline& deadline,
                     ConnectPolicy& policy)
    : url_(std::move(url)),
      host_(host_of(url_)),
      live_(live),
      open_(function),
      deadline_(deadline),
      policy_(policy),
      progress_(live.hls) {}

HlsAccess::~HlsAccess() = default;

void HlsAccess::fail(const std::string& what) const {
  throw Error(ExitCode::bad_source, display_url(url_), what);
}

void HlsAccess::begin(AVFormatContext& context, const std::string& text, const std::string& address,
                      const Request& request) {
  keeps_trying_ = request.sound || (progress_ && progress_->reopens);
  hls::Playlist first = hls::parse(text, address);
  Role& main = roles_[0];
  main.address = address;
  if (first.master) {
    variants_ = hls::describe_variants(first);
    const int count = static_cast<int>(variants_.size());
    if (!request.sound && request.track > count && count > 0 && !request.or_best)
      fail(fmt::format("it has no video track {}, the last one is {}", request.track, count));
    choice_ = request.sound ? hls::choose_audio(first, request.track)
                            : hls::choose_video(first, request.track, request.audio_track);
    main.address = choice_.video;
    load(context, main);
  } else {
    main.listed = std::move(first), main.loaded = true;
  }
  if (main.listed.master) fail("its HLS playlist lists a master playlist as a variant");
  if (main.listed.segments.empty()) fail("its HLS playlist lists no segments");
  on_demand_ = main.listed.finished;
  target_ns_ = main.listed.target_s * 1'000'000'000;
  if (progress_ && progress_->live && on_demand_) fail("the stream has ended");
  if (progress_ && on_demand_) progress_->opens_file = true;
  if (progress_ && !on_demand_) progress_->live = true;
  if (on_demand_ || !request.with_audio) choice_.audio.clear();
  roles_[1].address = choice_.audio;
  master_ = keep(hls::master_text({main.address, choice_.audio, false, 0}));
}

std::string HlsAccess::reason() const {
  return problem_.empty() && !failure_.empty() ? "cannot load its HLS stream: " + failure_ : problem_;
}

AVIOContext* HlsAccess::master() const noexcept {
  return master_;
}

AVIOContext* HlsAccess::keep(std::string text) {
  auto one = std::make_unique<Text>(std::move(text));
  AVIOContext* const io = one->io.get();
  texts_.emplace(io, std::move(one));
  return io;
}

int HlsAccess::close(AVIOContext* io) noexcept {
  if (texts_.erase(io) > 0) return 0;
  return avio_close(io);
}

int HlsAccess::open(AVFormatContext* context, AVIOContext** io, const char* url, int,
                    AVDictionary** options) noexcept {
  try {
    if (!problem_.empty()) return AVERROR(EPERM);
    for (Role& role : roles_)
      if (!role.address.empty() && role.address == url) return give(*context, io, role);
    return open_media(*context, io, url, options ? *options : nullptr);
  } catch (const Error& error) {
    problem_ = error.problem();
    return AVERROR(EPERM);
  } catch (const std::exception&) {
    return AVERROR(ENOMEM);
  }
}

/// Passes a playlist to FFmpeg, for the first time or when FFmpeg loads it again.
int HlsAccess::give(AVFormatContext& context, AVIOContext** io, Role& role) {
  if (!std::exchange(role.loaded, false)) {
    const int64_t sequence = role.listed.sequence;
    load(context, role);
    role.loaded = false;
    // The sequence numbers went back. FFmpeg would wait until they reach the number of its next segment.
    if (role.given && role.listed.end() <= sequence && role.listed.sequence < sequence)
      fail("the server has restarted the stream");
  }
  const bool first = !std::exchange(role.given, true);
  const size_t skip = first ? played(role) : 0;
  if (first && &role == roles_.data()) single_segment_ = role.listed.segments.size() - skip == 1;
  *io = keep(hls::media_text(role.listed, skip, role.map));
  return 0;
}

/// Returns how many segments at the beginning of a live playlist have been played by an earlier connection.
size_t HlsAccess::played(const Role& role) const {
  if (!progress_ || role.listed.finished) return 0;
  const std::string& last = progress_->last[static_cast<size_t>(&role - roles_.data())];
  const auto& segments = role.listed.segments;
  for (size_t i = segments.size(); i-- > 0 && !last.empty();) {
    if (id_of(segments[i].address, segments[i].range.offset) != last) continue;
    if (i + 1 == segments.size()) fail("its HLS playlist lists no new segments");
    return i + 1;
  }
  return 0;
}

/// Loads a media playlist.
void HlsAccess::load(AVFormatContext& context, Role& role) {
  std::string text, address;
  int error = 0;
  do {
    Connection connection;
    error = connect(context, &connection.io, role.address, nullptr);
    if (error >= 0) {
      text.clear(), address = role.address;
      error = read_text(*connection.io, text, address);
      if (error < 0) failure_ = text_of(error);
    }
  } while (error < 0 && may_retry(error) && wait_for_retry());
  if (error < 0) fail("cannot load its HLS playlist: " + failure_);
  role.listed = hls::parse(text, address);
  role.loaded = true;
}

int HlsAccess::read_text(AVIOContext& io, std::string& text, std::string& address) {
  if (const std::string location = location_of(io); !location.empty()) address = location;
  std::vector<unsigned char> part(kTextPart);
  for (;;) {
    const int bytes = avio_read(&io, part.data(), static_cast<int>(part.size()));
    if (bytes == AVERROR_EOF) return 0;
    if (bytes < 0) return bytes;
    text.append(reinterpret_cast<const char*>(part.data()), static_cast<size_t>(bytes));
    if (text.size() > hls::kMaxPlaylistBytes)
      throw Error(ExitCode::bad_source, "",
                  fmt::format("its HLS playlist is larger than {} MiB", hls::kMaxPlaylistBytes >> 20));
  }
}

int HlsAccess::open_media(AVFormatContext& context, AVIOContext** io, const std::string& url,
                          AVDictionary* given) {
  const std::string address = url.starts_with(kCrypto) ? url.substr(kCrypto.size()) : url;
  const int error = connect(context, io, url, given);
  if (error < 0) {
    // Without the key, FFmpeg would decrypt with a wrong one.
    if (is_key(address)) fail("cannot load the key of its HLS playlist: " + failure_);
    return error;
  }
  opened(address, number_in(given, "offset"));
  return 0;
}

/// Opens a connection to `url`, which may begin with kCrypto. Sets failure_.
int HlsAccess::connect(AVFormatContext& context, AVIOContext** io, const std::string& url,
                       AVDictionary* given) {
  const std::string address = url.starts_with(kCrypto) ? url.substr(kCrypto.size()) : url;
  const std::string scheme = address.substr(0, std::min(address.find(':'), address.size()));
  if (scheme != "http" && scheme != "https") {
    log::warn("an HLS playlist tried to open '{}', which is not allowed", url_without_secrets(address));
    fail("its HLS playlist lists an address that is not allowed");
  }
  check_host(address);
  int error = 0;
  do {
    ff::Options options;
    set_options(options, address, given);
    ff::forget_log();
    error = open_(&context, io, url.c_str(), AVIO_FLAG_READ, options.get());
    busy_ = ff::take_busy_logged();
    if (error >= 0) break;
    if (!policy_.refused_address().empty())
      fail(fmt::format("its HLS playlist leads to the internal address {} ({})", policy_.refused_address(),
                       kIfIntended));
    if (certificate_refused())
      fail(
          fmt::format("the certificate of '{}' in its HLS playlist cannot be verified (to accept it, set url "
                      "and tls = \"any\" in [source])",
                      host_of(address)));
    if (error == kOffsetIgnored && number_in(given, "offset") > 0)
      fail("its HLS playlist uses byte ranges, which the server ignores");
    failure_ = text_of(error);
  } while (may_retry(error) && wait_for_retry());
  if (error < 0) return error;
  failure_.clear();
  try {
    if (const std::string location = location_of(**io); !location.empty()) check_host(location);
  } catch (...) {
    avio_closep(io);
    throw;
  }
  return 0;
}

/// Remembers the segment that FFmpeg has opened.
void HlsAccess::opened(const std::string& address, int64_t offset) {
  for (size_t i = 0; i < roles_.size() && !on_demand_; ++i) {
    Role& role = roles_[i];
    for (const hls::Segment& segment : role.listed.segments) {
      if (segment.address != address || segment.range.offset != offset) continue;
      role.map = role.listed.maps[segment.map];
      role.before = std::exchange(role.last, id_of(address, offset));
      return;
    }
  }
}

void HlsAccess::store_progress(bool with_last) noexcept {
  for (size_t i = 0; progress_ && i < roles_.size(); ++i)
    if (std::string& id = with_last ? roles_[i].before : roles_[i].last; !id.empty())
      progress_->last[i] = std::move(id);
}

void HlsAccess::set_options(ff::Options& options, const std::string& address,
                            const AVDictionary* given) const {
  for (const char* key : kPassedOn)
    if (const AVDictionaryEntry* entry = av_dict_get(given, key, nullptr, 0)) options.set(key, entry->value);
  // A server may close the connection of a segment that is read slowly or after a pause.
  options.set("reconnect", "1");
  set_tls_options(options, address, live_.tls);
  const bool own = origin_of(address) == origin_of(url_);
  for (const auto& [key, value] : live_.extra)
    if (own || std::ranges::find(kForAllHosts, std::string_view(key)) != std::end(kForAllHosts))
      options.set(key.c_str(), value);
}

/// Throws Error if the host is internal and not the one that the user named. ConnectPolicy checks only
/// addresses, so it would allow another name of an allowed address.
void HlsAccess::check_host(const std::string& address) {
  const std::string host = host_of(address);
  if (host == host_ || hosts_.contains(host)) return;
  if (is_internal_host(host))
    fail(fmt::format("its HLS playlist leads to '{}', which is an internal or unknown host ({})", host,
                     kIfIntended));
  if (hosts_.size() >= kMaxHosts) hosts_.clear();
  hosts_.insert(host);
}

/// Returns true if the attempt should be retried here: not after a refusal, and not while a video opens,
/// because LiveReader then retries. A server that is busy has not refused for good; FFmpeg before 6.1 returns
/// AVERROR_HTTP_OTHER_4XX for it.
bool HlsAccess::may_retry(int error) const noexcept {
  constexpr int kFinal[] = {
      AVERROR_HTTP_BAD_REQUEST,  AVERROR_HTTP_UNAUTHORIZED, AVERROR_HTTP_FORBIDDEN, AVERROR_HTTP_NOT_FOUND,
      AVERROR_HTTP_OTHER_4XX,    AVERROR(ENOMEM),           AVERROR(EACCES),        AVERROR_EXIT,
      AVERROR_PROTOCOL_NOT_FOUND};
  return keeps_trying_ && (busy_ || std::ranges::find(kFinal, error) == std::end(kFinal));
}

/// Waits before another attempt. Returns false if the input was stopped or its deadline has passed.
bool HlsAccess::wait_for_retry() noexcept {
  const AVIOInterruptCB interrupt = deadline_.callback();
  for (const int64_t until = now_ns() + kHlsRetryNs; now_ns() < until;
       std::this_thread::sleep_for(kRetryStep))
    if (interrupt.callback(interrupt.opaque)) return false;
  return true;
}

bool HlsAccess::is_key(const std::string& address) const {
  return std::ranges::any_of(roles_, [&](const Role& role) {
    return std::ranges::any_of(role.listed.keys, [&](const hls::Key& key) { return key.address == address; });
  });
}

}  // namespace lensd
