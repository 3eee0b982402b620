#include "core/media/ffmpeg/hdr_side_data.hpp"

extern "C" {
#include <libavutil/mastering_display_metadata.h>
}

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "core/media/ffmpeg/side_data.hpp"

namespace lensd {
namespace {

using Display = AVMasteringDisplayMetadata;
using Light = AVContentLightMetadata;

constexpr int kChromaticityUnits = 50'000, kLuminanceUnits = 10'000;

/// Stores `value` in units of 1/`units`. Returns false if it does not fit.
template <class T>
bool to_units(AVRational value, int units, T& out) {
  const double scaled = std::round(av_q2d(value) * units);
  if (!(scaled >= 0 && scaled <= std::numeric_limits<T>::max())) return false;
  out = static_cast<T>(scaled);
  return true;
}

bool to_point(const AVRational (&xy)[2], Chromaticity& out) {
  return to_units(xy[0], kChromaticityUnits, out.x) && to_units(xy[1], kChromaticityUnits, out.y);
}

void read_display(const uint8_t* data, HdrMetadata& out) {
  if (!data) return;
  const Display& display = *reinterpret_cast<const Display*>(data);
  HdrMetadata::Gamut gamut;
  bool valid = display.has_primaries && to_point(display.white_point, gamut.white);
  for (size_t i = 0; i < 3; ++i) valid = valid && to_point(display.display_primaries[i], gamut.primaries[i]);
  if (valid) out.gamut = gamut;
  HdrMetadata::Luminance luminance;
  if (display.has_luminance && to_units(display.max_luminance, kLuminanceUnits, luminance.max) &&
      to_units(display.min_luminance, kLuminanceUnits, luminance.min))
    out.luminance = luminance;
}

void read_light(const uint8_t* data, HdrMetadata& out) {
  if (!data) return;
  const Light& light = *reinterpret_cast<const Light*>(data);
  constexpr unsigned kMax = std::numeric_limits<uint16_t>::max();
  if (light.MaxCLL <= kMax && light.MaxFALL <= kMax)
    out.content = {static_cast<uint16_t>(light.MaxCLL), static_cast<uint16_t>(light.MaxFALL)};
}

Display display_of(const HdrMetadata& hdr) {
  Display out{};
  for (auto& point : out.display_primaries) point[0] = point[1] = {0, 1};
  out.white_point[0] = out.white_point[1] = out.min_luminance = out.max_luminance = {0, 1};
  const auto set = [](AVRational(&xy)[2], Chromaticity point) {
    xy[0] = {point.x, kChromaticityUnits}, xy[1] = {point.y, kChromaticityUnits};
  };
  if (hdr.gamut) {
    for (size_t i = 0; i < 3; ++i) set(out.display_primaries[i], hdr.gamut->primaries[i]);
    set(out.white_point, hdr.gamut->white);
    out.has_primaries = 1;
  }
  if (hdr.luminance) {
    out.max_luminance = {hdr.luminance->max, kLuminanceUnits};
    out.min_luminance = {hdr.luminance->min, kLuminanceUnits};
    out.has_luminance = 1;
  }
  return out;
}

struct Types {
  AVPacketSideDataType packet;
  AVFrameSideDataType frame;
};
constexpr Types kDisplay{AV_PKT_DATA_MASTERING_DISPLAY_METADATA, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA};
constexpr Types kLight{AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL};

/// Writes `hdr` into the memory that add(Types, size_t bytes) returns, once for each type.
template <class Add>
void add_all(const HdrMetadata& hdr, const Add& add) {
  if (hdr.gamut || hdr.luminance)
    *reinterpret_cast<Display*>(add(kDisplay, sizeof(Display))) = display_of(hdr);
  if (hdr.content)
    *reinterpret_cast<Light*>(add(kLight, sizeof(Light))) = {hdr.content->max_cll, hdr.content->max_fall};
}

}  // namespace

HdrMetadata hdr_metadata_of(const AVFrame& frame, const AVStream* stream) {
  HdrMetadata out;
  read_display(side_data_of(stream, kDisplay.packet, sizeof(Display)), out);
  read_display(side_data_of(frame, kDisplay.frame, sizeof(Display)), out);
  read_light(side_data_of(stream, kLight.packet, sizeof(Light)), out);
  read_light(side_data_of(frame, kLight.frame, sizeof(Light)), out);
  return out;
}

void add_hdr_metadata(AVStream& stream, const HdrMetadata& hdr) {
  add_all(hdr, [&](Types types, size_t bytes) { return add_side_data(stream, types.packet, bytes); });
}

void add_hdr_metadata(AVFrame& frame, const HdrMetadata& hdr) {
  add_all(hdr, [&](Types types, size_t bytes) { return add_side_data(frame, types.frame, bytes); });
}

#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 3, 100)  // FFmpeg 7.0

// Encoders read decoded_side_data when they are opened.
void add_to_bitstream(AVCodecContext& c, const HdrMetadata& hdr, ff::Options&) {
  add_all(hdr, [&](Types types, size_t bytes) {
    return ff::allocated(
               av_frame_side_data_new(&c.decoded_side_data, &c.nb_decoded_side_data, types.frame, bytes, 0))
        ->data;
  });
}

#else

// x264 and x265 have options for the metadata, with the units of HdrMetadata.
void add_to_bitstream(AVCodecContext& c, const HdrMetadata& hdr, ff::Options& settings) {
  const std::string_view codec = c.codec->name;
  const bool x264 = codec == "libx264";
  if (!x264 && codec != "libx265") return;
  const char* const key = x264 ? "x264-params" : "x265-params";
  if (hdr.gamut && hdr.luminance) {
    const auto& [red, green, blue] = hdr.gamut->primaries;
    const Chromaticity white = hdr.gamut->white;
    settings.append(
        key, fmt::format("{}=G({},{})B({},{})R({},{})WP({},{})L({},{})",
                         x264 ? "mastering-display" : "master-display", green.x, green.y, blue.x, blue.y,
                         red.x, red.y, white.x, white.y, hdr.luminance->max, hdr.luminance->min));
  }
  if (hdr.content)
    settings.append(
        key, fmt::format("{}={},{}", x264 ? "cll" : "max-cll", hdr.content->max_cll, hdr.content->max_fall));
}

#endif

}  // namespace lensd
