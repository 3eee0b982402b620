#include "core/media/pipewire/received_formats.hpp"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <spa/param/format.h>
#include <spa/param/param.h>

#include <algorithm>

namespace lensd {
namespace {

/// In order of preference: RGB, then YUV 4:2:2, YUV 4:2:0 and grey.
constexpr ReceivedFormat kFormats[] = {
    {SPA_VIDEO_FORMAT_RGBA, AV_PIX_FMT_RGBA},    {SPA_VIDEO_FORMAT_BGRA, AV_PIX_FMT_BGRA},
    {SPA_VIDEO_FORMAT_RGBx, AV_PIX_FMT_RGB0},    {SPA_VIDEO_FORMAT_BGRx, AV_PIX_FMT_BGR0},
    {SPA_VIDEO_FORMAT_xRGB, AV_PIX_FMT_0RGB},    {SPA_VIDEO_FORMAT_xBGR, AV_PIX_FMT_0BGR},
    {SPA_VIDEO_FORMAT_ARGB, AV_PIX_FMT_ARGB},    {SPA_VIDEO_FORMAT_ABGR, AV_PIX_FMT_ABGR},
    {SPA_VIDEO_FORMAT_RGB, AV_PIX_FMT_RGB24},    {SPA_VIDEO_FORMAT_BGR, AV_PIX_FMT_BGR24},
    {SPA_VIDEO_FORMAT_YUY2, AV_PIX_FMT_YUYV422}, {SPA_VIDEO_FORMAT_UYVY, AV_PIX_FMT_UYVY422},
    {SPA_VIDEO_FORMAT_NV12, AV_PIX_FMT_NV12},    {SPA_VIDEO_FORMAT_I420, AV_PIX_FMT_YUV420P},
    {SPA_VIDEO_FORMAT_GRAY8, AV_PIX_FMT_GRAY8}};

AVColorSpace matrix_of(spa_video_color_matrix matrix) {
  switch (matrix) {
    case SPA_VIDEO_COLOR_MATRIX_BT709:
      return AVCOL_SPC_BT709;
    case SPA_VIDEO_COLOR_MATRIX_BT601:
      return AVCOL_SPC_SMPTE170M;
    case SPA_VIDEO_COLOR_MATRIX_SMPTE240M:
      return AVCOL_SPC_SMPTE240M;
    case SPA_VIDEO_COLOR_MATRIX_BT2020:
      return AVCOL_SPC_BT2020_NCL;
    default:
      return AVCOL_SPC_UNSPECIFIED;
  }
}

/// Returns the transfer function if it is PQ, HLG or linear, because lensd treats all other functions alike.
/// The headers of PipeWire 0.3 have no names for PQ and HLG.
AVColorTransferCharacteristic transfer_of(spa_video_transfer_function transfer) {
  constexpr int kSmpte2084 = 14, kAribStdB67 = 15;
  const int value = transfer;
  return value == kSmpte2084                   ? AVCOL_TRC_SMPTE2084
         : value == kAribStdB67                ? AVCOL_TRC_ARIB_STD_B67
         : value == SPA_VIDEO_TRANSFER_GAMMA10 ? AVCOL_TRC_LINEAR
                                               : AVCOL_TRC_UNSPECIFIED;
}

AVColorPrimaries primaries_of(spa_video_color_primaries primaries) {
  constexpr int kSmpteRp431 = 10, kSmpteEg432 = 11;  // not in the headers of PipeWire 0.3
  switch (static_cast<int>(primaries)) {
    case SPA_VIDEO_COLOR_PRIMARIES_BT709:
      return AVCOL_PRI_BT709;
    case SPA_VIDEO_COLOR_PRIMARIES_BT470BG:
      return AVCOL_PRI_BT470BG;
    case SPA_VIDEO_COLOR_PRIMARIES_SMPTE170M:
      return AVCOL_PRI_SMPTE170M;
    case SPA_VIDEO_COLOR_PRIMARIES_SMPTE240M:
      return AVCOL_PRI_SMPTE240M;
    case SPA_VIDEO_COLOR_PRIMARIES_BT2020:
      return AVCOL_PRI_BT2020;
    case kSmpteRp431:
      return AVCOL_PRI_SMPTE431;
    case kSmpteEg432:
      return AVCOL_PRI_SMPTE432;
    default:
      return AVCOL_PRI_UNSPECIFIED;
  }
}

/// The planes of a picture in one block of memory.
struct BlockLayout {
  std::array<int, 4> row_bytes = {}, pitch_bytes = {};  ///< without and with padding
  std::array<size_t, 4> rows = {}, offset = {};
  size_t bytes = 0;
};

/// Returns the layout of planes that follow each other with these pitches. `even_rows`: all planes except
/// chroma are padded to an even number of rows.
BlockLayout make_layout(AVPixelFormat pixels, Extent size, const std::array<int, 4>& pitch_bytes,
                        bool even_rows) {
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(pixels);
  BlockLayout layout;
  layout.pitch_bytes = pitch_bytes;
  av_image_fill_linesizes(layout.row_bytes.data(), pixels, size.width);
  for (size_t p = 0; p < static_cast<size_t>(av_pix_fmt_count_planes(pixels)); ++p) {
    const bool chroma = p == 1 || p == 2;
    const int rows = chroma ? AV_CEIL_RSHIFT(size.height, descriptor.log2_chroma_h) : size.height;
    layout.rows[p] = static_cast<size_t>(rows);
    layout.offset[p] = layout.bytes;
    const size_t stored = layout.rows[p] + (even_rows && !chroma ? layout.rows[p] % 2 : 0);
    layout.bytes += static_cast<size_t>(pitch_bytes[p]) * stored;
  }
  return layout;
}

/// The part of a block that contains the picture.
struct Chunk {
  uint32_t offset, size;
  int32_t stride;
};

Chunk read_chunk(const spa_data& data) {
  const spa_chunk& chunk = *data.chunk;
  return {read_once(chunk.offset), read_once(chunk.size), read_once(chunk.stride)};
}

int round_up_4(int bytes) {
  return (bytes + 3) / 4 * 4;
}

/// Returns the layout that drivers and PipeWire use: the ratio of the pitches is the ratio of the row sizes.
/// `stride`: pitch of the first plane in bytes; 0: unknown.
BlockLayout packed_layout(AVPixelFormat pixels, Extent size, int stride) {
  std::array<int, 4> tight = {}, pitch = {};
  av_image_fill_linesizes(tight.data(), pixels, size.width);
  pitch[0] = stride > 0 ? stride : round_up_4(tight[0]);
  for (size_t p = 1; p < 4; ++p)
    pitch[p] = static_cast<int>((int64_t{pitch[0]} * tight[p] + tight[0] - 1) / tight[0]);
  return make_layout(pixels, size, pitch, false);
}

/// Returns GStreamer's default layout: each pitch is a multiple of 4. If chroma has half the rows, the other
/// planes are padded to an even number of rows. `stride`: see packed_layout().
BlockLayout gstreamer_layout(AVPixelFormat pixels, Extent size, int stride) {
  std::array<int, 4> pitch = {};
  av_image_fill_linesizes(pitch.data(), pixels, size.width);
  for (int& bytes : pitch) bytes = round_up_4(bytes);
  if (stride > 0) pitch[0] = stride;
  return make_layout(pixels, size, pitch, av_pix_fmt_desc_get(pixels)->log2_chroma_h > 0);
}

}  // namespace

std::span<const ReceivedFormat> received_formats() {
  return kFormats;
}

AVPixelFormat received_pixels(spa_video_format format) {
  const auto found = std::ranges::find(kFormats, format, &ReceivedFormat::spa);
  return found == std::end(kFormats) ? AV_PIX_FMT_NONE : found->pixels;
}

const spa_pod* build_request(spa_pod_builder& builder, Extent size, spa_fraction rate, spa_fraction most) {
  constexpr auto kMax = static_cast<uint32_t>(kMaxSide);
  const spa_rectangle wanted = {static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height)};
  const spa_rectangle smallest = {1, 1}, largest = {kMax, kMax};
  const spa_fraction slowest = {0, 1}, fastest = {1000, 1};
  spa_pod_frame object, choice;
  spa_pod_builder_push_object(&builder, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
  spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), 0);
  spa_pod_builder_prop(&builder, SPA_FORMAT_VIDEO_format, 0);
  spa_pod_builder_push_choice(&builder, &choice, SPA_CHOICE_Enum, 0);
  spa_pod_builder_id(&builder, kFormats[0].spa);  // the default
  for (const ReceivedFormat& format : kFormats) spa_pod_builder_id(&builder, format.spa);
  spa_pod_builder_pop(&builder, &choice);
  spa_pod_builder_add(
      &builder, SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&wanted, &smallest, &largest),
      SPA_FORMAT_VIDEO_framerate, SPA_POD_CHOICE_RANGE_Fraction(&rate, &slowest, &fastest), 0);
  if (most.num > 0)
    spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_maxFramerate,
                        SPA_POD_CHOICE_RANGE_Fraction(&most, &slowest, &most), 0);
  return static_cast<const spa_pod*>(spa_pod_builder_pop(&builder, &object));
}

const spa_meta_header* header_of(const spa_buffer& buffer) {
  return static_cast<const spa_meta_header*>(
      spa_buffer_find_meta_data(&buffer, SPA_META_Header, sizeof(spa_meta_header)));
}

bool marked_damaged(const spa_buffer& buffer) {
  const spa_meta_header* header = header_of(buffer);
  if (header && (header->flags & SPA_META_HEADER_FLAG_CORRUPTED)) return true;
  return std::any_of(buffer.datas, buffer.datas + buffer.n_datas, [](const spa_data& data) {
    return data.chunk && (data.chunk->flags & SPA_CHUNK_FLAG_CORRUPTED);
  });
}

bool find_planes(const spa_buffer& buffer, std::span<const uint8_t* const> memory, AVPixelFormat pixels,
                 Extent size, ReceivedPlanes& planes) {
  const auto count = static_cast<size_t>(av_pix_fmt_count_planes(pixels));
  const size_t blocks = std::min<size_t>(buffer.n_datas, memory.size());
  if (blocks == 0) return false;
  for (size_t i = 0; i < std::min(count, blocks); ++i)
    if (!memory[i] || !buffer.datas[i].chunk) return false;
  const Chunk first = read_chunk(buffer.datas[0]);
  const bool one_block = blocks < count;
  BlockLayout layout = packed_layout(pixels, size, first.stride);
  if (const BlockLayout other = gstreamer_layout(pixels, size, first.stride);
      one_block && first.size == other.bytes)
    layout = other;
  for (size_t p = 0; p < count; ++p) {
    const spa_data& data = buffer.datas[one_block ? 0 : p];
    const Chunk chunk = one_block || p == 0 ? first : read_chunk(data);
    if (!one_block && chunk.stride > 0) layout.pitch_bytes[p] = chunk.stride;
    if (layout.pitch_bytes[p] < layout.row_bytes[p]) return false;
    const size_t begin = one_block ? layout.offset[p] : 0;
    const size_t end = begin + static_cast<size_t>(layout.pitch_bytes[p]) * (layout.rows[p] - 1) +
                       static_cast<size_t>(layout.row_bytes[p]);
    if (end > chunk.size || chunk.offset > data.maxsize || end > data.maxsize - chunk.offset) return false;
    planes.data[p] = memory[one_block ? 0 : p] + chunk.offset + begin;
    planes.pitch_bytes[p] = layout.pitch_bytes[p];
  }
  return true;
}

void set_received_colour(const spa_video_info_raw& info, AVFrame& frame) {
  const bool rgb =
      (av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format))->flags & AV_PIX_FMT_FLAG_RGB) != 0;
  frame.colorspace = rgb ? AVCOL_SPC_RGB : matrix_of(info.color_matrix);
  frame.color_trc = transfer_of(info.transfer_function);
  frame.color_primaries = primaries_of(info.color_primaries);
  if (rgb || info.color_range == SPA_VIDEO_COLOR_RANGE_0_255)
    frame.color_range = AVCOL_RANGE_JPEG;
  else if (info.color_range == SPA_VIDEO_COLOR_RANGE_16_235)
    frame.color_range = AVCOL_RANGE_MPEG;
  else
    frame.color_range = AVCOL_RANGE_UNSPECIFIED;
}

}  // namespace lensd
