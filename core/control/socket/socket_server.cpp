#include "core/control/socket/socket_server.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/wake_event.hpp"
#include "core/control/commands.hpp"
#include "core/control/socket/control_socket.hpp"
#include "core/control/socket/socket_connection.hpp"

namespace lensd {
namespace {

/// Maximum number of unanswered requests per client. Further requests stay in the client's input buffer.
constexpr int kMaxPending = 16;
/// Maximum number of requests executed per client and loop iteration, so that no client delays the others.
constexpr int kMaxRequestsPerTurn = 32;
/// Append events to a client's output only while it has fewer unsent bytes than this.
constexpr size_t kEventRoom = 64 * 1024;
/// Interval between checks that the socket's file is still there.
constexpr int64_t kFileCheckNs = 1'000'000'000;

/// Passes responses from other threads to the socket's thread. Reply callbacks share ownership of the queue:
/// responses after the server's destruction are discarded. Thread-safe.
class ResponseQueue {
 public:
  struct Item {
    uint64_t client = 0;
    std::string line;
  };

  const WakeEvent& event() const { return event_; }
  void push(uint64_t client, std::string line) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back({client, std::move(line)});
    }
    event_.set();
  }
  std::vector<Item> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(items_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Item> items_;
  WakeEvent event_;
};

}  // namespace

class SocketServer::Loop {
 public:
  Loop(ControlTarget& target, EventHub& hub, SocketOptions options, std::function<void()> pump)
      : target_(target), hub_(hub), options_(std::move(options)), pump_(std::move(pump)) {
    if (!options_.path.empty()) listening_ = std::make_unique<ControlSocket>(options_.path);
    // Without these descriptors in epoll_, the thread would never wake up.
    const bool watched = epoll_ && watch(queue_->event().fd(), EPOLLIN, kWakeId, EPOLL_CTL_ADD) &&
                         (!listening_ || watch(listening_->fd(), EPOLLIN, kListenId, EPOLL_CTL_ADD));
    if (!watched)
      throw Error(ExitCode::runtime_failure, "control socket", std::strerror(errno), "check `ulimit -n`");
  }

  void run() {
    while (!stopping_) try {
        turn();
      } catch (const std::exception& e) {  // such as a failed allocation
        log::warn("control: {}", e.what());
      }
  }

  void stop() {
    stopping_ = true;
    queue_->event().set();
  }
  void wake() noexcept {
    changed_ = true;
    queue_->event().set();
  }
  size_t clients() const { return client_count_; }
  uint64_t disconnected() const { return disconnected_; }

 private:
  static constexpr uint64_t kWakeId = 0, kListenId = 1;

  void turn() {
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(epoll_.get(), events.data(), events.size(), timeout_ms());
    for (int i = 0; i < count; ++i) handle(events[static_cast<size_t>(i)]);
    take_responses();
    if (listening_ && now_ns() - file_checked_ns_ >= kFileCheckNs) check_file();
    tick_due_ = changed_.exchange(false) || tick_due_;
    if (tick_due_ || now_ns() - ticked_ns_ >= options_.tick_ns) {
      tick_due_ = false, ticked_ns_ = now_ns();
      pump_();
      hub_.tick(target_);
    }
    serve_clients();
  }

  bool watch(int fd, uint32_t what, uint64_t id, int operation) {
    epoll_event event{};
    event.events = what, event.data.u64 = id;
    return epoll_ctl(epoll_.get(), operation, fd, &event) == 0;
  }

  int timeout_ms() const {
    if (backlog_ || tick_due_) return 0;
    // Without observers there is nothing to compare. Stuck clients and the deadlines of requests, also those
    // of HTTP, are checked once a second.
    return hub_.any() ? static_cast<int>(options_.tick_ns / 1'000'000) : 1000;
  }

  void handle(const epoll_event& event) {
    const uint64_t id = event.data.u64;  // a copy, because epoll_event is packed
    if (id == kWakeId) {
      queue_->event().clear();
    } else if (id == kListenId) {
      accept_all();
    } else if (const auto it = clients_.find(id); it != clients_.end()) {
      SocketConnection& client = *it->second;
      // The last requests of a client that has disconnected are still in the socket.
      if (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) client.receive();
      if (client.ending && (event.events & (EPOLLHUP | EPOLLERR))) stop_watching(client);
    }
  }

  /// Stops waiting for events of a client that has disconnected. Otherwise every epoll_wait() would return
  /// immediately with EPOLLHUP. The client's requests are still executed.
  void stop_watching(SocketConnection& client) {
    client.peer_gone = true, client.watched = false;
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, client.fd.get(), nullptr);
  }

  /// Listens again if the socket's file or its folder was removed. Logs one message, and another one if that
  /// works only later.
  void check_file() {
    file_checked_ns_ = now_ns();
    if (listening_->in_place()) return;
    try {
      auto next = std::make_unique<ControlSocket>(options_.path, 0);
      if (!watch(next->fd(), EPOLLIN, kListenId, EPOLL_CTL_ADD))
        throw Error(ExitCode::runtime_failure, "epoll", std::strerror(errno));
      accept_all();  // clients that connected before the file was removed
      listening_ = std::move(next);
      file_lost_ = false;
      log::warn("control socket {}: its file was removed; listening there again", options_.path);
    } catch (const std::exception& e) {
      if (!std::exchange(file_lost_, true)) log::warn("{}; its file was removed, trying again", e.what());
    }
  }

  void accept_all() {
    for (;;) {
      UniqueFd fd(accept4(listening_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd && (errno == EMFILE || errno == ENFILE)) {
        // Out of descriptors: use the spare one to accept and close the connection, or this loop would spin.
        spare_ = UniqueFd();
        const bool waiting = bool(UniqueFd(accept4(listening_->fd(), nullptr, nullptr, SOCK_CLOEXEC)));
        spare_ = UniqueFd(dup(queue_->event().fd()));
        // accept4() fails with EMFILE even if no connection waits.
        if (!waiting) return;
        continue;
      }
      if (!fd) return;
      const bool full = clients_.size() >= static_cast<size_t>(options_.max_clients);
      if (full || !is_trusted_peer(fd.get())) {
        const std::string line =
            response_line({Status::busy, full ? "too many clients" : "this socket belongs to another user"});
        [[maybe_unused]] const ssize_t ignored = send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL);
        continue;
      }
      auto client = std::make_unique<SocketConnection>(std::move(fd), next_id_++);
      client->subscriber = hub_.subscribe();
      if (!watch(client->fd.get(), client->interest, client->id, EPOLL_CTL_ADD)) continue;
      clients_.emplace(client->id, std::move(client));
      client_count_ = clients_.size();
    }
  }

  void take_responses() {
    for (const auto& [id, line] : queue_->take())
      if (const auto it = clients_.find(id); it != clients_.end()) {
        --it->second->pending;
        it->second->out += line;
      }
  }

  void serve_clients() {
    backlog_ = false;
    for (auto it = clients_.begin(); it != clients_.end();) {
      SocketConnection& client = *it->second;
      run_requests(client);
      send_events(client);
      disconnect_if_stuck(client);
      const bool done = client.ending && client.unsent() == 0 && client.pending == 0 && !client.has_line();
      if (client.dead || done) {
        it = clients_.erase(it);
        client_count_ = clients_.size();
        continue;
      }
      update_interest(client);
      ++it;
    }
  }

  void run_requests(SocketConnection& client) {
    size_t at = 0;
    for (int i = 0; !client.dead; ++i) {
      const size_t end = client.in.find('\n', at);
      if (end == std::string::npos) break;
      if (client.unsent() >= options_.max_unsent || client.pending >= kMaxPending) break;
      if (i == kMaxRequestsPerTurn) {
        backlog_ = true;
        break;
      }
      const size_t begin = std::exchange(at, end + 1);
      try {
        run_line(client, std::string_view(client.in).substr(begin, end - begin));
      } catch (const std::exception& e) {  // such as a failed allocation
        log::warn("control: disconnected a client: {}", e.what());
        client.dead = true;
      }
    }
    client.in.erase(0, at);
    if (client.in.size() > options_.max_line && !client.has_line()) {
      client.out += response_line(too_long());
      client.in.clear();
      client.ending = true;
    }
  }

  Response too_long() const {
    return {Status::usage, fmt::format("a request is longer than {} bytes", options_.max_line)};
  }

  void run_line(SocketConnection& client, std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    Json request;
    const Response parsed = line.size() > options_.max_line ? too_long() : parse_request(line, request);
    if (!parsed.ok()) {
      client.out += response_line(parsed);
      return;
    }
    const Json request_id = request.value("request_id", Json());
    ++client.pending;
    // A response that this thread makes during run_command() is appended to `out` directly. All others go
    // through the queue.
    const auto immediate = std::make_shared<std::string>();
    const auto in_call = std::make_shared<std::atomic<bool>>(true);
    const std::thread::id this_thread = std::this_thread::get_id();
    run_command(target_, request, client.subscriber.get(),
                [=, queue = queue_, client_id = client.id](const Response& response) {
                  std::string text = response_line(response, request_id);
                  if (*in_call && std::this_thread::get_id() == this_thread)
                    *immediate = std::move(text);
                  else
                    queue->push(client_id, std::move(text));
                });
    *in_call = false;
    // Tick at once, to send the first values of newly observed properties.
    tick_due_ = tick_due_ || line.find("observe") != std::string_view::npos;
    if (immediate->empty()) return;
    --client.pending;
    client.out += *immediate;
  }

  /// Sends the output. Adds events to it only while the client reads; the others stay in the subscriber's
  /// queue, which shares their texts with other clients.
  void send_events(SocketConnection& client) {
    do {
      while (client.unsent() < kEventRoom) {
        const std::vector<std::string> event = client.subscriber->take(1);
        if (event.empty()) return client.flush(options_.max_unsent);
        client.out += event.front() + "\n";
      }
      client.flush(options_.max_unsent);
    } while (client.unsent() < kEventRoom);  // else the client does not read
  }

  void disconnect_if_stuck(SocketConnection& client) {
    if (client.unsent() == 0 || now_ns() - client.last_sent_ns <= options_.stuck_ns) return;
    client.dead = true;
    ++disconnected_;
    log::warn("control: disconnected a client that read nothing for {:.0f} s; {} of its events were dropped",
              to_s(options_.stuck_ns), client.subscriber->dropped());
  }

  void update_interest(SocketConnection& client) {
    if (!client.watched) return;
    const bool read_on = !client.ending && client.unsent() < options_.max_unsent &&
                         client.pending < kMaxPending && client.in.size() <= options_.max_line;
    const uint32_t wanted = (read_on ? EPOLLIN : 0u) | (client.unsent() > 0 ? EPOLLOUT : 0u);
    if (wanted == client.interest) return;
    client.interest = wanted;
    client.dead = !watch(client.fd.get(), wanted, client.id, EPOLL_CTL_MOD);
  }

  ControlTarget& target_;
  EventHub& hub_;
  const SocketOptions options_;
  const std::function<void()> pump_;
  std::unique_ptr<ControlSocket> listening_;
  const std::shared_ptr<ResponseQueue> queue_ = std::make_shared<ResponseQueue>();
  const UniqueFd epoll_{epoll_create1(EPOLL_CLOEXEC)};
  UniqueFd spare_{dup(queue_->event().fd())};
  std::map<uint64_t, std::unique_ptr<SocketConnection>> clients_;
  uint64_t next_id_ = 2;
  int64_t ticked_ns_ = 0, file_checked_ns_ = 0;
  bool backlog_ = false, tick_due_ = true, file_lost_ = false;
  std::atomic<bool> stopping_{false}, changed_{false};
  std::atomic<size_t> client_count_{0};
  std::atomic<uint64_t> disconnected_{0};
};

SocketServer::SocketServer(ControlTarget& target, EventHub& hub, SocketOptions options,
                           std::function<void()> pump)
    : loop_(std::make_unique<Loop>(target, hub, std::move(options), std::move(pump))),
      thread_([this] { loop_->run(); }) {}

SocketServer::~SocketServer() {
  loop_->stop();
  thread_.join();
}

void SocketServer::wake() noexcept {
  loop_->wake();
}
size_t SocketServer::clients() const {
  return loop_->clients();
}
uint64_t SocketServer::disconnected() const {
  return loop_->disconnected();
}

}  // namespace lensd
