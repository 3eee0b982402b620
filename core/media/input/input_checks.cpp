#include "core/media/input/input_checks.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/contains.hpp"
#include "core/base/text/text.hpp"
#include "core/base/whole_file.hpp"
#include "core/media/url.hpp"

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

constexpr size_t kHeaderAt = 16;   // offset of IHDR's data in a PNG file
constexpr size_t kHeadBytes = 26;  // signature, IHDR up to the colour type
constexpr int64_t kMaxProbedPixels = 1 << 25;
constexpr int64_t kMaxTgaBytes = 512 << 20;

uint64_t big_endian(const uint8_t* bytes) {
  return uint64_t{bytes[0]} << 24 | uint64_t{bytes[1]} << 16 | uint64_t{bytes[2]} << 8 | bytes[3];
}

/// Returns a problem if `size` bytes of a file or packet are too short for the picture with the IHDR
/// `header`.
std::string size_problem(const uint8_t* header, uint64_t size, const char* what) {
  constexpr uint64_t kChannels[] = {1, 0, 3, 1, 2, 0, 4};
  const uint64_t width = big_endian(header), height = big_endian(header + 4);
  const uint64_t channels = kChannels[std::min<size_t>(header[9], 6)];
  const uint64_t bytes = height * (width * channels * header[8] / 8);
  if (bytes / kMaxRatio <= size) return {};
  return fmt::format("the {} is too short for a picture of {}×{}", what, width, height);
}

/// Returns the data of the first IHDR chunk in `chunks`, which may begin with a signature; null if there is
/// none before the picture data.
const uint8_t* find_header(std::span<const uint8_t> chunks) {
  constexpr size_t kChunkHead = 8, kChecksum = 4, kHeaderBytes = kHeadBytes - kHeaderAt;
  size_t at = 0;
  if (chunks.size() >= sizeof kSignature && (chunks[0] == 0x89 || chunks[0] == 0x8A)) at = sizeof kSignature;
  while (at + kChunkHead + kHeaderBytes <= chunks.size()) {
    const uint8_t* const chunk = &chunks[at];
    if (std::memcmp(chunk + 4, "IHDR", 4) == 0) return chunk + kChunkHead;
    if (std::memcmp(chunk + 4, "IDAT", 4) == 0) return nullptr;
    at += kChunkHead + big_endian(chunk) + kChecksum;
  }
  return nullptr;
}

}  // namespace

bool may_wait_for_writer(const std::string& url) {
  const UrlKind kind = classify(url);
  struct stat status = {};
  if (kind == UrlKind::standard_input) return fstat(STDIN_FILENO, &status) == 0 && !S_ISREG(status.st_mode);
  return kind == UrlKind::path && is_special_file(url);
}

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
  std::array<uint8_t, kHeadBytes> head = {};
  const int64_t begin = avio_tell(&io), size = avio_size(&io);
  const int got = avio_read(&io, head.data(), head.size());
  if (avio_seek(&io, begin, SEEK_SET) < 0) return "its beginning cannot be read again";
  if (got < static_cast<int>(head.size()) || std::memcmp(head.data(), kSignature, sizeof kSignature) != 0 ||
      size <= begin)
    return {};
  return size_problem(&head[kHeaderAt], static_cast<uint64_t>(size - begin), "file");
}

std::string png_problem(const AVCodecParameters& stream, const AVPacket& packet) {
  const auto size = static_cast<uint64_t>(std::max(packet.size, 0));
  if (stream.codec_id != AV_CODEC_ID_PNG && stream.codec_id != AV_CODEC_ID_APNG) return {};
  // FFmpeg's demuxer of APNG moves the chunks before the picture data to the stream's extradata.
  const std::span<const uint8_t> data(packet.data, packet.data ? size : 0);
  const uint8_t* header = find_header(data);
  if (!header && stream.codec_id == AV_CODEC_ID_APNG && stream.extradata)
    header = find_header({stream.extradata, static_cast<size_t>(std::max(stream.extradata_size, 0))});
  return header ? size_problem(header, size, "packet") : std::string();
}

bool is_tga(AVIOContext& io) {
  std::array<uint8_t, 18> h = {};
  const int64_t size = avio_size(&io);
  const bool whole = avio_read(&io, h.data(), h.size()) == static_cast<int>(h.size());
  if (avio_seek(&io, 0, SEEK_SET) != 0 || !whole || size > kMaxTgaBytes) return false;
  const int palette = h[1], type = h[2] & ~8, bits = h[16];  // type 8 and more: run-length encoded
  const bool known = palette <= 1 && type >= 1 && type <= 3 && h[2] <= 11;
  const bool depth = bits == 8 || bits == 15 || bits == 16 || bits == 24 || bits == 32;
  return known && depth && (h[12] | h[13]) && (h[14] | h[15]);
}

bool holds_images(const AVFormatContext& context) noexcept {
  constexpr std::string_view kImages[] = {"gif", "apng", "ico", "image2pipe"};
  constexpr std::string_view kBrands[] = {"avif", "mif1", "heic", "heix"};
  const std::string_view container = context.iformat->name;
  if (contains(kImages, container) || container.ends_with("_pipe")) return true;
  const AVDictionaryEntry* brand = av_dict_get(context.metadata, "major_brand", nullptr, 0);
  return container.starts_with("mov") && brand && contains(kBrands, std::string_view(brand->value));
}

int find_stream_info(AVFormatContext& context) {
  std::vector<AVDictionary*> options(context.nb_streams, nullptr);
  for (size_t i = 0; i < options.size(); ++i)
    if (const AVCodecID id = context.streams[i]->codecpar->codec_id;
        id == AV_CODEC_ID_PNG || id == AV_CODEC_ID_APNG)
      av_dict_set_int(&options[i], "max_pixels", kMaxProbedPixels, 0);
  const int result = avformat_find_stream_info(&context, options.empty() ? nullptr : options.data());
  for (AVDictionary*& one : options) av_dict_free(&one);
  return result;
}

}  // namespace lensd
