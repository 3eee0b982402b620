#include "app/pipeline/flight_recorder.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/folders.hpp"
#include "core/base/whole_file.hpp"
#include "core/graph/trace/chrome_trace.hpp"

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

/// A name that is free: two traces may be asked for within a second.
std::string free_path(const std::string& stem) {
  for (int n = 1;; ++n) {
    const std::string path = n == 1 ? stem + ".json" : fmt::format("{}-{}.json", stem, n);
    if (std::error_code unknown; !fs::exists(path, unknown)) return path;
  }
}

std::string file_word(const std::string& why) {
  return why == "asked for" ? "key" : why.find("took") != std::string::npos ? "slow" : "drop";
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
                "drop, or a frame's time in milliseconds from which a trace is written, such as 25");
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
    ending_ = true;
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

/// Why a trace is due by the trigger, if it is.
std::optional<std::string> FlightRecorder::cause(FrameLosses& seen) {
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
  const auto woken = [this] { return requested_ || ending_; };
  while (!ending_ || requested_) {
    if (options_.trigger.any())
      wake_.wait_for(lock, milliseconds(100), woken);
    else
      wake_.wait(lock, woken);
    const bool asked = std::exchange(requested_, false);
    lock.unlock();
    std::optional<std::string> why;
    if (options_.trigger.any()) why = cause(seen);
    const int64_t time_ns = now_ns();
    if (time_ns - unasked_at_ns_ < kApartNs || unasked_ >= kMostUnasked) why.reset();
    if (asked) {
      why = "asked for";
    } else if (why) {
      unasked_at_ns_ = time_ns;
      ++unasked_;
    }
    lock.lock();
    if (!why) continue;
    wake_.wait_for(lock, nanoseconds(kAfterNs), [this] { return ending_; });
    lock.unlock();
    write(*why);
    lock.lock();
  }
}

void FlightRecorder::write(const std::string& why) {
  const std::string stem =
      fmt::format("{}/lensd-{}-{}", options_.folder, time_text("%Y%m%d-%H%M%S"), file_word(why));
  try {
    const int64_t since = now_ns() - kSpanNs - kAfterNs;
    const std::string trace =
        chrome_trace(timeline_.intervals(since), timeline_.samples(since),
                     {{"reason", why}, {"source", options_.source}, {"time", time_text("%FT%T%z")}});
    const std::string path = free_path(stem);
    write_whole_file(path, trace, Flush::none);
    notice(false, fmt::format("trace of the last 10 s ({}): {}; open it in ui.perfetto.dev", why, path));
  } catch (const Error& e) {
    notice(true, fmt::format("no trace: {}; XDG_STATE_HOME says where traces go", e.what()));
  }
}

void FlightRecorder::notice(bool problem, std::string text) {
  constexpr size_t kMaxNotices = 16;
  const std::lock_guard lock(mutex_);
  if (notices_.size() < kMaxNotices) notices_.push_back({problem, std::move(text)});
}

std::vector<SinkNotice> FlightRecorder::take_notices() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notices_, {});
}

}  // namespace lensd
