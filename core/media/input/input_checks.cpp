#include "core/media/input/input_checks.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "core/base/text.hpp"

namespace lensd {
namespace {

/// Maximum ratio of a PNG picture's size to its file's size: the maximum compression of deflate.
constexpr uint64_t kMaxRatio = 1032;
constexpr uint8_t kSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

/// Returns true if the option or an alias of it is a string and has "file" in its name.
bool names_file(const AVFilter& filter, const AVOption& option) {
  const AVOption* other = nullptr;
  while ((other = av_opt_next(&filter.priv_class, other)))
    if (other->type == AV_OPT_TYPE_STRING && other->offset == option.offset &&
        std::string_view(other->name).find("file") != std::string_view::npos)
      return true;
  return false;
}

uint64_t big_endian(const uint8_t* bytes) {
  return uint64_t{bytes[0]} << 24 | uint64_t{bytes[1]} << 16 | uint64_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

bool reads_file(const AVFilter& filter, const std::string& arguments) {
  std::string plain = ":" + arguments;
  std::erase_if(plain, [](char c) { return std::string_view("\\' \t\n").find(c) != std::string_view::npos; });
  if (plain.find(":/") != std::string::npos) return true;
  if (!filter.priv_class || arguments.empty()) return false;
  bool any = false;
  for (const AVOption* option = nullptr; (option = av_opt_next(&filter.priv_class, option));)
    any = any || names_file(filter, *option);
  if (!any) return false;
  if (plain.size() != arguments.size() + 1) return true;  // quotes, escapes or spaces
  return std::ranges::any_of(split(arguments, ":"), [&](const std::string& part) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) return true;  // no name: the next option in FFmpeg's order
    const AVClass* type = filter.priv_class;
    const AVOption* option =
        av_opt_find(&type, part.substr(0, equals).c_str(), nullptr, 0, AV_OPT_SEARCH_FAKE_OBJ);
    return !option || names_file(filter, *option);
  });
}

std::string png_problem(AVIOContext& io) {
  std::array<uint8_t, 26> head = {};  // signature, IHDR up to the colour type
  const int64_t begin = avio_tell(&io), size = avio_size(&io);
  const int got = avio_read(&io, head.data(), head.size());
  if (avio_seek(&io, begin, SEEK_SET) < 0) return "its beginning cannot be read again";
  if (got < static_cast<int>(head.size()) || std::memcmp(head.data(), kSignature, sizeof kSignature) != 0 ||
      size <= begin)
    return {};
  constexpr uint64_t kChannels[] = {1, 0, 3, 1, 2, 0, 4};
  const uint64_t width = big_endian(&head[16]), height = big_endian(&head[20]);
  const uint64_t channels = kChannels[std::min<size_t>(head[25], 6)];
  const uint64_t bytes = height * (width * channels * head[24] / 8);
  if (bytes / kMaxRatio <= static_cast<uint64_t>(size - begin)) return {};
  return fmt::format("the file is too short for a picture of {}×{}", width, height);
}

}  // namespace lensd
