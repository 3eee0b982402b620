// Whose certificates are verified.
extern "C" {
#include <libavutil/opt.h>
}

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/media/live/live_options.hpp"
#include "core/media/live/tls_options.hpp"

namespace lensd {
namespace {

bool verifies(const std::string& url, TlsCheck check) {
  ff::Options options;
  const bool set = set_tls_options(options, url, check);
  EXPECT_EQ(av_dict_get(*options.get(), "tls_verify", nullptr, 0) != nullptr, set) << url;
  remove_tls_options(options);
  EXPECT_EQ(options.unused(), nullptr);
  return set;
}

TEST(TlsCheck, PrivateNames) {
  for (const char* name : {"camera", "camera.local", "NVR.LAN", "cam.home.arpa", "cam.fritz.box", "localhost",
                           "10.0.0.7", "8.8.8.8", "fe80::1", "2001:db8::1", "cam.internal", "cam.local."})
    EXPECT_TRUE(is_private_name(name)) << name;
  for (const char* name : {"example.com", "cam.example.org.", "local.example.com", "live-api-s.facebook.com"})
    EXPECT_FALSE(is_private_name(name)) << name;
}

TEST(TlsCheck, PrivateNetworksAreNotVerifiedUnlessAsked) {
  for (const char* url : {"https://192.168.1.20/video.mjpg", "https://camera/video.mjpg",
                          "rtmps://[fe80::1]/live/x", "https://admin:secret@nvr.local:8443/a"}) {
    EXPECT_FALSE(verifies(url, TlsCheck::automatic)) << url;
    EXPECT_FALSE(verifies(url, TlsCheck::any)) << url;
    EXPECT_TRUE(verifies(url, TlsCheck::verify)) << url;
  }
  for (const char* url : {"http://example.com/a", "rtmp://example.com/a", "udp://127.0.0.1:1"})
    EXPECT_FALSE(verifies(url, TlsCheck::verify)) << "no TLS: " << url;
}

TEST(TlsCheck, RtspsCannotBeVerified) {
  ff::initialize();
  const std::string url = "rtsps://cam.example.com/live";
  const AVInputFormat* format = av_find_input_format("rtsp");
  const AVClass* type = format->priv_class;
  if (av_opt_find(&type, "tls_verify", nullptr, 0, AV_OPT_SEARCH_FAKE_OBJ)) GTEST_SKIP() << "this FFmpeg can";
  LiveOptions live;
  EXPECT_NO_THROW(check_live_source(url, live));
  live.tls = TlsCheck::any;
  EXPECT_NO_THROW(check_live_source(url, live));
  live.tls = TlsCheck::verify;
  EXPECT_THROW(check_live_source(url, live), Error);
  live.tls = TlsCheck::automatic, live.extra = {{"tls_verify", "1"}};
  try {
    check_live_source(url, live);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unavailable);
    EXPECT_NE(error.problem().find("cannot verify the certificate"), std::string::npos) << error.problem();
  }
}

TEST(TlsCheck, AMessageAboutACertificateIsARefusal) {
  ff::initialize();
  ff::forget_log();
  EXPECT_FALSE(certificate_refused());
  av_log(nullptr, AV_LOG_ERROR, "The certificate is NOT trusted\n");
  EXPECT_TRUE(certificate_refused());
  av_log(nullptr, AV_LOG_ERROR, "Connection refused\n");
  EXPECT_FALSE(certificate_refused());
  ff::forget_log();
}

}  // namespace
}  // namespace lensd
