// Checks of HTTP requests: loopback addresses, host names, origins, tokens. Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace lensd {

/// Returns the name of the cookie that holds the token for the panel page. It contains the port, because
/// browsers share cookies between all ports of a host.
std::string cookie_name(int port);

/// Returns a random token of 32 letters, digits, - and _. Throws Error(runtime_failure) if the kernel returns
/// no random numbers.
std::string make_token();
/// Returns true if the tokens are equal. The duration does not depend on where they differ.
bool same_token(const std::string& a, const std::string& b);
/// Returns true for the name "localhost", which is never resolved. Ignores its case.
bool is_localhost(const std::string& name);
/// Returns true for is_localhost(), "::1" and the IPv4 addresses 127.*, including other IPv6 notations of
/// them. Returns false for all other names, because they may resolve to another address later.
bool is_loopback(const std::string& address);

/// Returns true if the Host header is "localhost", `address`, one of `hosts`, or any numeric address.
/// Ignores the header's port, and the case of the header and of `address`. `hosts` must be in lower case.
bool known_host(const std::string& host, const std::string& address, const std::vector<std::string>& hosts);
/// Returns true if `origin` is empty (only browsers send the header) or names `host`, or if it is the origin
/// of a proxy for one of `hosts`: https with any port, or http with the default port. `hosts` must be in
/// lower case.
bool same_origin(const std::string& origin, const std::string& host, const std::vector<std::string>& hosts);
/// Returns true if a page of another origin loads the response as a part of itself, such as an image or a
/// frame. Browsers send no Origin header for these requests. `site` and `dest` are the headers Sec-Fetch-Site
/// and Sec-Fetch-Dest. A link from another page is allowed.
bool embedded_elsewhere(const std::string& site, const std::string& dest);
/// Returns true if the Authorization header contains `token` as a bearer token, or the Cookie header
/// `cookies` contains a cookie named `cookie` with the value `token`.
bool has_token(const std::string& authorization, const std::string& cookies, const std::string& cookie,
               const std::string& token);

}  // namespace lensd
