#include "core/base/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/url_secrets.hpp"

namespace lensd::log {
namespace {

constexpr size_t kRecentLines = 500;
constexpr size_t kLogFileBytes = 16 << 20, kOldLogFiles = 3;  // limit the disk space of a service's log

std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> recent_sink() {
  static auto sink = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kRecentLines);
  return sink;
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
      throw Error(ExitCode::usage, name, "exists and is no log of lensd", "choose another --log-file");
  }
}

/// Opens a log file that rotates at each start and at kLogFileBytes. Older files are named NAME.1.log and so
/// on. Does not rotate devices, pipes and links.
spdlog::sink_ptr file_sink(const std::string& file) {
  std::error_code ignored;
  const auto kind = std::filesystem::symlink_status(file, ignored).type();
  if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found)
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
  return std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file, kLogFileBytes, kOldLogFiles, true);
}

constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                 spdlog::level::warn, spdlog::level::err};

}  // namespace

void write(Level level, fmt::string_view text, fmt::format_args args) {
  const auto importance = kLevels[static_cast<size_t>(level)];
  if (spdlog::logger* logger = spdlog::default_logger_raw(); logger->should_log(importance))
    logger->log(importance, without_secrets(fmt::vformat(text, args)));
}

void init(const std::string& level, const std::string& file) {
  const auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off")
    throw Error(ExitCode::usage, "--msg-level", "unknown level '" + level + "'",
                "one of trace, debug, info, warn, error, off");

  auto console = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  console->set_pattern("lensd: %^%l%$: %v");
  console->set_level(parsed);
  std::vector<spdlog::sink_ptr> sinks{console};

  recent_sink()->set_pattern("%H:%M:%S %l: %v");
  recent_sink()->set_level(spdlog::level::info);
  sinks.push_back(recent_sink());

  if (!file.empty()) {
    check_file(file);
    try {
      spdlog::sink_ptr sink = file_sink(file);
      sink->set_pattern(kFilePattern);
      sinks.push_back(std::move(sink));
    } catch (const spdlog::spdlog_ex&) {
      throw Error(ExitCode::runtime_failure, file, "the log file cannot be written",
                  "choose another --log-file");
    }
  }
  auto logger = std::make_shared<spdlog::logger>("lensd", sinks.begin(), sinks.end());
  logger->set_level(file.empty() ? std::min(parsed, spdlog::level::info) : spdlog::level::trace);
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

bool set_level(const std::string& name) {
  const auto parsed = spdlog::level::from_str(name);
  if (parsed == spdlog::level::off && name != "off") return false;
  const auto logger = spdlog::default_logger();
  // init() puts stderr first. The log file always gets all messages.
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
