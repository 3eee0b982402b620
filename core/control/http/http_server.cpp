#include "core/control/http/http_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <exception>
#include <list>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/control/http/http_access.hpp"
#include "core/control/http/http_connection.hpp"

namespace lensd {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto kAcceptPause = std::chrono::milliseconds(100);
constexpr int kBacklog = 64;

/// An empty address would listen on all addresses.
constexpr const char* kEveryAddress = "use 127.0.0.1, or 0.0.0.0 to listen on all addresses";

HttpOptions checked(HttpOptions options) {
  if (options.address.empty()) throw Error(ExitCode::usage, "[http]", "the address is empty", kEveryAddress);
  if (!options.auth && !is_loopback(options.address))
    throw Error(ExitCode::usage, "[http]", "auth = false is allowed for loopback addresses only",
                "listen on 127.0.0.1, or keep the token");
  if (options.auth && options.token.empty()) options.token = make_token();
  return options;
}

tcp::acceptor listen_on(asio::io_context& context, const std::string& address, int port) {
  try {
    const std::string name = is_localhost(address) ? "127.0.0.1" : address;
    const auto found = tcp::resolver(context).resolve(name, std::to_string(port), tcp::resolver::passive);
    tcp::acceptor acceptor(context);
    acceptor.open(found->endpoint().protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(found->endpoint());
    acceptor.listen(kBacklog);
    return acceptor;
  } catch (const boost::system::system_error& e) {
    throw Error(ExitCode::runtime_failure, fmt::format("http {}:{}", address, port), e.code().message(),
                "choose another [http] address or port");
  }
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(ControlTarget& target, EventHub& hub, HttpOptions options)
      : options_(checked(std::move(options))),
        acceptor_(listen_on(context_, options_.address, options_.port)),
        port_(acceptor_.local_endpoint().port()),
        pause_(context_),
        loop_(std::make_shared<HttpLoop>(context_)),
        routes_(
            target, hub, options_, port_, [this] { return options_.metrics(open_, refused_); },
            [this](std::function<void()> task) { asio::post(encoder_, std::move(task)); }) {
    accept();
    thread_ = std::thread([this] { run(); });
  }

  ~Impl() {
    loop_->close();
    encoder_.stop();
    encoder_.join();
    asio::post(context_, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      while (!connections_.empty()) connections_.front()->close();
    });
    thread_.join();  // run() returns when every aborted operation has completed
  }

  const HttpOptions& options() const { return options_; }
  int port() const { return port_; }
  int connections() const { return open_; }
  uint64_t refused() const { return refused_; }

 private:
  void run() {
    for (;;) try {
        context_.run();
        return;
      } catch (const std::exception& e) {
        log::warn("http: {}", e.what());
      }
  }

  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {  // for example out of descriptors: the connection waits in the backlog
        pause_.expires_after(kAcceptPause);
        pause_.async_wait([this](boost::system::error_code) {
          if (acceptor_.is_open()) accept();
        });
        return;
      }
      accept();
      admit(std::move(socket));
    });
  }

  void admit(tcp::socket socket) {
    if (static_cast<int>(connections_.size()) >= options_.max_connections && !evict()) {
      ++refused_;
      static constexpr std::string_view kBusy =
          "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
      boost::system::error_code ignored;
      socket.non_blocking(true, ignored);
      socket.write_some(asio::buffer(kBusy), ignored);
      return;
    }
    const auto closed = [this](HttpConnection& connection) {
      connections_.remove_if([&](const auto& c) { return c.get() == &connection; });
      open_ = static_cast<int>(connections_.size());
    };
    connections_.push_back(
        std::make_shared<HttpConnection>(std::move(socket), loop_, routes_, options_, closed));
    open_ = static_cast<int>(connections_.size());
    connections_.back()->start();
  }

  /// Closes the oldest untrusted connection of the client address with the most untrusted connections, so
  /// that clients without a token cannot lock out others. Returns false if all connections are trusted.
  bool evict() {
    std::map<std::string, int> counts;
    for (const auto& c : connections_)
      if (!c->trusted()) ++counts[c->peer()];
    if (counts.empty()) return false;
    const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    const auto oldest = std::ranges::find_if(
        connections_, [&](const auto& c) { return !c->trusted() && c->peer() == most->first; });
    ++refused_;
    std::shared_ptr<HttpConnection>(*oldest)->close();
    return true;
  }

  const HttpOptions options_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  const int port_;
  asio::steady_timer pause_;
  const std::shared_ptr<HttpLoop> loop_;
  asio::thread_pool encoder_{1};  ///< encodes snapshots
  HttpRoutes routes_;
  std::list<std::shared_ptr<HttpConnection>> connections_;  ///< oldest first
  std::atomic<int> open_{0};
  std::atomic<uint64_t> refused_{0};
  std::thread thread_;
};

HttpServer::HttpServer(ControlTarget& target, EventHub& hub, HttpOptions options) try
    : impl_(std::make_unique<Impl>(target, hub, std::move(options))) {
} catch (const boost::system::system_error& e) {  // from Boost, if no thread can be started
  throw std::system_error(e.code(), e.what());
}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return impl_->port();
}
const std::string& HttpServer::token() const {
  return impl_->options().token;
}
int HttpServer::connections() const {
  return impl_->connections();
}
uint64_t HttpServer::refused() const {
  return impl_->refused();
}

std::string HttpServer::url() const {
  const HttpOptions& options = impl_->options();
  const bool six = options.address.find(':') != std::string::npos;
  std::string query = options.auth ? "?token=" + options.token : "";
  for (size_t at = 0; (at = query.find('+', at)) != std::string::npos;) query.replace(at, 1, "%2B");
  return fmt::format("http://{}{}{}:{}/{}", six ? "[" : "", options.address, six ? "]" : "", port(), query);
}

}  // namespace lensd
