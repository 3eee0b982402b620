// Removes user names, passwords, tokens and stream keys from URLs, so that logs, messages and properties can
// show them. Replaces each removed part with "…". Thread-safe.
//
// Users often type passwords without percent-encoding. A password may therefore contain any character, even
// one that normally ends the host or the URL. To be safe, the functions remove everything up to the last '@',
// and the whole address if this '@' may be in a query, a stream key or a login in the path.
#pragma once

#include <string>

namespace lensd {

/// Returns `url`, a single URL, without its login, query and fragment. Cuts the path before the first segment
/// with '=', ';', '&' or ':', except for file://, because many cameras take the login there. In an RTMP URL,
/// also removes everything after the application, because it is the stream key.
std::string url_without_secrets(const std::string& url);

/// Returns `text` without the secrets of the URLs in it. If a URL contains spaces or quotes, finds its end
/// only if remember_secrets() was called for that URL. Log messages and events pass through this function.
/// Cheap if `text` has no URL and no URL with secrets was remembered.
std::string without_secrets(const std::string& text);

/// Makes without_secrets() recognise this URL and its login. Remembers at least the last 64 URLs with
/// secrets.
void remember_secrets(const std::string& url);

/// Returns true if a URL has a login, a path that may contain one, a stream key, a fragment, or a query with
/// anything but well-known settings such as width=640 or channel=1. The viewer does not store such URLs.
bool holds_secrets(const std::string& url);

}  // namespace lensd
