// Recordings of decoded pictures in FFmpeg's formats.
#pragma once

#include <cstring>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd::test {

/// A decoded picture with random samples in a format of FFmpeg.
struct DecodedPicture {
  ff::FramePtr frame = ff::make_frame();
  PictureRef ref;

  DecodedPicture(AVPixelFormat format, Extent extent) {
    frame->format = format, frame->width = extent.width, frame->height = extent.height;
    ff::check_memory(av_frame_get_buffer(frame.get(), 0));
    ref.info.format = *picture_format(format), ref.info.extent = extent;
    ref.info.colour = {.matrix = YuvMatrix::bt601, .range = Range::limited, .siting = ChromaSiting::center};
    const int depth = ref.info.format.depth, shift = ref.info.format.components[0].shift;
    uint32_t noise = 4321;
    for (size_t p = 0; p < ref.info.format.plane_count; ++p) {
      ref.planes[p] = frame->data[p], ref.pitch_bytes[p] = frame->linesize[p];
      const size_t bytes = ref.info.plane_row_bytes(static_cast<int>(p));
      for (int y = 0; y < ref.info.plane_rows(static_cast<int>(p)); ++y)
        for (size_t i = 0; i<bytes; i += depth> 8 ? 2 : 1) {
          noise = noise * 1664525u + 1013904223u;
          uint8_t* const at = frame->data[p] + y * frame->linesize[p] + i;
          const auto sample = static_cast<uint16_t>((noise >> (32 - depth)) << shift);
          if (depth > 8)
            std::memcpy(at, &sample, sizeof sample);
          else
            *at = static_cast<uint8_t>(sample);
        }
    }
  }
};

/// Returns component `c` at column x and row y of its plane.
inline int sample_of(const PictureRef& ref, int c, int x, int y) {
  const ComponentLayout& l = ref.info.format.components[static_cast<size_t>(c)];
  const uint8_t* const at = ref.planes[l.plane] + y * ref.pitch_bytes[l.plane] + x * l.step + l.offset;
  return ref.info.format.depth > 8 ? (at[0] | at[1] << 8) >> l.shift : *at;
}

class SourceRecording : public RecordingTest {
 protected:
  /// Records `picture` three times. Returns the notice.
  std::string record_source(const PictureRef& picture, const EncoderOptions& options, const std::string& name,
                            FieldOrder fields = FieldOrder::progressive) {
    RecordSettings settings;
    settings.encoder = options;
    Recording recording(settings, 25, "");
    recording.start(target(name));
    for (int64_t i = 0; i < 3; ++i) {
      FrameInfo info = at(i);
      info.fields = fields;
      recording.write(picture, info);
    }
    const std::string notice = recording.take_notice().text;
    recording.stop();
    return notice;
  }
  /// Records `picture` to a new file. Returns its properties.
  PictureInfo recorded(const PictureRef& picture, const EncoderOptions& options,
                       const std::string& extension = ".mkv") {
    const std::string name = std::to_string(++count_) + extension;
    record_source(picture, options, name);
    return open_source(file(name), {})->info().picture;
  }
  int count_ = 0;
};

}  // namespace lensd::test
