// Addresses: passwords, stream keys and tokens never appear in what is shown.
#include <fuzzer/FuzzedDataProvider.h>

#include <string>

#include "core/base/text/source_text.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/media/url.hpp"
#include "tests/fuzz/common/require.hpp"

namespace lensd {
namespace {

using fuzz::require;
/// Part of every secret. The other parts of an address are too short to contain it.
constexpr const char* kMark = "Xq7Secret7Xq";

void check_shown(const std::string& function, const std::string& shown, const std::string& url) {
  require(shown.find(kMark) == std::string::npos, "{} shows '{}' of '{}'", function, shown, url);
}

std::string secret(FuzzedDataProvider& in) {
  return in.ConsumeRandomLengthString(12) + kMark + in.ConsumeRandomLengthString(12);
}

/// Returns an address with a secret in its login, its path, its query or its stream key.
std::string secret_url(FuzzedDataProvider& in) {
  static constexpr const char* kSchemes[] = {"rtsp", "RTSPS", "http", "https", "srt", "udp", "rtmp", "RTMPS"};
  static constexpr const char* kHosts[] = {"host", "camera.local:554", "[::1]:80", "192.168.0.7"};
  static constexpr const char* kPaths[] = {"", "/", "/live", "/a/b/c.mp4", "/app/stream"};
  const std::string scheme = in.PickValueInArray(kSchemes), host = in.PickValueInArray(kHosts);
  const std::string path = in.PickValueInArray(kPaths);
  switch (in.ConsumeIntegralInRange(0, 5)) {
    case 0:
      return fmt::format("{}://{}?token={}", scheme, host + path, secret(in));
    case 1:
      return fmt::format("rtmp://{}/app/{}", host, secret(in));
    case 2:
      return fmt::format("{}://{}@{}{}", scheme, secret(in), host, path);
    case 3:
      return fmt::format("{}://{}/live/user={}", scheme, host, secret(in));
    case 4:
      return fmt::format("{}://{}/a.cgi;pwd={}", scheme, host, secret(in));
    default:
      return fmt::format("{}://{}:{}@{}{}", scheme, in.ConsumeRandomLengthString(8), secret(in), host, path);
  }
}

void check_secret(FuzzedDataProvider& in) {
  const std::string url = secret_url(in);
  const std::string shown = url_without_secrets(url);
  check_shown("url_without_secrets()", shown, url);
  require(url_without_secrets(shown) == shown, "'{}' is shortened twice", shown);
  check_shown("display_url()", display_url(url), url);
  check_shown("short_name()", short_name(url), url);
  check_shown("brief_source()", brief_source(url), url);
  require(holds_secrets(url), "'{}' would be stored", url);
  remember_secrets(url);
  for (const std::string& text :
       {"cannot open " + url + ": refused", "'" + url + "'", url + "\n", "[http @ 0x1] " + url})
    check_shown("without_secrets()", without_secrets(text), text);
}

/// Checks that no function fails for any text, that url_without_secrets() is idempotent, and that
/// tidy_source() returns one line unless it decodes an address with "file:/".
void check_any(const std::string& text) {
  require(url_without_secrets(url_without_secrets(text)) == url_without_secrets(text), "shortened twice: {}",
          text);
  without_secrets(text), holds_secrets(text), short_name(text), host_of(text), scheme_of(text);
  camera_path(text), is_sequence_pattern(text), classify(text), brief_source(text), shown_path(text);
  typed_path(text);
  const std::string tidy = tidy_source(text);
  require(tidy.find('\n') == std::string::npos || lower_case(text).find("file:/") != std::string::npos,
          "two lines: {}", tidy);
}

}  // namespace
}  // namespace lensd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider in(data, size);
  if (in.ConsumeBool())
    lensd::check_secret(in);
  else
    lensd::check_any(in.ConsumeRemainingBytesAsString());
  return 0;
}
