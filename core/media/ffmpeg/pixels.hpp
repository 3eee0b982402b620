// Pictures in the form that encoders and swscale use: format and planes. Internal to core/media.
#pragma once

#include <optional>

#include "core/image/picture.hpp"
#include "core/image/pixel_aspect.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// FFmpeg's values for the tags of a stream.
struct StreamTags {
  AVColorSpace matrix = AVCOL_SPC_UNSPECIFIED;
  AVColorTransferCharacteristic transfer = AVCOL_TRC_UNSPECIFIED;
  AVColorPrimaries primaries = AVCOL_PRI_UNSPECIFIED;
  bool operator==(const StreamTags&) const = default;
};

/// Format of a working image, of a decoded picture or of an encoder's input.
struct PixelsFormat {
  AVPixelFormat format = AV_PIX_FMT_RGBA;
  Extent extent;
  YuvMatrix matrix = YuvMatrix::bt601;  ///< used for YUV formats only
  bool full_range = true;
  PixelAspect aspect = {};
  Transfer transfer = Transfer::sdr;         ///< for the stream's tags; not converted
  std::optional<Primaries> primaries = {};   ///< for the stream's tags; nullopt: unknown
  ChromaSiting siting = ChromaSiting::left;  ///< used for formats with subsampled chroma only
  bool alpha = false;                        ///< the pictures have transparency
  Orientation orientation = {};              ///< for the container; pictures are stored without it
  std::optional<StreamTags> tags = {};       ///< decoded pictures: the source's tags, for the stream
  bool decoded = false;                      ///< true: a picture of the source; false: a working image
  bool operator==(const PixelsFormat&) const = default;
};

struct Pixels {
  const uint8_t* planes[4] = {};
  int pitches[4] = {};  ///< bytes per row
};

PixelsFormat pixels_format(ImageFormat format, PixelAspect aspect = {}, ColourTags tags = {});
/// Returns the format of a decoded picture, or nullopt if FFmpeg has no pixel format with this layout.
std::optional<PixelsFormat> pixels_format(const PictureInfo& info, PixelAspect aspect = {});
Pixels pixels(ConstImageRef image);
Pixels pixels(const PictureRef& picture);

bool is_rgb(AVPixelFormat format);
bool is_gray(AVPixelFormat format);
bool has_alpha(AVPixelFormat format);

}  // namespace lensd
