#include "core/control/http_access.hpp"

#include <sys/random.h>

#include <algorithm>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace lensd {

std::string make_token() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  unsigned char random[32];
  if (getrandom(random, sizeof random, 0) != sizeof random)
    throw Error(ExitCode::runtime_failure, "http", "the kernel gave no random numbers");
  std::string token;
  for (const unsigned char byte : random) token += letters[byte % letters.size()];
  return token;
}

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

std::string host_name(const std::string& host) {
  std::string name = host.substr(0, host.starts_with('[') ? host.find(']') + 1 : host.find(':'));
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return lower_case(name);
}

bool same_token(const std::string& a, const std::string& b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ (b.empty() ? 0 : b[i % b.size()]));
  return difference == 0;
}

std::string cookie_token(const std::string& cookies) {
  const std::string key = std::string(kTokenCookie) + "=";
  for (size_t at = 0; at < cookies.size();) {
    const size_t end = std::min(cookies.find(';', at), cookies.size());
    const size_t begin = std::min(cookies.find_first_not_of(' ', at), end);
    if (cookies.compare(begin, key.size(), key) == 0)
      return cookies.substr(begin + key.size(), end - begin - key.size());
    at = end + 1;
  }
  return {};
}

}  // namespace lensd
