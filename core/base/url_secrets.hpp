// Removes user names, passwords, tokens and stream keys from URLs, so that logs, messages and properties can
// show them. What is removed is replaced by "…". Thread-safe.
//
// A password may contain any character, also those that end a URL's host or the URL itself, because users
// type it as it is. The functions therefore rather remove too much: everything up to the last '@', and the
// whole address if that '@' may be in a query or a stream key.
#pragma once

#include <string>

namespace lensd {

/// Returns a whole URL without its login, query, fragment, and what follows the application in an RTMP
/// address.
std::string url_without_secrets(const std::string& url);

/// Returns a text without the secrets of the URLs in it. Where a URL with a space or a quote ends is known
/// only if remember_secrets() was called for it.
std::string without_secrets(const std::string& text);

/// Makes without_secrets() recognise this URL and its login. Remembers the last 64 URLs.
void remember_secrets(const std::string& url);

/// Returns true if a URL has a login, a stream key, or a query that names a password, key, token or
/// signature. lensd does not store such URLs.
bool holds_secrets(const std::string& url);

}  // namespace lensd
