#include "app/viewer/display/screen_saver.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/log.hpp"

#if LENSD_HAS_DBUS
#include <systemd/sd-bus.h>
#endif

namespace lensd {
namespace {

/// kRetry: time between attempts, and between checks that the service still runs. kGap: how long a request is
/// kept after keep_off(false).
constexpr auto kRetry = std::chrono::seconds(10), kGap = std::chrono::seconds(3);

#if LENSD_HAS_DBUS

constexpr const char* kService = "org.freedesktop.ScreenSaver";
constexpr const char* kObject = "/org/freedesktop/ScreenSaver";
constexpr uint64_t kCallUs = 2'000'000;

struct CloseBus {
  void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
};
struct ReleaseReply {
  void operator()(sd_bus_message* reply) const { sd_bus_message_unref(reply); }
};

/// Logs, only once, why the screen saver cannot be inhibited.
void report(const char* reason) {
  static std::atomic<bool> logged{false};
  if (!logged.exchange(true)) log::info("cannot keep the screen on: {} ({})", reason, kService);
}

/// A request to keep the screen on. The destructor withdraws it.
class Inhibition {
 public:
  /// Calls the service. Returns null, with a message in the log, if it does not answer or refuses.
  static std::unique_ptr<Inhibition> begin() {
    sd_bus* opened = nullptr;
    const int error = sd_bus_open_user(&opened);
    std::unique_ptr<sd_bus, CloseBus> bus(opened);
    if (error < 0) {
      report("there is no session bus");
      return nullptr;
    }
    sd_bus_set_method_call_timeout(bus.get(), kCallUs);
    sd_bus_error problem = SD_BUS_ERROR_NULL;
    sd_bus_message* answer = nullptr;
    const int called = sd_bus_call_method(bus.get(), kService, kObject, kService, "Inhibit", &problem,
                                          &answer, "ss", "lensd", "a video is playing");
    const std::unique_ptr<sd_bus_message, ReleaseReply> reply(answer);
    uint32_t cookie = 0;
    const bool known = called >= 0 && sd_bus_message_read(reply.get(), "u", &cookie) > 0;
    if (!known) report(problem.message ? problem.message : called < 0 ? "no answer" : "unknown answer");
    sd_bus_error_free(&problem);
    if (!known) return nullptr;
    log::debug("the screen is kept on");
    const char* const sender = sd_bus_message_get_sender(reply.get());
    return std::unique_ptr<Inhibition>(new Inhibition(std::move(bus), cookie, sender ? sender : kService));
  }
  ~Inhibition() {
    sd_bus_call_method(bus_.get(), service_.c_str(), kObject, kService, "UnInhibit", nullptr, nullptr, "u",
                       cookie_);
    log::debug("the screen is no longer kept on");
  }
  /// Returns false if the service has ended or was restarted. A restarted service does not have the request.
  bool is_known() const {
    sd_bus_creds* found = nullptr;
    const char* name = nullptr;
    const bool known = sd_bus_get_name_creds(bus_.get(), kService, SD_BUS_CREDS_UNIQUE_NAME, &found) >= 0 &&
                       sd_bus_creds_get_unique_name(found, &name) >= 0 && name == service_;
    sd_bus_creds_unref(found);
    return known;
  }
  Inhibition(const Inhibition&) = delete;
  Inhibition& operator=(const Inhibition&) = delete;

 private:
  Inhibition(std::unique_ptr<sd_bus, CloseBus> bus, uint32_t cookie, std::string service)
      : bus_(std::move(bus)), cookie_(cookie), service_(std::move(service)) {}

  std::unique_ptr<sd_bus, CloseBus> bus_;
  uint32_t cookie_;
  std::string service_;  ///< unique name on the bus of the process that answered
};

#else

struct Inhibition {
  static std::unique_ptr<Inhibition> begin() { return nullptr; }
  bool is_known() const { return true; }
};

#endif

}  // namespace

struct ScreenSaver::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool on = false, cancel = false;

  void set(bool& value, bool to) {
    {
      const std::lock_guard lock(mutex);
      value = to;
    }
    changed.notify_one();
  }
  void run() {
    std::unique_ptr<Inhibition> inhibition;
    std::unique_lock lock(mutex);
    while (!cancel) {
      if (on && !inhibition) {
        lock.unlock();
        inhibition = Inhibition::begin();
        lock.lock();
        if (!inhibition) changed.wait_for(lock, kRetry, [&] { return cancel || !on; });
      } else if (!on && inhibition) {
        // Keep the request for kGap, for example between two files. Some desktops blank the screen as soon as
        // there is no request.
        if (changed.wait_for(lock, kGap, [&] { return cancel || on; })) continue;
        lock.unlock();
        inhibition.reset();
        lock.lock();
      } else if (on) {
        if (changed.wait_for(lock, kRetry, [&] { return cancel || !on; })) continue;
        lock.unlock();
        if (!inhibition->is_known()) inhibition.reset();
        lock.lock();
      } else {
        changed.wait(lock, [&] { return cancel || on; });
      }
    }
    lock.unlock();  // ~Inhibition calls the service; set() must not wait for that
  }
};

ScreenSaver::~ScreenSaver() {
  if (!shared_) return;
  shared_->set(shared_->cancel, true);
  thread_.join_within(std::chrono::milliseconds(200));
}

void ScreenSaver::keep_off(bool on) {
  if (on == std::exchange(on_, on)) return;
  if (!shared_) {
    shared_ = std::make_shared<Shared>();
    try {
      thread_ = OwnedThread([shared = shared_] { shared->run(); });
    } catch (const std::system_error&) {  // no thread: keep_off() has no effect
    }
  }
  shared_->set(shared_->on, on);
}

}  // namespace lensd
