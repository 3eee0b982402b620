#include "core/media/ffmpeg/ffmpeg_check.hpp"

extern "C" {
#include <libavutil/log.h>
}

#include <cctype>
#include <cstdarg>
#include <mutex>

#include "core/base/log.hpp"
#include "core/media/input/picture_allocator.hpp"
#include "core/media/url.hpp"

namespace lensd::ff {
namespace {

thread_local std::string t_last_error;

std::string trimmed(const char* text) {
  std::string out = text;
  while (!out.empty() && std::isspace(static_cast<unsigned char>(out.back()))) out.pop_back();
  return out;
}

/// "[mov @ 0x55…] moov atom not found" without who said it.
std::string without_prefix(const std::string& text) {
  const size_t end = text.rfind("] ");
  return text.front() == '[' && end != std::string::npos ? text.substr(end + 2) : text;
}

/// Counts an error message for the allocator of the decoder that wrote it (decoder threads have copies of the
/// context, with the same opaque pointer). Other contexts are FFmpeg's own or encoders.
void count_complaint(void* context) {
  if (!context || *static_cast<const AVClass**>(context) != avcodec_get_class()) return;
  const auto& codec = *static_cast<const AVCodecContext*>(context);
  if (codec.opaque) static_cast<PictureAllocator*>(codec.opaque)->complain();
}

void on_log(void* context, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_WARNING) return;
  char line[1024];
  int print_prefix = 1;
  va_list copy;
  va_copy(copy, arguments);
  av_log_format_line2(context, level, format, copy, line, sizeof line, &print_prefix);
  va_end(copy);
  if (level <= AV_LOG_ERROR) count_complaint(context);
  // FFmpeg quotes URLs as they were given, with user name and password.
  const std::string text = without_secrets(trimmed(line));
  if (text.empty()) return;
  if (level <= AV_LOG_ERROR) t_last_error = without_prefix(text);
  log::debug("ffmpeg: {}", text);
}

}  // namespace

std::string error_text(int error) {
  char buffer[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, buffer, sizeof buffer);
  std::string text = buffer;
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

void capture_log() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(on_log); });
}

std::string last_log() {
  return t_last_error;
}
void forget_log() {
  t_last_error.clear();
}

}  // namespace lensd::ff
