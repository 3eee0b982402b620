#include "core/media/hls/playlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"

namespace lensd::hls {
namespace {

constexpr double kShortestS = 0.001, kLongestS = 86'400;
constexpr int64_t kLongestTargetS = 3600;
constexpr int64_t kMaxSequence = INT64_MAX / 4, kMaxRangeBytes = int64_t{1} << 46;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ExitCode::bad_source, {}, "its HLS playlist " + what);
}

/// Removes `prefix` from the start of `text`. Returns false if it is not there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<int64_t> number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || end == text.data()) return std::nullopt;
  return value;
}

/// Returns the value of an attribute in "NAME=VALUE,NAME="VALUE",…", without quotes; empty if there is none.
std::string_view attribute(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t equals = list.find('=');
    if (equals == std::string_view::npos) return {};
    std::string_view key = list.substr(0, equals);
    key.remove_prefix(std::min(key.find_first_not_of(' '), key.size()));
    list.remove_prefix(equals + 1);
    const bool quoted = list.starts_with('"');
    if (quoted) list.remove_prefix(1);
    const size_t end = std::min(list.find(quoted ? '"' : ','), list.size());
    const std::string_view value = list.substr(0, end);
    if (key == name) return value;
    const size_t comma = list.find(',', end);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return {};
}

/// Returns a path without "." and ".." segments.
std::string without_dots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(end);
    const bool last = path.empty();
    if (part == "/.." || part == "/.") {
      if (part == "/..") out.resize(out.find_last_of('/') == std::string::npos ? 0 : out.find_last_of('/'));
      if (last) out += '/';
    } else {
      out += part;
    }
  }
  return out;
}

bool has_scheme(std::string_view text) {
  const size_t colon = text.find_first_of(":/?#");
  if (colon == std::string_view::npos || colon == 0 || text[colon] != ':') return false;
  const std::string scheme = lower_case(text.substr(0, colon));
  return scheme[0] >= 'a' && scheme[0] <= 'z' &&
         scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") == std::string::npos;
}

bool has_video_codec(std::string_view codecs) {
  if (codecs.empty()) return true;
  for (const std::string_view name :
       {"avc", "hvc", "hev", "dvh", "dva", "av01", "vp08", "vp09", "mp4v", "jpeg"})
    if (codecs.find(name) != std::string_view::npos) return true;
  return false;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& base) : text_(text), base_(base) {}

  Playlist parse() {
    if (text_.size() > kMaxPlaylistBytes) fail(fmt::format("is larger than {} MiB", kMaxPlaylistBytes >> 20));
    if (line() != kBegin) fail("is damaged");
    while (!text_.empty()) read(line());
    finish();
    return std::move(out_);
  }

 private:
  std::string_view line() {
    const size_t end = std::min(text_.find('\n'), text_.size());
    std::string_view one = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    while (!one.empty() && (one.back() == '\r' || one.back() == ' ' || one.back() == '\t'))
      one.remove_suffix(1);
    return one;
  }

  std::string address(std::string_view reference) {
    std::string absolute = resolve(base_, reference);
    listed_bytes_ += absolute.size();
    if (listed_bytes_ > kMaxListedBytes) fail("lists too many addresses");
    return absolute;
  }

  std::string attribute_address(std::string_view list) {
    const std::string_view uri = attribute(list, "URI");
    if (uri.empty()) fail("has a key or an initialization section without an address");
    return address(uri);
  }

  void read(std::string_view one) {
    if (one.empty()) return;
    if (!one.starts_with('#')) return read_address(one);
    if (take(one, "#EXTINF:")) {
      const double seconds = std::strtod(std::string(first_bytes(one, 40)).c_str(), nullptr);
      duration_s_ = std::isfinite(seconds) ? std::clamp(seconds, kShortestS, kLongestS) : kShortestS;
    } else if (take(one, "#EXT-X-BYTERANGE:")) {
      range_ = range_of(one);
    } else if (take(one, "#EXT-X-TARGETDURATION:")) {
      out_.target_s = std::clamp<int64_t>(number(one).value_or(1), 1, kLongestTargetS);
    } else if (take(one, "#EXT-X-MEDIA-SEQUENCE:")) {
      out_.sequence = number(one).value_or(0);
      if (out_.sequence > kMaxSequence) fail("has an invalid sequence number");
    } else if (one == "#EXT-X-ENDLIST") {
      out_.finished = true;
    } else if (take(one, "#EXT-X-KEY:")) {
      read_key(one);
    } else if (take(one, "#EXT-X-MAP:")) {
      read_map(one);
    } else if (take(one, "#EXT-X-STREAM-INF:")) {
      read_variant(one);
    } else if (take(one, "#EXT-X-MEDIA:")) {
      read_rendition(one);
    }
  }

  void read_address(std::string_view reference) {
    if (variant_) {
      variant_->address = address(reference);
      if (out_.variants.size() >= kMaxEntries) fail("lists too many variants");
      out_.variants.push_back(*std::exchange(variant_, std::nullopt));
      return;
    }
    if (duration_s_ <= 0) return;
    if (out_.segments.size() >= kMaxSegments) fail(fmt::format("lists more than {} segments", kMaxSegments));
    Segment segment{address(reference), range_, duration_s_, out_.keys.size() - 1, out_.maps.size() - 1};
    listed_bytes_ += out_.keys.back().address.size();  // FFmpeg copies it for each segment
    if (segment.range.offset < 0) segment.range.offset = offset_after_last(segment.address);
    out_.segments.push_back(std::move(segment));
    duration_s_ = 0, range_ = {};
  }

  /// Returns the range "BYTES[@OFFSET]"; its offset is -1 if there is none.
  static Range range_of(std::string_view text) {
    const size_t at = std::min(text.find('@'), text.size());
    const auto bytes = number(text.substr(0, at));
    const auto offset = at < text.size() ? number(text.substr(at + 1)) : -1;
    if (!bytes || !offset || *bytes > kMaxRangeBytes || *offset > kMaxRangeBytes)
      fail("has an invalid byte range");
    return {*offset, *bytes};
  }

  /// Returns where a range without an offset begins: after the previous segment, if that is of the same file.
  int64_t offset_after_last(const std::string& address) const {
    if (out_.segments.empty()) return 0;
    const Segment& last = out_.segments.back();
    return last.address == address && last.range.bytes >= 0 ? last.range.offset + last.range.bytes : 0;
  }

  void read_key(std::string_view list) {
    const std::string_view method = attribute(list, "METHOD"), format = attribute(list, "KEYFORMAT");
    Key key;
    if (method != "NONE") {
      // Several keys of different formats may be listed for the same segments; one is enough.
      const bool identity = format.empty() || format == "identity";
      if (!identity || method != "AES-128") {
        if (out_.keys.back().address.empty())
          foreign_key_ =
              identity ? fmt::format("is encrypted with {}", first_bytes(method, 40)) : "is protected by DRM";
        return;
      }
      key.address = attribute_address(list);
      const std::string_view iv = attribute(list, "IV");
      if (iv.size() > 34 || iv.find_first_not_of("0123456789abcdefABCDEFxX") != std::string_view::npos)
        fail("has a damaged key");
      key.iv = iv;
    }
    foreign_key_.clear();
    if (key == out_.keys.back()) return;
    if (out_.keys.size() > kMaxEntries) fail("lists too many keys");
    out_.keys.push_back(std::move(key));
  }

  void read_map(std::string_view list) {
    Map map{attribute_address(list), {}};
    if (const std::string_view range = attribute(list, "BYTERANGE"); !range.empty())
      map.range = range_of(range);
    map.range.offset = std::max<int64_t>(map.range.offset, 0);
    if (map == out_.maps.back()) return;
    if (out_.maps.size() > kMaxEntries) fail("lists too many initialization sections");
    out_.maps.push_back(std::move(map));
  }

  void read_variant(std::string_view list) {
    Variant variant;
    variant.audio_group = attribute(list, "AUDIO");
    variant.codecs = attribute(list, "CODECS");
    variant.bits_per_s = number(attribute(list, "BANDWIDTH")).value_or(0);
    const std::string_view size = attribute(list, "RESOLUTION");
    const size_t x = std::min(size.find('x'), size.size());
    const auto width = number(size.substr(0, x)),
               height = x < size.size() ? number(size.substr(x + 1)) : width;
    if (width && height && std::max(*width, *height) <= kMaxSide)
      variant.size = {static_cast<int>(*width), static_cast<int>(*height)};
    variant.has_video = variant.size.width > 0 || has_video_codec(variant.codecs);
    variant_ = std::move(variant);
  }

  void read_rendition(std::string_view list) {
    if (attribute(list, "TYPE") != "AUDIO") return;
    if (out_.renditions.size() >= kMaxEntries) fail("lists too many renditions");
    Rendition rendition;
    rendition.group = attribute(list, "GROUP-ID");
    rendition.name = attribute(list, "NAME");
    rendition.preferred = attribute(list, "DEFAULT") == "YES";
    if (const std::string_view uri = attribute(list, "URI"); !uri.empty()) rendition.address = address(uri);
    out_.renditions.push_back(std::move(rendition));
  }

  void finish() {
    out_.master = !out_.variants.empty() || !out_.renditions.empty();
    if (!foreign_key_.empty()) fail(foreign_key_ + " (lensd plays AES-128)");
    for (const Segment& segment : out_.segments)
      out_.target_s = std::max(out_.target_s, static_cast<int64_t>(std::llround(segment.duration_s)));
    out_.target_s = std::min(out_.target_s, kLongestTargetS);
  }

  std::string_view text_;
  const std::string base_;
  Playlist out_;
  std::optional<Variant> variant_;  ///< variant whose address follows; nullopt: none
  double duration_s_ = 0;           ///< duration of the segment whose address follows; 0: none
  Range range_;
  std::string foreign_key_;
  size_t listed_bytes_ = 0;
};

}  // namespace

std::string resolve(const std::string& base, std::string_view reference) {
  std::string out;
  if (has_scheme(reference)) {
    out = reference;
  } else {
    const size_t host = base.find("://") + 3;
    const size_t path = std::min(base.find_first_of("/?#", host), base.size());
    const size_t query = std::min(base.find_first_of("?#", path), base.size());
    if (reference.starts_with("//")) {
      out = base.substr(0, host - 2).append(reference);
    } else {
      std::string_view tail;  // query or fragment, in which dots are kept
      if (const size_t at = reference.find_first_of("?#"); at != std::string_view::npos)
        tail = reference.substr(at), reference = reference.substr(0, at);
      std::string joined = base.substr(path, query - path);
      if (!reference.empty()) {
        if (reference.starts_with('/')) joined.clear();
        joined.resize(joined.find_last_of('/') == std::string::npos ? 0 : joined.find_last_of('/') + 1);
        if (joined.empty() && !reference.starts_with('/')) joined = "/";
        joined.append(reference);
      }
      out = base.substr(0, path) + without_dots(joined) + std::string(tail);
    }
  }
  std::string encoded;
  for (const char c : out) c == ' ' ? encoded += "%20" : c == '"' ? encoded += "%22" : encoded += c;
  const size_t colon = encoded.find(':');
  const std::string scheme = lower_case(encoded.substr(0, colon));
  if (has_control_character(encoded)) fail("lists a damaged address");
  if (encoded.size() > kMaxAddressBytes) fail("lists an address that is too long");
  if ((scheme != "http" && scheme != "https") || encoded.compare(colon, 3, "://") != 0 ||
      encoded.size() == colon + 3 || encoded[colon + 3] == '/')
    fail(fmt::format("lists '{}', which is not an http or https address",
                     shortened(url_without_secrets(encoded), 200)));
  return scheme + encoded.substr(colon);
}

Playlist parse(std::string_view text, const std::string& base) {
  return Parser(text, base).parse();
}

}  // namespace lensd::hls
