// Removes user names, passwords, tokens and stream keys from URLs, so that logs, messages and properties can
// show them. What is removed is replaced by "…". Thread-safe.
//
// Users often type passwords without percent-encoding. A password may therefore contain any character, also
// one that normally ends the host or the URL. To be safe, the functions remove everything up to the last '@',
// and the whole address if this '@' may be in a query or a stream key.
#pragma once

#include <string>

namespace lensd {

/// Returns `url`, a single URL, without its login, query and fragment. In an RTMP URL, also removes
/// everything after the application, because it is the stream key.
std::string url_without_secrets(const std::string& url);

/// Returns `text` without the secrets of the URLs in it. Finds the end of a URL that contains spaces or
/// quotes only if remember_secrets() was called for that URL.
std::string without_secrets(const std::string& text);

/// Makes without_secrets() recognise this URL and its login. Remembers at least the last 64 URLs with
/// secrets.
void remember_secrets(const std::string& url);

/// Returns true if a URL has a login, a stream key, a fragment without a query, or a word such as "pass",
/// "key", "token" or "user" in its query or the fragment after it. The viewer does not store such URLs.
bool holds_secrets(const std::string& url);

}  // namespace lensd
