// ConnectPolicy refuses connections and datagrams to internal addresses before the address is contacted.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/unique_fd.hpp"
#include "core/media/input/input.hpp"
#include "tests/unit/common/local_server.hpp"

namespace lensd {
namespace {

sockaddr_in address_of(const char* host, uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

int connect_to(const char* host, uint16_t port, int type = SOCK_STREAM) {
  const UniqueFd fd(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of(host, port);
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

TEST(ConnectPolicy, AllowsInternalAddressesOfTheNamedHostOnly) {
  const Listener named("127.0.0.1"), other("127.0.0.2");
  ConnectPolicy policy;
  {
    const ConnectPolicy::Scope scope(policy);
    EXPECT_EQ(connect_to("127.0.0.2", other.port()), 0) << "before allow()";
    policy.allow("127.0.0.1");
    EXPECT_EQ(connect_to("127.0.0.1", named.port()), 0);
    EXPECT_EQ(policy.refused_address(), "");
    EXPECT_EQ(connect_to("127.0.0.2", other.port()), EACCES);
    EXPECT_EQ(policy.refused_address(), "127.0.0.2");
    EXPECT_EQ(connect_to("127.0.0.2", other.port(), SOCK_DGRAM), EACCES);
    EXPECT_EQ(connect_to("127.0.0.2", 53, SOCK_DGRAM), 0) << "a name server";
    int in_other_thread = -1;
    std::thread([&] { in_other_thread = connect_to("127.0.0.2", other.port()); }).join();
    EXPECT_EQ(in_other_thread, 0);
  }
  EXPECT_EQ(connect_to("127.0.0.2", other.port()), 0) << "after the scope";
}

int send_to(const char* host, uint16_t port) {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of(host, port);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return sendto(fd.get(), "x", 1, 0, generic, sizeof address) == 1 ? 0 : errno;
}

int send_message_to(const char* host, uint16_t port) {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = address_of(host, port);
  msghdr message = {};
  message.msg_name = &address, message.msg_namelen = sizeof address;
  return sendmsg(fd.get(), &message, 0) == 0 ? 0 : errno;
}

TEST(ConnectPolicy, DatagramsGoToTheNamedHostOnly) {
  for (const auto send : {send_to, send_message_to}) {
    ConnectPolicy policy;
    const ConnectPolicy::Scope scope(policy);
    EXPECT_EQ(send("127.0.0.2", 9), 0) << "before allow()";
    policy.allow("127.0.0.1");
    EXPECT_EQ(send("127.0.0.1", 9), 0);
    EXPECT_EQ(policy.refused_address(), "");
    EXPECT_EQ(send("127.0.0.2", 9), EACCES);
    EXPECT_EQ(send("127.0.0.2", 53), EACCES) << "a server may name any port";
    EXPECT_EQ(policy.refused_address(), "127.0.0.2");
    int in_other_thread = -1;
    std::thread([&] { in_other_thread = send("127.0.0.2", 9); }).join();
    EXPECT_EQ(in_other_thread, 0);
  }
  const UniqueFd connected(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of("127.0.0.2", 9);
  ASSERT_EQ(connect(connected.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ConnectPolicy policy;
  const ConnectPolicy::Scope scope(policy);
  policy.allow("");
  EXPECT_EQ(sendto(connected.get(), "x", 1, 0, nullptr, 0), 1) << "connect() was checked";
}

TEST(ConnectPolicy, ReceivedBytesAreLimited) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd receiver(ends[0]), sender(ends[1]);
  const std::string eight(8, 'x');
  char data[64];
  const auto receive = [&](bool with_address) {
    EXPECT_EQ(send(sender.get(), eight.data(), eight.size(), 0), 8);
    const ssize_t bytes = with_address
                              ? recvfrom(receiver.get(), data, sizeof data, MSG_DONTWAIT, nullptr, nullptr)
                              : recv(receiver.get(), data, sizeof data, MSG_DONTWAIT);
    return bytes >= 0 ? static_cast<int>(bytes) : -errno;
  };
  for (const bool with_address : {false, true}) {
    ConnectPolicy policy;
    {
      const ConnectPolicy::Scope scope(policy);
      EXPECT_EQ(receive(with_address), 8) << "without a limit";
      policy.limit_received(9);
      EXPECT_EQ(receive(with_address), 8);
      EXPECT_FALSE(policy.received_too_much());
      EXPECT_EQ(receive(with_address), 8) << "one byte of it is still allowed";
      EXPECT_TRUE(policy.received_too_much());
      EXPECT_EQ(receive(with_address), -EMSGSIZE);
      int in_other_thread = -1;
      std::thread([&] { in_other_thread = receive(with_address); }).join();
      EXPECT_EQ(in_other_thread, 8);
      policy.limit_received(1);
      EXPECT_EQ(receive(with_address), 8) << "a new limit";
    }
    EXPECT_EQ(receive(with_address), 8) << "after the scope";
  }
}

TEST(ConnectPolicy, InternalAddressesOfAPublicNameStayRefused) {
  const Listener target("127.0.0.1");
  const auto result_for = [&](std::vector<std::string> addresses) {
    ConnectPolicy policy([&](const std::string&) { return addresses; });
    const ConnectPolicy::Scope scope(policy);
    policy.allow("host.example");
    return connect_to("127.0.0.1", target.port());
  };
  EXPECT_EQ(result_for({"127.0.0.1"}), 0);
  EXPECT_EQ(result_for({"192.168.1.2", "127.0.0.1"}), 0);
  EXPECT_EQ(result_for({"93.184.216.34", "127.0.0.1"}), EACCES);
  EXPECT_EQ(result_for({"127.0.0.1", "2606:2800::1"}), EACCES);
  EXPECT_EQ(result_for({"64:ff9b::7f00:1", "127.0.0.1"}), 0) << "internal, too";
  EXPECT_EQ(result_for({"64:ff9b::5db8:d822", "127.0.0.1"}), EACCES);
  EXPECT_EQ(result_for({}), EACCES);
}

TEST(ConnectPolicy, KnowsIpv4AddressesInIpv6Addresses) {
  const auto internal = [](const char* host) {
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    EXPECT_EQ(inet_pton(AF_INET6, host, &address.sin6_addr), 1) << host;
    return is_internal_address(reinterpret_cast<const sockaddr&>(address));
  };
  for (const char* host : {"::1", "::", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::127.0.0.1",
                           "64:ff9b::192.168.1.1", "64:ff9b:1::8.8.8.8", "2002:7f00:1::", "::10.0.0.1"})
    EXPECT_TRUE(internal(host)) << host;
  for (const char* host : {"2606:2800::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::"})
    EXPECT_FALSE(internal(host)) << host;
}

TEST(ConnectPolicy, KnowsInternalAddresses) {
  const auto internal = [](const char* host) {
    const sockaddr_in address = address_of(host, 1);
    return is_internal_address(reinterpret_cast<const sockaddr&>(address));
  };
  for (const char* host : {"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
                           "100.64.0.1", "0.0.0.0", "224.0.0.1"})
    EXPECT_TRUE(internal(host)) << host;
  for (const char* host : {"8.8.8.8", "172.32.0.1", "192.169.0.1", "11.0.0.1", "100.128.0.1"})
    EXPECT_FALSE(internal(host)) << host;
}

TEST(ConnectPolicy, ARedirectionDoesNotContactAnInternalAddress) {
  const Listener server("127.0.0.1"), target("127.0.0.2");
  std::thread answer([&] {
    const UniqueFd client(accept(server.fd(), nullptr, nullptr));
    char request[4096];
    EXPECT_GT(recv(client.get(), request, sizeof request, 0), 0);
    const std::string response = fmt::format(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:{}/live.ts\r\nContent-Length: 0\r\n\r\n",
        target.port());
    send(client.get(), response.data(), response.size(), MSG_NOSIGNAL);
  });
  std::string problem;
  StopFlags stop;
  LiveOptions options;
  options.open_ns = 2'000'000'000;
  try {
    const Input input(fmt::format("http://127.0.0.1:{}/live.ts", server.port()), StreamKind::video, stop,
                      options);
  } catch (const Error& e) {
    problem = e.what();
  }
  answer.join();
  EXPECT_FALSE(target.contacted());
  EXPECT_NE(problem.find("redirects to the internal address 127.0.0.2"), std::string::npos) << problem;
}

TEST(ConnectPolicy, EndlessRedirectionsAreReported) {
  const LocalHttpServer server([](int client, const std::string&) {
    LocalHttpServer::put(client, "HTTP/1.1 302 Found\r\nLocation: /live.ts\r\nContent-Length: 0\r\n\r\n");
  });
  std::string problem;
  StopFlags stop;
  try {
    const Input input(fmt::format("http://127.0.0.1:{}/live.ts", server.port()), StreamKind::video, stop);
  } catch (const Error& e) {
    problem = e.what();
  }
  EXPECT_NE(problem.find("it redirects too many times"), std::string::npos) << problem;
}

/// Returns the response of an RTSP server that asks for datagrams to port `port` of `host`.
std::string rtsp_response(const std::string& request, const std::string& host, uint16_t port) {
  const std::string_view sdp =
      "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"
      "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:t1\r\n";
  const auto field = [&](const std::string& name) {
    const size_t at = request.find(name);
    return at == std::string::npos ? "" : request.substr(at, request.find_first_of("\r;", at) - at);
  };
  std::string head = "RTSP/1.0 200 OK\r\n" + field("CSeq:") + "\r\nSession: 1\r\n";
  if (request.starts_with("OPTIONS")) head += "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n";
  if (request.starts_with("SETUP"))
    head += fmt::format("Transport: RTP/AVP;unicast;{};server_port={}-{};source={}\r\n",
                        field("client_port="), port, port + 1, host);
  if (!request.starts_with("DESCRIBE")) return head + "\r\n";
  return head + fmt::format("Content-Type: application/sdp\r\nContent-Length: {}\r\n\r\n{}", sdp.size(), sdp);
}

/// Opens a source on an RTSP server that names `host` for datagrams. Returns true if one arrives there.
bool sends_datagrams_to(const char* host) {
  const Listener server("127.0.0.1");
  const UniqueFd datagrams(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = address_of(host, 0);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(datagrams.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  getsockname(datagrams.get(), reinterpret_cast<sockaddr*>(&address), &size);
  std::thread answer([&] {
    const UniqueFd client(accept(server.fd(), nullptr, nullptr));
    char request[4096];
    for (ssize_t bytes; (bytes = recv(client.get(), request, sizeof request, 0)) > 0;) {
      const auto response =
          rtsp_response(std::string(request, static_cast<size_t>(bytes)), host, ntohs(address.sin_port));
      send(client.get(), response.data(), response.size(), MSG_NOSIGNAL);
    }
  });
  StopFlags stop;
  LiveOptions options;
  options.open_ns = 1'000'000'000, options.rtsp_transport = "udp";
  try {
    const Input input(fmt::format("rtsp://127.0.0.1:{}/x", server.port()), StreamKind::video, stop, options);
  } catch (const Error&) {  // the server sends no pictures
  }
  answer.join();
  pollfd waiting{datagrams.get(), POLLIN, 0};
  return poll(&waiting, 1, 0) > 0;
}

TEST(ConnectPolicy, AnRtspServerCannotNameOtherInternalHostsForDatagrams) {
  EXPECT_TRUE(sends_datagrams_to("127.0.0.1"));
  EXPECT_FALSE(sends_datagrams_to("127.0.0.2"));
}

}  // namespace
}  // namespace lensd
