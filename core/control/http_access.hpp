// Who may talk HTTP to lensd: loopback addresses, names of hosts, tokens. Plain functions; any thread.
#pragma once

#include <string>

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

}  // namespace lensd
