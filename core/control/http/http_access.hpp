// Checks of HTTP requests: loopback addresses, host names, origins, tokens. Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace lensd {

/// The cookie with the token, for the panel page. Cookies are shared by all ports of a host, so that each
/// instance uses its own name.
std::string cookie_name(int port);

/// Returns a random token of 32 letters, digits, - and _. Throws Error(runtime_failure).
std::string make_token();
/// Compares in a time that does not depend on where the tokens differ.
bool same_token(const std::string& a, const std::string& b);
/// Returns true for "localhost", "::1" and the IPv4 addresses 127.*, but not for other names.
bool is_loopback(const std::string& address);

/// Returns true if the Host header is "localhost", `address`, one of `hosts`, or any numeric address.
bool known_host(const std::string& host, const std::string& address, const std::vector<std::string>& hosts);
/// Returns true if there is no Origin header, which only browsers send, or if it names this host.
bool same_origin(const std::string& origin, const std::string& host);
/// Returns true if the Authorization header or the named cookie contains the token.
bool has_token(const std::string& authorization, const std::string& cookies, const std::string& cookie,
               const std::string& token);

}  // namespace lensd
