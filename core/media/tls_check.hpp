// Settings for the verification of server certificates: [source] tls, [output] tls.
#pragma once

#include <cstdint>
#include <string>

namespace lensd {

/// `automatic`: verify public names only, because cameras and servers in private networks usually have
/// self-signed certificates.
enum class TlsCheck : uint8_t { automatic, verify, any };

/// Returns the value for "auto", "verify" or "any".
inline TlsCheck tls_check(const std::string& text) {
  return text == "verify" ? TlsCheck::verify : text == "any" ? TlsCheck::any : TlsCheck::automatic;
}

/// Returns true if `host` belongs to a private network by its form: a numeric address, a name without a dot,
/// or a name below a domain that is not public, such as ".local".
bool is_private_name(const std::string& host);

}  // namespace lensd
