// core/control/http: redirects, parts of foreign pages, origins, cookies and streams behind a reverse proxy.

#include <gtest/gtest.h>

#include "core/control/http/http_server.hpp"
#include "tests/unit/core/control/fake_target.hpp"
#include "tests/unit/core/control/http/http_client.hpp"

namespace lensd {
namespace {

using test::Client;

TEST(Http, RedirectsOnlyToPathsOfThisServer) {
  FakeTarget target("invert");
  EventHub hub;
  const HttpServer server(target, hub, HttpOptions{});
  const auto location = [&](const std::string& path) {
    Client client(server.port());
    client.get(path + "?token=" + server.token());
    const std::string head = client.read_until("\r\n\r\n");
    const size_t at = head.find("Location: ");
    return at == std::string::npos ? head : head.substr(at + 10, head.find("\r\n", at) - at - 10);
  };
  EXPECT_EQ(location("/"), "./");
  EXPECT_EQ(location("/schema.json"), "./schema.json");
  EXPECT_EQ(location("/api/v1/filters"), "./filters");
  EXPECT_EQ(location("/unknown"), "./");
  EXPECT_EQ(location("/a/b/c"), "./../../");
  EXPECT_EQ(location("//example.org/"), "./../../");
  EXPECT_EQ(location("/%0d%0aSet-Cookie:%20a=b"), "./");
}

TEST(Http, RefusesToBePartOfAForeignPage) {
  FakeTarget target("invert");
  target.picture_ns = 1;
  EventHub hub;
  HttpOptions options;
  options.auth = false;
  const HttpServer server(target, hub, options);
  const auto head = [&](const std::string& path, const std::string& site, const std::string& dest) {
    Client client(server.port());
    client.get(path, "Sec-Fetch-Site: " + site + "\r\nSec-Fetch-Dest: " + dest + "\r\n");
    return client.read_until("\r\n\r\n");
  };
  const auto status = [&](const std::string& path, const std::string& site, const std::string& dest) {
    return head(path, site, dest).substr(9, 3);
  };
  for (const char* site : {"cross-site", "same-site"}) {
    EXPECT_EQ(status("/stream.mjpeg", site, "image"), "403") << site;
    EXPECT_EQ(status("/", site, "iframe"), "403") << site;
    EXPECT_EQ(status("/events", site, "empty"), "403") << site;
    EXPECT_EQ(status("/", site, "document"), "200") << "a link to the page";
  }
  EXPECT_EQ(status("/stream.mjpeg", "same-origin", "image"), "200");
  EXPECT_EQ(status("/stream.mjpeg", "none", "document"), "200") << "a typed address";
  const std::string page = head("/", "none", "document");
  for (const char* policy : {"default-src 'none'", "base-uri 'none'", "form-action 'none'"})
    EXPECT_NE(page.find(policy), std::string::npos) << policy;
}

TEST(Http, APageBehindAProxyWorks) {
  FakeTarget target("invert");
  target.picture_ns = 1;
  EventHub hub;
  HttpOptions options;
  options.hosts = {"cams.example"};
  const HttpServer server(target, hub, options);
  const auto head = [&](const std::string& path, const std::string& more) {
    Client client(server.port());
    client.send_text("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer " +
                     server.token() + "\r\n" + more + "\r\n");
    return client.read_until("\r\n\r\n");
  };
  const auto status = [&](const std::string& origin) {
    return head("/api/v1/version", "Origin: " + origin + "\r\n").substr(9, 3);
  };
  EXPECT_EQ(status("https://cams.example"), "200");
  EXPECT_EQ(status("https://cams.example:8443"), "200");
  EXPECT_EQ(status("http://cams.example"), "200");
  EXPECT_EQ(status("http://cams.example:3000"), "403") << "may be another program's page";
  EXPECT_EQ(status("https://cams.example.evil.example"), "403");
  EXPECT_EQ(status("https://evil.example"), "403");
  for (const char* path : {"/events?observe=pause", "/stream.mjpeg"})
    EXPECT_NE(head(path, "").find("X-Accel-Buffering: no"), std::string::npos) << path;
  // The cookie belongs to the folder that the browser shows.
  const auto cookie = [&](const std::string& path) { return head(path + "?token=" + server.token(), ""); };
  EXPECT_EQ(cookie("/").find("Path="), std::string::npos);
  EXPECT_NE(cookie("/api/v1/filters").find("Path=/;"), std::string::npos);
}

}  // namespace
}  // namespace lensd
