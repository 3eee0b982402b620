#include "core/media/live/tls_options.hpp"

#include <arpa/inet.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/media/live/live_options.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

constexpr const char *kVerify = "tls_verify", *kRoots = "ca_file";

/// Returns the system's file of root certificates; empty if there is none. FFmpeg's TLS libraries, except
/// GnuTLS, have no default.
std::string root_certificates() {
  constexpr std::array<const char*, 5> kFiles = {
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"};
  if (const char* named = std::getenv("SSL_CERT_FILE"); named && *named) {
    if (access(named, R_OK) == 0) return named;
    static std::atomic<bool> warned{false};  // not at every attempt
    if (!warned.exchange(true))
      log::warn("cannot read SSL_CERT_FILE={}; the system's root certificates are used", named);
  }
  for (const char* file : kFiles)
    if (access(file, R_OK) == 0) return file;
  return {};
}

bool is_numeric(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return host.find(':') != std::string::npos || inet_pton(AF_INET, host.c_str(), address.data()) == 1;
}

}  // namespace

bool is_private_name(const std::string& host) {
  constexpr std::array<std::string_view, 10> kDomains = {".local", ".localhost", ".localdomain", ".lan",
                                                         ".home",  ".internal",  ".intranet",    ".arpa",
                                                         ".box",   ".test"};
  std::string name = lower_case(host);
  if (name.ends_with('.')) name.pop_back();
  if (is_numeric(name) || name.find('.') == std::string::npos) return true;
  for (const std::string_view domain : kDomains)
    if (name.ends_with(domain)) return true;
  return false;
}

bool set_tls_options(ff::Options& options, const std::string& url, TlsCheck check) {
  const std::string scheme = scheme_of(url), host = host_of(url);
  if (check == TlsCheck::any || (scheme != "https" && scheme != "rtmps")) return false;
  if (check == TlsCheck::automatic && (is_private_name(host) || is_internal_host(host))) return false;
  const std::string roots = root_certificates();
  if (roots.empty() && check == TlsCheck::verify)
    throw Error(ExitCode::unavailable, url_without_secrets(url), "there is no file with root certificates",
                "install the package ca-certificates");
  if (roots.empty()) {
    static std::atomic<bool> warned{false};  // not at every attempt
    if (!warned.exchange(true))
      log::warn(
          "certificates are not verified: there is no file with root certificates (install the package "
          "ca-certificates)");
    return false;
  }
  options.set(kVerify, "1");
  options.set(kRoots, roots);
  return true;
}

void remove_tls_options(ff::Options& options) {
  for (const char* name : {kVerify, kRoots}) av_dict_set(options.get(), name, nullptr, 0);
}

bool certificate_refused() {
  return ff::log_hint().find("certificate") != std::string::npos;
}

}  // namespace lensd
