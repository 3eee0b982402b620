// Logins, tokens and stream keys in URLs and in messages.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text/url_secrets.hpp"

namespace lensd {
namespace {

TEST(UrlSecrets, LoginsAndQueriesAreRemoved) {
  EXPECT_EQ(url_without_secrets("rtsp://user:p@ss@host:554/live?token=abc"), "rtsp://…@host:554/live?…");
  EXPECT_EQ(url_without_secrets("rtsp://user:secret@host"), "rtsp://…@host");
  EXPECT_EQ(url_without_secrets("srt://host:9000?passphrase=my secret"), "srt://host:9000?…");
  EXPECT_EQ(url_without_secrets("http://host/x#token=abc"), "http://host/x#…");
  EXPECT_EQ(url_without_secrets("http://host:80/x.mp4"), "http://host:80/x.mp4");
  EXPECT_EQ(url_without_secrets("/a folder/it's@home?.mp4"), "/a folder/it's@home?.mp4");
}

/// Passwords as users type them, with characters that must be percent-encoded in URLs.
constexpr const char* kPasswords[] = {"it's", "my pass", "a\"b",  "p#ss", "pa/ss",
                                      "p?ss", "p@s/s",   "a://b", "554/x"};

TEST(UrlSecrets, PasswordsOfAnyCharactersAreRemoved) {
  for (const std::string password : kPasswords)
    EXPECT_EQ(url_without_secrets("rtsp://user:" + password + "@host/live"), "rtsp://…@host/live")
        << password;
}

TEST(UrlSecrets, RememberedUrlsAreRemovedFromMessages) {
  for (const std::string password : kPasswords) {
    const std::string login = "admin:" + password + "secret", url = "rtsp://" + login + "@host/live";
    remember_secrets(url);
    EXPECT_EQ(without_secrets("cannot open " + url + ": refused"), "cannot open rtsp://…@host/live: refused");
    const std::string login_alone = without_secrets("login " + login + " was refused");
    EXPECT_EQ(login_alone.find("secret"), std::string::npos) << login_alone;
  }
}

TEST(UrlSecrets, StreamKeysAreRemoved) {
  EXPECT_EQ(url_without_secrets("rtmp://host:1935/live/key-1234"), "rtmp://host:1935/live/…");
  EXPECT_EQ(url_without_secrets("rtmps://host/app/key?signature=1"), "rtmps://host/app/…");
  EXPECT_EQ(url_without_secrets("rtmp://host/app playpath=key live=1"), "rtmp://host/app …");
  EXPECT_EQ(url_without_secrets("rtmp://host/app"), "rtmp://host/app");
  EXPECT_EQ(without_secrets("[rtmp @ 0x5] cannot open 'rtmp://host/app/key': refused"),
            "[rtmp @ 0x5] cannot open 'rtmp://host/app/…': refused");
}

/// Addresses of common cameras with the login in the path, and what is shown of them.
constexpr std::pair<const char*, const char*> kPathLogins[] = {
    {"rtsp://10.0.0.7/user=admin&password=secret&channel=1&stream=0.sdp?real_stream", "rtsp://10.0.0.7/…"},
    {"rtsp://10.0.0.7:554/user=admin_password=secret_channel=1_stream=0.sdp", "rtsp://10.0.0.7:554/…"},
    {"http://10.0.0.7/videostream.cgi;user=a;pwd=secret", "http://10.0.0.7/…"},
    {"rtsp://10.0.0.7/admin:secret/ch1", "rtsp://10.0.0.7/…"},
    {"rtsp://[::1]:554/live/admin:sec/secret?x", "rtsp://[::1]:554/live/…"},
    {"rtsp://10.0.0.7/user=admin&password=sec@secret", "rtsp://…"},
    {"rtmp://10.0.0.7/user=a&pass=secret/live", "rtmp://10.0.0.7/…"},
};

TEST(UrlSecrets, LoginsInPathsAreRemoved) {
  for (const auto& [url, shown] : kPathLogins) {
    EXPECT_EQ(url_without_secrets(url), shown);
    EXPECT_EQ(without_secrets(std::string("cannot open ") + url + ": refused"),
              std::string("cannot open ") + shown + ": refused");
    EXPECT_TRUE(holds_secrets(url)) << url;
  }
  EXPECT_EQ(without_secrets("cannot open rtsp://host:554/live: refused; rtsp://host/1; done"),
            "cannot open rtsp://host:554/live: refused; rtsp://host/1; done");
  EXPECT_EQ(url_without_secrets("file:///a/b=c;d.mp4"), "file:///a/b=c;d.mp4");
}

TEST(UrlSecrets, RememberedLoginsInPathsAreRemovedFromMessages) {
  const std::string url = "http://10.0.0.7/videostream.cgi;user=a;pwd=it's my secret";
  remember_secrets(url);
  EXPECT_EQ(without_secrets("cannot open " + url + ": refused"), "cannot open http://10.0.0.7/…: refused");
}

TEST(UrlSecrets, SecretsWithAnAtSignAreRemoved) {
  for (const std::string url : {"srt://host:9000?passphrase=my@secret", "http://host/x?token=a@b@secret",
                                "http://host/#key=a@secret", "rtmp://host/app/a@secret"}) {
    EXPECT_EQ(url_without_secrets(url).find("secret"), std::string::npos) << url;
    const std::string text = without_secrets("cannot open " + url + ": refused");
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    EXPECT_TRUE(holds_secrets(url)) << url;
  }
}

TEST(UrlSecrets, UrlsInUseStayRemembered) {
  const std::string used = "http://host/x?pass=it's my secret";
  const auto other = [](int i) { return "rtsp://user" + std::to_string(i) + ":pass@host/1"; };
  remember_secrets(used);
  for (int i = 0; i < 66; ++i) {
    if (i == 62) remember_secrets(used);  // only the last 64 URLs are remembered
    remember_secrets(other(i));
  }
  const std::string text = without_secrets("cannot open " + used + ": refused");
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
}

TEST(UrlSecrets, UrlsAreReplacedBeforeLoginsInThem) {
  remember_secrets("rtsp://user:pass@camera");
  const std::string url = "rtmp://host/app/user:pass secret";
  remember_secrets(url);
  const std::string text = without_secrets("cannot open " + url + ": refused");
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
}

TEST(UrlSecrets, OtherTextStays) {
  EXPECT_EQ(without_secrets("cannot open 'http://a:b@h/x' now"), "cannot open 'http://…@h/x' now");
  EXPECT_EQ(without_secrets("plain @ text?"), "plain @ text?");
  EXPECT_EQ(without_secrets("from http://a/1?x=1 to http://u:p@b/2 [tcp @ 0x5]"),
            "from http://a/1?… to http://…@b/2 [tcp @ 0x5]");
}

TEST(UrlSecrets, WhatIsShownStaysTheSame) {
  for (const std::string url : {"rtsp://u:p@h/x?y", "rtmp://h/a/b", "rtmp://h/a playpath=b", "http://h#f",
                                "rtsp://h/a/b=c", "rtsp://h/a=b@c"}) {
    const std::string shown = url_without_secrets(url);
    EXPECT_EQ(url_without_secrets(shown), shown);
    EXPECT_EQ(without_secrets(shown), shown);
  }
}

TEST(UrlSecrets, LogsHaveNoSecrets) {
  const std::string url = "rtsp://admin:very secret@camera/1?x=1";
  remember_secrets(url);
  log::init("error", "");
  log::error("cannot open {} (http://host/?token=secret)", url);
  const std::string line = log::recent().empty() ? "" : log::recent().back();
  EXPECT_NE(line.find("cannot open rtsp://…@camera/1?…"), std::string::npos) << line;
  EXPECT_EQ(line.find("secret"), std::string::npos) << line;
}

TEST(UrlSecrets, UrlsThatMayBeStored) {
  for (const char* url :
       {"rtsp://camera/1", "http://camera/video?size=640x480", "rtsp://camera/cam?channel=1&subtype=0",
        "http://camera/video?Resolution=1280x720&fps=25", "/a@b?key=1.mp4", "test:demo"})
    EXPECT_FALSE(holds_secrets(url)) << url;
  for (const char* url : {"rtsp://user:secret@host", "rtsp://user@host/1", "rtmp://host/app/key",
                          "http://host/x?Token=1", "rtmp://host/app/?unicast=key", "http://host/x?id=4711",
                          "http://host/x?4711", "http://host/x?width=640&h=secret/x",
                          "http://host/x?width=640;code=1", "http://host/x?width=640#part",
                          "http://host/x?w%69dth=1", "srt://host:1?passphrase=x", "http://host?x=a@b"})
    EXPECT_TRUE(holds_secrets(url)) << url;
}

}  // namespace
}  // namespace lensd
