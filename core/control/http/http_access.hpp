// Who may talk HTTP to lensd: loopback addresses, names of hosts, tokens. Plain functions; any thread.
#pragma once

#include <string>
#include <vector>

namespace lensd {

/// The cookie that carries the token for the panel's page.
inline constexpr const char* kTokenCookie = "lensd_token";

/// A new token: 32 letters, digits, - and _ from the kernel's random numbers. Throws Error(runtime_failure).
std::string make_token();
/// Takes as long for a wrong token as for the right one.
bool same_token(const std::string& a, const std::string& b);
/// The token in a Cookie header; empty: there is none.
std::string cookie_token(const std::string& cookies);

bool is_loopback(const std::string& address);
/// The name in "name:port" or "[::1]:port", in small letters.
std::string host_name(const std::string& host);

/// The Host header names the server: `address`, one of `hosts`, or any address in numbers.
bool known_host(const std::string& host, const std::string& address, const std::vector<std::string>& hosts);
/// The Origin header, which only browsers send, is that of a page from this very host.
bool same_origin(const std::string& origin, const std::string& host);
/// One of the headers Authorization and Cookie has the token.
bool has_token(const std::string& authorization, const std::string& cookies, const std::string& token);

}  // namespace lensd
