#include "core/base/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spdlog/details/os.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/contains.hpp"
#include "core/base/error.hpp"
#include "core/base/log_levels.hpp"
#include "core/base/log_queue.hpp"
#include "core/base/text/printable.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/base/unique_fd.hpp"
#include "core/base/whole_file.hpp"

namespace lensd::log {
namespace {

constexpr size_t kRecentLines = 500;
constexpr size_t kLogFileBytes = 16 << 20, kOldLogFiles = 3;  // bounds the disk space of a service's log

std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> recent_sink() {
  static auto sink = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kRecentLines);
  return sink;
}

constexpr auto kFinishTimeout = std::chrono::milliseconds(200);
/// Level of the messages of print(). They have no prefix.
constexpr auto kPlain = spdlog::level::off;

/// Writes to stderr. Does not use stdio, which loses text if stderr is non-blocking and has no room.
class StderrOutput final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    message.color_range_start = message.color_range_end = 0;
    if (message.level == kPlain)
      line.append(message.payload.begin(), message.payload.end());
    else
      formatter_->format(message, line);
    std::string text(line.data(), line.size());
    if (const size_t end = message.color_range_end; coloured_ && end > message.color_range_start) {
      text.insert(end, "\033[m");
      text.insert(message.color_range_start, kColours[message.level]);
    }
    write_all(STDERR_FILENO, text, [] {  // errors cannot be reported anywhere
      pollfd room{STDERR_FILENO, POLLOUT, 0};
      poll(&room, 1, -1);
      return true;
    });
  }
  void flush_() override {}

  static constexpr const char* kColours[] = {"\033[37m",        "\033[36m",        "\033[32m",
                                             "\033[33m\033[1m", "\033[31m\033[1m", "\033[1m\033[41m"};
  const bool coloured_ = spdlog::details::os::in_terminal(stderr) && spdlog::details::os::is_color_terminal();
};

struct Queues {
  std::mutex mutex;
  std::shared_ptr<LogQueue> console, file;  ///< null before init(); `file` is also null without a log file
};

Queues& queues() {
  static auto& instance = *new Queues;  // never destroyed: threads may log while the process ends
  return instance;
}

constexpr const char* kFilePattern = "%Y-%m-%dT%H:%M:%S.%e %t %l: %v";

/// Returns false if `file` is a non-empty regular file, or a link to one, that does not begin with a
/// timestamp in the form of kFilePattern.
bool may_become_log(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored) || std::filesystem::file_size(file, ignored) == 0)
    return true;
  constexpr std::string_view kTime = "0000-00-00T00:00:00.000 ";
  std::string begin(kTime.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  for (char& c : begin)
    if (c >= '0' && c <= '9') c = '0';
  return begin == kTime;
}

/// Throws Error(usage) if opening the log would write to, rename or delete a file that is not a log of lensd.
void check_file(const std::string& file) {
  for (size_t i = 0; i <= kOldLogFiles; ++i) {
    const std::string name = spdlog::sinks::rotating_file_sink_mt::calc_filename(file, i);
    if (!may_become_log(name))
      throw Error(ExitCode::usage, name, "exists and is not a log of lensd", "choose another --log-file");
  }
}

struct LogInUse : std::exception {
  const char* what() const noexcept override { return "another process writes this log"; }
};

/// Locks each log file when it is opened, including the new file after a rotation. Throws LogInUse if another
/// process has locked it. On a file system without locks, other processes are not detected.
spdlog::file_event_handlers lock_when_opened() {
  spdlog::file_event_handlers handlers;
  handlers.after_open = [](const std::string&, std::FILE* stream) {
    const int fd = fileno(stream);
    fcntl(fd, F_SETFD, FD_CLOEXEC);  // a child process must not keep the lock
    struct stat info = {};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) throw LogInUse{};
  };
  return handlers;
}

/// Returns a sink that appends to the log file and rotates it at kLogFileBytes. Older files are named
/// NAME.1.log and so on. Devices, pipes and links are not rotated. Throws LogInUse if another process has
/// locked the file, spdlog_ex if the file cannot be opened.
spdlog::sink_ptr file_sink(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(file, ignored)) {
    // Opening a FIFO only for writing waits for a reader. This descriptor is a reader and lives as long as
    // the sink.
    const auto both = std::make_shared<const UniqueFd>(open(file.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    spdlog::file_event_handlers handlers = lock_when_opened();
    handlers.after_open = [both, lock = handlers.after_open](const std::string& name, std::FILE* stream) {
      lock(name, stream);
    };
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(file, false, handlers);
  }
  const auto kind = std::filesystem::symlink_status(file, ignored).type();
  if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found)
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(file, false, lock_when_opened());
  return std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file, kLogFileBytes, kOldLogFiles, false,
                                                                lock_when_opened());
}

constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                 spdlog::level::warn, spdlog::level::err};

bool is_level(std::string_view name) {
  return contains(kLevelNames, name);
}

}  // namespace

std::string level_list() {
  constexpr std::span kNames(kLevelNames);
  return fmt::format("{} or {}", fmt::join(kNames.first(kNames.size() - 1), ", "), kNames.back());
}

void write(Level level, fmt::string_view text, fmt::format_args args) {
  const auto importance = kLevels[static_cast<size_t>(level)];
  if (spdlog::logger* logger = spdlog::default_logger_raw(); logger->should_log(importance))
    logger->log(importance, printable(without_secrets(fmt::vformat(text, args))));
}

void init(const std::string& level, const std::string& file) {
  if (!is_level(level))
    throw Error(ExitCode::usage, "--msg-level", "unknown level '" + level + "'", "one of " + level_list());
  const auto parsed = spdlog::level::from_str(level);

  const auto console = std::make_shared<LogQueue>(std::make_shared<StderrOutput>());
  console->set_pattern("lensd: %^%l%$: %v");
  console->set_level(parsed);
  std::vector<spdlog::sink_ptr> sinks{console};

  recent_sink()->set_pattern("%H:%M:%S %l: %v");
  recent_sink()->set_level(spdlog::level::info);
  sinks.push_back(recent_sink());

  std::shared_ptr<LogQueue> file_queue;
  bool in_use = false;
  if (!file.empty()) {
    check_file(file);
    try {
      file_queue = std::make_shared<LogQueue>(file_sink(file), [console](const std::string& why) {
        console->log({"lensd", spdlog::level::err, why});
      });
      file_queue->set_pattern(kFilePattern);
      sinks.push_back(file_queue);
    } catch (const LogInUse&) {
      in_use = true;
    } catch (const spdlog::spdlog_ex&) {
      throw Error(ExitCode::runtime_failure, file, "the log file cannot be written",
                  "choose another --log-file");
    }
  }
  auto logger = std::make_shared<spdlog::logger>("lensd", sinks.begin(), sinks.end());
  logger->set_level(file_queue ? spdlog::level::trace : std::min(parsed, spdlog::level::info));
  // spdlog's own handler prints to stderr and could block. After an error, such as a failed allocation, only
  // the message is lost.
  logger->set_error_handler([](const std::string&) {});
  spdlog::set_default_logger(std::move(logger));
  const std::lock_guard lock(queues().mutex);
  queues().console = console, queues().file = std::move(file_queue);
  if (in_use) warn("{}: another process writes this log; messages go to stderr only", file);
}

void print(std::string_view raw) {
  const std::string text = printable(raw, Lines::keep);
  std::shared_ptr<LogQueue> console;
  {
    const std::lock_guard lock(queues().mutex);
    console = queues().console;
  }
  if (console)
    console->log({"", kPlain, {text.data(), text.size()}});
  else
    std::fwrite(text.data(), 1, text.size(), stderr);
}

bool finish() {
  const auto deadline = std::chrono::steady_clock::now() + kFinishTimeout;
  const std::lock_guard lock(queues().mutex);
  bool finished = true;
  for (const auto& queue : {queues().file, queues().console})
    if (queue && !queue->finish(deadline - std::chrono::steady_clock::now())) finished = false;
  return finished;
}

bool set_level(const std::string& name) {
  if (!is_level(name)) return false;
  const auto parsed = spdlog::level::from_str(name);
  const auto logger = spdlog::default_logger();
  // The first sink is stderr; see init(). A log file always gets all messages.
  logger->sinks().front()->set_level(parsed);
  const bool file = logger->sinks().size() > 2;
  logger->set_level(file ? spdlog::level::trace : std::min(parsed, spdlog::level::info));
  return true;
}

std::string level() {
  const auto view = spdlog::level::to_string_view(spdlog::default_logger()->sinks().front()->level());
  const std::string name(view.data(), view.size());
  return name == "warning" ? "warn" : name;
}

std::vector<std::string> recent() {
  std::vector<std::string> lines = recent_sink()->last_formatted();
  for (std::string& line : lines)
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  return lines;
}

}  // namespace lensd::log
