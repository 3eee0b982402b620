// Colour and orientation of a decoded AVFrame.
#pragma once

#include <array>
#include <optional>

#include "core/image/frame.hpp"
#include "core/image/picture.hpp"
#include "core/image/pixel_aspect.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Returns matrix, range, siting, transfer and primaries of `frame`, whose layout is `format`. The peak is 0.
/// Untagged streams get the defaults of common players:
///   matrix     BT.601 for JPEG and up to 1024×576, else BT.709
///   range      limited for YUV and for grey of video codecs such as H.264; full for RGB, JPEG and other grey
///   siting     centred for JPEG and MPEG-1, as their standards define it, else left
///   primaries  BT.2020 for HDR and for the BT.2020 matrix, else BT.709
ColourSpec colour_of(const AVFrame& frame, AVPixelFormat pixel_format, const PictureFormat& format,
                     AVCodecID codec);

/// Range and default of ColourSpec::peak for PQ, in cd/m².
inline constexpr uint16_t kMinPeak = 203, kMaxPeak = 10000, kDefaultPeak = 1000;

/// Returns the peak luminance in cd/m² that the frame or the stream announces, clamped to [kMinPeak,
/// kMaxPeak]: MaxCLL, else the peak of the mastering display. Returns nullopt if neither is announced.
/// `stream` may be null.
std::optional<uint16_t> peak_of(const AVFrame& frame, const AVStream* stream);

/// Returns true if the stream is Dolby Vision without a base layer in HDR10, HLG or SDR (profile 5, and 10.0
/// of AV1). Its pictures have no YCbCr matrix.
bool needs_dolby_vision(const AVStream& stream);

/// Return FFmpeg's values for the tags of a stream. Transfer::sdr and BT.709 are AVCOL_…_BT709.
AVColorTransferCharacteristic transfer_tag(Transfer transfer);
AVColorPrimaries primaries_tag(Primaries primaries);

/// Returns FFmpeg's value for a matrix, for streams and for sws_getCoefficients().
AVColorSpace colour_space_of(YuvMatrix matrix);

/// Returns FFmpeg's value for the siting of chroma.
AVChromaLocation chroma_location_of(ChromaSiting siting);

/// Returns the aspect in lowest terms. Returns square pixels if the aspect is unknown, or implausible because
/// one side is over 20 times the other.
PixelAspect pixel_aspect_of(AVRational sample_aspect_ratio);

/// Returns the orientation of an FFmpeg display matrix (9 numbers, 16.16 fixed point). Returns nullopt if it
/// is not a combination of quarter turns and flips.
std::optional<Orientation> orientation_of(const int32_t* display_matrix);

/// Returns the orientation from the display matrix of the frame, or of the stream if the frame has none, or
/// from the frame's Exif data. `stream` may be null. Returns the upright orientation if there is none of
/// these, or if the matrix is not a combination of quarter turns and flips.
Orientation orientation_of(const AVFrame& frame, const AVStream* stream);

/// Returns the display matrix of an orientation for pictures whose stored size is `extent`.
std::array<int32_t, 9> display_matrix_of(const Orientation& orientation, Extent extent);

/// Marks `frame` as interlaced with this field order, or as progressive.
void mark_fields(AVFrame& frame, FieldOrder fields);

/// Converts the field order of stored pictures to that of upright pictures, or the reverse.
FieldOrder flipped_fields(FieldOrder fields, const Orientation& orientation, int height);

/// Returns the order of the frame's fields after the orientation was applied. Returns `progressive` for
/// transposed frames, because their fields are columns, and for codecs whose decoders in FFmpeg deliver
/// fields as separate frames.
FieldOrder fields_of(const AVFrame& frame, const Orientation& orientation, AVCodecID codec);

/// Replaces colour tags that are not values of their enumerations with "unspecified". Call it first for each
/// decoded frame: decoders do not check the stream's values, and reading an invalid one as an enumeration is
/// undefined behaviour.
void drop_unknown_tags(AVFrame& frame);

}  // namespace lensd
