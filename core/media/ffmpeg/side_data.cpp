#include "core/media/ffmpeg/side_data.hpp"

namespace lensd {

#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)  // FFmpeg 6.1 moved the side data of streams

const uint8_t* side_data_of(const AVStream* stream, AVPacketSideDataType type, size_t bytes) {
  if (!stream) return nullptr;
  const AVCodecParameters& codec = *stream->codecpar;
  const AVPacketSideData* data =
      av_packet_side_data_get(codec.coded_side_data, codec.nb_coded_side_data, type);
  return data && data->size >= bytes ? data->data : nullptr;
}

uint8_t* add_side_data(AVStream& stream, AVPacketSideDataType type, size_t bytes) {
  AVCodecParameters& codec = *stream.codecpar;
  return ff::allocated(
             av_packet_side_data_new(&codec.coded_side_data, &codec.nb_coded_side_data, type, bytes, 0))
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

#endif

const uint8_t* side_data_of(const AVFrame& frame, AVFrameSideDataType type, size_t bytes) {
  const AVFrameSideData* data = av_frame_get_side_data(&frame, type);
  return data && static_cast<size_t>(data->size) >= bytes ? data->data : nullptr;
}

uint8_t* add_side_data(AVFrame& frame, AVFrameSideDataType type, size_t bytes) {
  return ff::allocated(av_frame_new_side_data(&frame, type, bytes))->data;
}

}  // namespace lensd
