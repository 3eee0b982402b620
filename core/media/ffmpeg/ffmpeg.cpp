#include "core/media/ffmpeg/ffmpeg.hpp"

extern "C" {
#include <libavdevice/avdevice.h>
#include <libavutil/log.h>
}

#include <cctype>
#include <cstdarg>
#include <mutex>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/media/ffmpeg/picture_allocator.hpp"

namespace lensd::ff {
namespace {

thread_local std::string t_last_error;
thread_local bool t_cut_logged = false, t_busy_logged = false;

std::string trimmed(const char* text) {
  std::string out = text;
  while (!out.empty() && std::isspace(static_cast<unsigned char>(out.back()))) out.pop_back();
  return out;
}

/// Removes FFmpeg's prefixes: "[mov @ 0x55…] moov atom not found" becomes "moov atom not found".
std::string without_prefix(std::string text) {
  while (text.starts_with('[')) {
    const size_t end = text.find("] ");
    if (end == std::string::npos || text.find(" @ 0x") > end) break;
    text.erase(0, end + 2);
  }
  return text;
}

/// Counts an error message for the allocator of the decoder that logged it. Decoder threads have copies of
/// the codec context with the same opaque pointer; encoders have none.
void count_decoder_error(void* context) {
  if (!context || *static_cast<const AVClass**>(context) != avcodec_get_class()) return;
  const auto& codec = *static_cast<const AVCodecContext*>(context);
  if (codec.opaque) static_cast<PictureAllocator*>(codec.opaque)->count_logged_error();
}

/// Returns true if `text` is a demuxer's message that its file is truncated. Demuxers return the same end of
/// stream for complete and truncated files.
bool reports_truncation(void* context, const std::string& text) {
  if (!context || *static_cast<const AVClass**>(context) != avformat_get_class()) return false;
  for (const char* message : {"ended prematurely", "partial file", "reached eof"})
    if (text.find(message) != std::string::npos) return true;
  return false;
}

void on_log(void* context, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_WARNING) return;
  char line[1024];
  int print_prefix = 1;
  va_list copy;
  va_copy(copy, arguments);
  av_log_format_line2(context, level, format, copy, line, sizeof line, &print_prefix);
  va_end(copy);
  if (level <= AV_LOG_ERROR) count_decoder_error(context);
  // FFmpeg's messages may contain URLs with user name and password. Some have two lines.
  const std::string text = without_secrets(on_one_line(trimmed(line)));
  if (text.empty()) return;
  if (level <= AV_LOG_ERROR) t_last_error = without_prefix(text);
  if (reports_truncation(context, text)) t_cut_logged = true;
  if (text.find("HTTP error 408") != std::string::npos || text.find("HTTP error 429") != std::string::npos)
    t_busy_logged = true;
  log::debug("ffmpeg: {}", text);
}

}  // namespace

IoPtr make_io(int buffer_bytes, void* opaque, int (*read)(void*, uint8_t*, int),
              int (*write)(void*, WriteByte*, int), int64_t (*seek)(void*, int64_t, int)) {
  void* buffer = allocated(av_malloc(static_cast<size_t>(buffer_bytes)));
  AVIOContext* context = avio_alloc_context(static_cast<unsigned char*>(buffer), buffer_bytes, write ? 1 : 0,
                                            opaque, read, write, seek);
  if (!context) av_free(buffer);
  return IoPtr(allocated(context));
}

ParametersPtr copy_of(const AVCodecParameters* parameters) {
  if (!parameters) return nullptr;
  ParametersPtr copy(allocated(avcodec_parameters_alloc()));
  check_memory(avcodec_parameters_copy(copy.get(), parameters));
  return copy;
}

std::string error_text(int error) {
  char buffer[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, buffer, sizeof buffer);
  std::string text = buffer;
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    av_log_set_callback(on_log);
    avdevice_register_all();
    avformat_network_init();
  });
}

void forget_log() {
  t_last_error.clear();
}
bool take_cut_logged() {
  return std::exchange(t_cut_logged, false);
}
bool take_busy_logged() {
  return std::exchange(t_busy_logged, false);
}
std::string detailed_error(int error) {
  return t_last_error.empty() ? error_text(error) : t_last_error;
}
std::string log_hint() {
  return t_last_error.empty() ? "" : "FFmpeg says: " + t_last_error;
}

}  // namespace lensd::ff
