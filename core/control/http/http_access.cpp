#include "core/control/http/http_access.hpp"

#include <arpa/inet.h>
#include <sys/random.h>

#include <algorithm>
#include <string_view>

#include "core/base/contains.hpp"
#include "core/base/error.hpp"
#include "core/base/text/text.hpp"

namespace lensd {
namespace {

/// Returns the name in "name:port" or "[::1]:port", in lower case and without brackets.
std::string host_name(const std::string& host) {
  std::string name = host.substr(0, host.starts_with('[') ? host.find(']') + 1 : host.find(':'));
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return lower_case(name);
}

/// Returns the value of a cookie in a Cookie header, or an empty string.
std::string cookie_value(const std::string& cookies, const std::string& name) {
  const std::string key = name + "=";
  for (size_t at = 0; at < cookies.size();) {
    const size_t end = std::min(cookies.find(';', at), cookies.size());
    const size_t begin = std::min(cookies.find_first_not_of(' ', at), end);
    if (cookies.compare(begin, key.size(), key) == 0)
      return cookies.substr(begin + key.size(), end - begin - key.size());
    at = end + 1;
  }
  return {};
}

}  // namespace

std::string make_token() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  unsigned char random[32];
  if (getrandom(random, sizeof random, 0) != sizeof random)
    throw Error(ExitCode::runtime_failure, "http", "cannot read random numbers from the kernel");
  std::string token;
  for (const unsigned char byte : random) token += letters[byte % letters.size()];
  return token;
}

std::string cookie_name(int port) {
  return "lensd_token_" + std::to_string(port);
}

bool is_localhost(const std::string& name) {
  const std::string lower = lower_case(name);
  return lower == "localhost" || lower == "localhost.";
}

bool is_loopback(const std::string& address) {
  in_addr ipv4{};
  if (inet_pton(AF_INET, address.c_str(), &ipv4) == 1) return ntohl(ipv4.s_addr) >> 24 == 127;
  in6_addr ipv6{};
  if (inet_pton(AF_INET6, address.c_str(), &ipv6) != 1) return is_localhost(address);
  return IN6_IS_ADDR_LOOPBACK(&ipv6) || (IN6_IS_ADDR_V4MAPPED(&ipv6) && ipv6.s6_addr[12] == 127);
}

bool known_host(const std::string& host, const std::string& address, const std::vector<std::string>& hosts) {
  const std::string name = host_name(host);
  if (name.empty()) return false;
  // Protects against DNS rebinding, in which a foreign host name resolves to this host. Numeric addresses are
  // safe.
  unsigned char bytes[16];
  const bool literal =
      inet_pton(AF_INET, name.c_str(), bytes) == 1 || inet_pton(AF_INET6, name.c_str(), bytes) == 1;
  return literal || is_localhost(name) || name == lower_case(address) || contains(hosts, name);
}

bool same_origin(const std::string& origin, const std::string& host, const std::vector<std::string>& hosts) {
  if (origin.empty() || origin == "http://" + host || origin == "https://" + host) return true;
  // A proxy may replace the Host header or its port. With http, only the default port counts, because pages
  // on other ports may belong to other programs.
  constexpr std::string_view https = "https://";
  return std::ranges::any_of(hosts, [&](const std::string& name) {
    return lower_case(origin) == "http://" + name ||
           (origin.starts_with(https) && host_name(origin.substr(https.size())) == name);
  });
}

bool embedded_elsewhere(const std::string& site, const std::string& dest) {
  return (site == "cross-site" || site == "same-site") && dest != "document";
}

bool same_token(const std::string& a, const std::string& b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ (b.empty() ? 0 : b[i % b.size()]));
  return difference == 0;
}

bool has_token(const std::string& authorization, const std::string& cookies, const std::string& cookie,
               const std::string& token) {
  constexpr std::string_view bearer = "bearer ";
  if (lower_case(authorization.substr(0, bearer.size())) == bearer &&
      same_token(authorization.substr(bearer.size()), token))
    return true;
  return same_token(cookie_value(cookies, cookie), token);
}

}  // namespace lensd
