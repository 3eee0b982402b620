// Decoded pictures of random samples in all relevant layouts, for the tests of colour.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "core/image/picture.hpp"

namespace lensd::test {

struct NamedFormat {
  std::string name;  ///< FFmpeg's name of the layout
  PictureFormat format;
};
const std::vector<NamedFormat>& picture_formats();

/// A picture in host memory of exactly the needed size; all bytes are random, including unused bits.
struct HostPicture {
  std::vector<std::vector<uint8_t>> planes;
  PictureRef ref;
};
/// `bottom_up` gives negative pitches.
HostPicture random_picture(const PictureInfo& info, std::mt19937& random, int padding = 3,
                           bool bottom_up = false);

/// Returns the value of a sample, decoded as the layout defines it.
int sample_of(const PictureRef& picture, int component, int x, int y);

}  // namespace lensd::test
