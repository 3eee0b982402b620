#include "core/media/output/encoders/container_support.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace lensd {
namespace {

constexpr FileType kFileTypes[] = {
    {".mkv", "matroska"}, {".mp4", "mp4"}, {".mov", "mov"}, {".webm", "webm"}, {".avi", "avi"}};

using ContextPtr = std::unique_ptr<AVFormatContext, ff::Release<avformat_free_context>>;

/// Returns true if the muxer accepts a stream of this codec. The tag lists of some muxers contain codecs that
/// the muxer refuses when it starts, such as VP9 and AV1 in .mov.
bool muxer_starts(const AVOutputFormat& container, AVCodecID codec) {
  ff::initialize();
  AVFormatContext* made = nullptr;
  avformat_alloc_output_context2(&made, &container, nullptr, nullptr);
  const ContextPtr context(ff::allocated(made));
  const ff::IoPtr io = ff::make_io(4096, nullptr, nullptr, nullptr, nullptr);
  io->seekable = AVIO_SEEKABLE_NORMAL;  // .mp4 needs it; nothing is written
  context->pb = io.get();
  context->flags |= AVFMT_FLAG_CUSTOM_IO;
  AVStream* const stream = ff::allocated(avformat_new_stream(context.get(), nullptr));
  AVCodecParameters& parameters = *stream->codecpar;
  parameters.codec_type = AVMEDIA_TYPE_VIDEO, parameters.codec_id = codec;
  parameters.format = AV_PIX_FMT_YUV420P;
  parameters.width = 720, parameters.height = 576;  // PAL: DV supports only the sizes of TV standards
  stream->time_base = {1, 25}, stream->avg_frame_rate = stream->r_frame_rate = {25, 1};
  const bool starts = avformat_init_output(context.get(), nullptr) >= 0;
  ff::forget_log();
  return starts;
}

}  // namespace

std::span<const FileType> file_types() noexcept {
  return kFileTypes;
}

bool is_file_type(const AVOutputFormat& container) {
  return std::ranges::any_of(
      kFileTypes, [&](const FileType& type) { return std::string_view(container.name) == type.muxer; });
}

bool supports_video(const AVOutputFormat& container, AVCodecID codec) {
  if (avformat_query_codec(&container, codec, FF_COMPLIANCE_NORMAL) == 0) return false;
  // The muxer writes 4:2:0 as if it were RGB.
  if (std::string_view(container.name) == "mov" && codec == AV_CODEC_ID_RAWVIDEO) return false;
  return (container.flags & AVFMT_NOFILE) != 0 || muxer_starts(container, codec);
}

std::string unsupported_hint(const AVOutputFormat& container, AVCodecID codec) {
  std::vector<std::string> endings;
  for (const FileType& type : kFileTypes) {
    const AVOutputFormat* const other = av_guess_format(type.muxer, nullptr, nullptr);
    if (is_file_type(container) && other && other != &container && supports_video(*other, codec))
      endings.emplace_back(type.ending);
  }
  if (endings.empty()) return "choose another codec";
  const std::string last = endings.back();
  endings.pop_back();
  if (endings.empty()) return "use " + last;
  return fmt::format("use {} or {}", fmt::join(endings, ", "), last);
}

}  // namespace lensd
