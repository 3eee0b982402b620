#include "core/media/ffmpeg/side_data.hpp"

#include <span>

namespace lensd {
namespace {

const uint8_t* find(std::span<const AVPacketSideData> all, AVPacketSideDataType type, size_t bytes) {
  for (const AVPacketSideData& data : all)
    if (data.type == type && data.size >= bytes) return data.data;
  return nullptr;
}

std::span<const AVPacketSideData> coded_side_data(const AVCodecContext& c) {
  return {c.coded_side_data, static_cast<size_t>(c.nb_coded_side_data)};
}

}  // namespace

#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)  // FFmpeg 6.1 moved the side data of streams

const uint8_t* side_data_of(const AVStream* stream, AVPacketSideDataType type, size_t bytes) {
  if (!stream) return nullptr;
  const AVCodecParameters& codec = *stream->codecpar;
  return find({codec.coded_side_data, static_cast<size_t>(codec.nb_coded_side_data)}, type, bytes);
}

uint8_t* add_side_data(AVStream& stream, AVPacketSideDataType type, size_t bytes) {
  AVCodecParameters& codec = *stream.codecpar;
  return ff::allocated(
             av_packet_side_data_new(&codec.coded_side_data, &codec.nb_coded_side_data, type, bytes, 0))
      ->data;
}

uint8_t* add_side_data(AVCodecContext& c, AVPacketSideDataType type, size_t bytes) {
  return ff::allocated(av_packet_side_data_new(&c.coded_side_data, &c.nb_coded_side_data, type, bytes, 0))
      ->data;
}

#else

const uint8_t* side_data_of(const AVStream* stream, AVPacketSideDataType type, size_t bytes) {
  size_t size = 0;
  const uint8_t* data = stream ? av_stream_get_side_data(stream, type, &size) : nullptr;
  return data && size >= bytes ? data : nullptr;
}

uint8_t* add_side_data(AVStream& stream, AVPacketSideDataType type, size_t bytes) {
  return ff::allocated(av_stream_new_side_data(&stream, type, bytes));
}

/// FFmpeg frees the array and its elements with the context.
uint8_t* add_side_data(AVCodecContext& c, AVPacketSideDataType type, size_t bytes) {
  const size_t count = coded_side_data(c).size();
  c.coded_side_data = static_cast<AVPacketSideData*>(
      ff::allocated(av_realloc_array(c.coded_side_data, count + 1, sizeof(AVPacketSideData))));
  auto* data = static_cast<uint8_t*>(ff::allocated(av_mallocz(bytes)));
  c.coded_side_data[count] = {data, bytes, type};
  ++c.nb_coded_side_data;
  return data;
}

#endif

const uint8_t* side_data_of(const AVCodecContext& encoder, AVPacketSideDataType type, size_t bytes) {
  return find(coded_side_data(encoder), type, bytes);
}

const uint8_t* side_data_of(const AVFrame& frame, AVFrameSideDataType type, size_t bytes) {
  const AVFrameSideData* data = av_frame_get_side_data(&frame, type);
  return data && static_cast<size_t>(data->size) >= bytes ? data->data : nullptr;
}

uint8_t* add_side_data(AVFrame& frame, AVFrameSideDataType type, size_t bytes) {
  return ff::allocated(av_frame_new_side_data(&frame, type, bytes))->data;
}

}  // namespace lensd
