#include "core/base/text/url_secrets.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <deque>
#include <iterator>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/contains.hpp"
#include "core/base/text/text.hpp"

namespace lensd {
namespace {

constexpr std::string_view kSchemeEnd = "://";
constexpr std::string_view kSpaceOrQuote = " \t\n\v\f\r'\"";
constexpr size_t kMaxRemembered = 64;
/// Minimum length in bytes. Shorter logins are not replaced in texts, because they would also match other
/// words.
constexpr size_t kMinLogin = 4;

/// URLs and logins with their replacements, newest last.
class Remembered {
 public:
  void add(const std::string& secret, const std::string& shown) {
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [&](const auto& known) { return known.first == secret; });
    if (known_.size() == 2 * kMaxRemembered) known_.pop_front();
    known_.emplace_back(secret, shown);
    empty_ = false;
  }
  bool empty() const noexcept { return empty_; }
  /// Replaces long secrets first, because a remembered login may also be part of a remembered URL.
  std::string replaced_in(std::string text) {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<std::string_view, std::string_view>> long_first(known_.begin(), known_.end());
    std::ranges::stable_sort(long_first, std::ranges::greater(),
                             [](const auto& known) { return known.first.size(); });
    for (const auto& [secret, shown] : long_first)
      for (size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += shown.size())
        text.replace(at, secret.size(), shown);
    return text;
  }

 private:
  std::atomic<bool> empty_{true};
  std::mutex mutex_;
  std::deque<std::pair<std::string, std::string>> known_;
};

Remembered& remembered() {
  static Remembered instance;
  return instance;
}

/// Returns the position of the last '@' with text on both sides, as in "login@host"; npos if there is none.
size_t login_end(std::string_view text) {
  for (size_t at = text.rfind('@'); at != std::string_view::npos && at > 0; at = text.rfind('@', at - 1)) {
    const bool before = std::isspace(static_cast<unsigned char>(text[at - 1])) == 0;
    const bool after = at + 1 < text.size() && std::isspace(static_cast<unsigned char>(text[at + 1])) == 0;
    if (before && after) return at;
  }
  return std::string_view::npos;
}

/// Returns the position of the first path segment of `address`, "host/path", that may have a login; npos if
/// there is none. Many cameras take the login in the path: "/user=admin&password=x", "/x.cgi;pwd=x",
/// "/user:x".
size_t login_segment(std::string_view address, std::string_view scheme) {
  const size_t path = scheme == "file" ? std::string_view::npos : address.find('/');
  const size_t sign = path == std::string_view::npos ? path : address.find_first_of("=;&:", path);
  return sign == std::string_view::npos ? sign : address.rfind('/', sign) + 1;
}

/// Returns host, port and path of `address`, a URL without scheme and login. Replaces the query, the
/// fragment, the RTMP stream key, and the part of the path from a login to its end with "…".
std::string shown_address(std::string_view address, std::string_view scheme) {
  std::string shown(address.substr(0, address.find_first_of("?#")));
  size_t secret = std::string::npos;
  if (scheme.starts_with("rtmp")) {  // rtmp://host/application/key
    const size_t host_end = shown.find('/');
    const size_t key = host_end == std::string::npos ? host_end : shown.find_first_of("/ ", host_end + 1);
    if (key != std::string::npos && key + 1 < shown.size()) secret = key + 1;
  }
  secret = std::min(secret, login_segment(std::string_view(shown).substr(0, secret), scheme));
  if (secret != std::string::npos) return shown.substr(0, secret) + "…";
  if (shown.size() < address.size()) shown += std::string(1, address[shown.size()]) + "…";
  return shown;
}

/// Returns true if the '@' at `login` may belong to a query, a stream key or a login in the path instead of a
/// login before the host. `address` begins after "://".
bool is_ambiguous(std::string_view address, size_t login, std::string_view scheme) {
  const std::string_view before = address.substr(0, login);
  const size_t query = before.find_first_of("?#");
  if (query != std::string_view::npos && before.find('=', query) != std::string_view::npos) return true;
  if (login_segment(before, scheme) != std::string_view::npos) return true;
  return scheme.starts_with("rtmp") && before.find('/') != std::string_view::npos;
}

/// Returns true if a part of a query, "key=value" or "key", has a known key and a short value of letters,
/// digits and . _ - : only.
bool is_harmless(const std::string& part) {
  constexpr std::string_view kKeys[] = {
      "bitrate",     "buffer_size", "cam",       "camera",    "channel", "codec",
      "compression", "device",      "fifo_size", "format",    "fps",     "framerate",
      "h",           "height",      "latency",   "localaddr", "mode",    "overrun_nonfatal",
      "pkt_size",    "profile",     "proto",     "quality",   "rate",    "res",
      "resolution",  "rotation",    "size",      "sources",   "stream",  "subtype",
      "timeout",     "transport",   "ttl",       "unicast",   "video",   "videocodec",
      "w",           "width"};
  constexpr size_t kMaxValue = 32;
  const size_t sign = part.find('=');
  const std::string value = sign == std::string::npos ? "" : part.substr(sign + 1);
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == ':';
  };
  return contains(kKeys, lower_case(part.substr(0, sign))) && value.size() <= kMaxValue &&
         std::ranges::all_of(value, plain);
}

std::string scheme_before(const std::string& text, size_t end) {
  size_t begin = end;
  while (begin > 0 && std::isalnum(static_cast<unsigned char>(text[begin - 1]))) --begin;
  return lower_case(text.substr(begin, end - begin));
}

}  // namespace

std::string url_without_secrets(const std::string& url) {
  const size_t scheme = url.find(kSchemeEnd);
  if (scheme == std::string::npos) return url;
  const size_t begin = scheme + kSchemeEnd.size();
  std::string_view rest = std::string_view(url).substr(begin);
  std::string out = url.substr(0, begin);
  const std::string name = scheme_before(url, scheme);
  if (const size_t login = rest.rfind('@'); login != std::string::npos) {
    if (is_ambiguous(rest, login, name)) return out + "…";
    out += "…@", rest = rest.substr(login + 1);
  }
  return out + shown_address(rest, name);
}

std::string without_secrets(const std::string& given) {
  if (remembered().empty() && given.find(kSchemeEnd) == std::string::npos) return given;
  const std::string text = remembered().replaced_in(given);
  std::string out;
  size_t at = 0;
  for (;;) {
    const size_t scheme = text.find(kSchemeEnd, at);
    if (scheme == std::string::npos) break;
    size_t begin = scheme + kSchemeEnd.size();
    out.append(text, at, begin - at);
    const size_t next = std::min(text.size(), text.find(kSchemeEnd, begin));
    const std::string name = scheme_before(text, scheme);
    const std::string_view address = std::string_view(text).substr(begin, next - begin);
    const size_t login = login_end(address);
    const bool has_login = login != std::string_view::npos;
    if (has_login) begin += login + 1;
    at = std::min(text.size(), text.find_first_of(kSpaceOrQuote, begin));
    while (at > begin && (text[at - 1] == ':' || text[at - 1] == ';')) --at;  // punctuation after the URL
    out +=
        has_login && is_ambiguous(address, login, name)
            ? "…"
            : (has_login ? "…@" : "") + shown_address(std::string_view(text).substr(begin, at - begin), name);
  }
  return out.append(text, at, std::string::npos);
}

void remember_secrets(const std::string& url) {
  if (url_without_secrets(url) == url) return;
  remembered().add(url, url_without_secrets(url));
  const size_t begin = url.find(kSchemeEnd) + kSchemeEnd.size(), end = url.rfind('@');
  if (end != std::string::npos && end >= begin + kMinLogin)
    remembered().add(url.substr(begin, end - begin), "…");
}

bool holds_secrets(const std::string& url) {
  const size_t query = url.find('?');
  const std::string shown = url_without_secrets(url.substr(0, query));
  if (shown != url.substr(0, query) || url.find('@', url.find(kSchemeEnd)) != std::string::npos) return true;
  const size_t scheme = url.find(kSchemeEnd);
  if (query == std::string::npos || scheme == std::string::npos) return false;
  if (scheme_before(url, scheme).starts_with("rtmp")) return true;  // the query is part of the stream key
  const auto parts = split(url.substr(query + 1), "&");
  return std::ranges::any_of(parts, [](const std::string& part) { return !is_harmless(part); });
}

}  // namespace lensd
