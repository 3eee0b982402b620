#include "app/pipeline/flight_recorder.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds, std::chrono::nanoseconds;

std::string time_text(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

/// Writes a trace to a new file and returns its path. Adds a number to the name if another trace was written
/// in the same second.
std::string write_new(const std::string& stem, const std::string& trace) {
  for (int n = 1;; ++n) {
    const std::string path = n == 1 ? stem + ".json" : fmt::format("{}-{}.json", stem, n);
    try {
      write_whole_file(path, trace, Flush::none, MissingFolders::make, PipeReader::may_be_slow,
                       Existing::keep);
      return path;
    } catch (const Error& error) {
      if (error.code() != ExitCode::usage) throw;  // exists_error() has this code
    }
  }
}

constexpr const char* kRequested = "requested";

/// Returns the part of the file name that names the reason.
std::string name_suffix(const std::string& reason) {
  return reason == kRequested ? "key" : reason.find("took") != std::string::npos ? "slow" : "drop";
}

}  // namespace

TraceTrigger parse_trace_trigger(const std::string& text) {
  TraceTrigger trigger;
  if (text.empty() || text == "no") return trigger;
  if (text == "drop") {
    trigger.on_drop = true;
    return trigger;
  }
  char* end = nullptr;
  const double ms = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !std::isfinite(ms) || ms <= 0 || ms > 1e6)
    throw Error(ExitCode::usage, "--trace-on", "'" + text + "' is neither drop, no nor a time",
                "use drop, no, or the longest time of a frame in milliseconds, such as 25");
  trigger.over_ns = static_cast<int64_t>(ms * 1e6);
  return trigger;
}

std::string trace_folder() {
  const std::string state = state_folder();
  return state.empty() ? "lensd-traces" : state + "/traces";
}

FlightRecorder::FlightRecorder(const Timeline& timeline, Options options)
    : timeline_(timeline), options_(std::move(options)), thread_([this] { loop(); }) {}

FlightRecorder::~FlightRecorder() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void FlightRecorder::request() {
  {
    const std::lock_guard lock(mutex_);
    requested_ = true;
  }
  wake_.notify_all();
}

void FlightRecorder::frame_took(int64_t ns) noexcept {
  int64_t slowest = slowest_ns_.load(std::memory_order_relaxed);
  while (ns > slowest && !slowest_ns_.compare_exchange_weak(slowest, ns, std::memory_order_relaxed)) {
  }
}

/// Returns why the trigger requires a trace, or nullopt if it does not. Updates `seen`.
std::optional<std::string> FlightRecorder::trigger_reason(FrameLosses& seen) {
  const FrameLosses now = options_.losses();
  const FrameLosses before = std::exchange(seen, now);
  const int64_t slowest = slowest_ns_.exchange(0, std::memory_order_relaxed);
  if (options_.trigger.over_ns > 0 && slowest > options_.trigger.over_ns)
    return fmt::format("a frame took {:.1f} ms", to_ms(slowest));
  if (!options_.trigger.on_drop || now == before) return std::nullopt;
  if (now.dropped > before.dropped) return "a frame was dropped";
  if (now.late > before.late) return "a frame was late";
  if (now.not_shown > before.not_shown) return "a frame was not shown";
  return std::nullopt;
}

void FlightRecorder::loop() {
  FrameLosses seen = options_.losses();
  std::unique_lock lock(mutex_);
  const auto woken = [this] { return requested_ || stopping_; };
  while (!stopping_ || requested_) {
    if (options_.trigger.any())
      wake_.wait_for(lock, milliseconds(100), woken);
    else
      wake_.wait(lock, woken);
    const bool requested = std::exchange(requested_, false);
    lock.unlock();
    std::optional<std::string> reason;
    if (options_.trigger.any()) reason = trigger_reason(seen);
    const int64_t time_ns = now_ns();
    if (time_ns - last_automatic_ns_ < kMinIntervalNs || automatic_ >= kMaxAutomatic) reason.reset();
    if (requested) {
      reason = kRequested;
    } else if (reason) {
      last_automatic_ns_ = time_ns;
      ++automatic_;
    }
    lock.lock();
    if (!reason) continue;
    wake_.wait_for(lock, nanoseconds(kDelayNs), [this] { return stopping_; });
    lock.unlock();
    write(*reason);
    lock.lock();
  }
}

void FlightRecorder::write(const std::string& reason) {
  const std::string stem =
      fmt::format("{}/lensd-{}-{}", options_.folder, time_text("%Y%m%d-%H%M%S"), name_suffix(reason));
  try {
    const int64_t since = now_ns() - kSpanNs - kDelayNs;
    const std::string trace = timeline_.chrome_trace(
        since, {{"reason", reason}, {"source", options_.source}, {"time", time_text("%FT%T%z")}});
    const std::string path = write_new(stem, trace);
    notices_.add(false,
                 fmt::format("trace of the last 10 s ({}): {}; open it in ui.perfetto.dev", reason, path));
  } catch (const std::exception& e) {
    notices_.add(true,
                 fmt::format("cannot write a trace: {} (the folder is below XDG_STATE_HOME)", e.what()));
  }
}

}  // namespace lensd
