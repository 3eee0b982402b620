// FFmpeg's options for the verification of certificates. Internal to core/media. Thread-safe.
#pragma once

#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/tls_check.hpp"

namespace lensd {

/// Sets options of FFmpeg's TLS that verify the certificate of an https or rtmps address if `check` requires
/// it. Returns true if it has set them. With TlsCheck::automatic, does not verify if the host's name or one
/// of its addresses is in a private network, or if this system has no file with root certificates. May block
/// while it resolves a name. Throws Error(unavailable) if TlsCheck::verify is not possible.
bool set_tls_options(ff::Options& options, const std::string& url, TlsCheck check);

/// Removes what set_tls_options() has set, if FFmpeg has not used it because the server redirected to an
/// address without TLS.
void remove_tls_options(ff::Options& options);

/// Returns true if the last message that FFmpeg logged on this thread is about a certificate.
bool certificate_refused();

}  // namespace lensd
