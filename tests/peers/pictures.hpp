// The test pictures: noise, generated sequences, frames of clips.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/peers/peers.hpp"

namespace lensd::peers {

/// Returns uniform noise. Subsampled kinds need even sizes.
Sample noise(Kind kind, Extent extent, std::mt19937& random);

/// Returns noise of every kind, in several sizes.
std::vector<Sample> noise_samples();
/// Appends `sample`, which is rgba or gray, and a copy with 16 bits whose low 8 bits are noise.
void add_with_16_bits(std::vector<Sample>& samples, const Sample& sample);
/// Returns two frames of each of several `test:` sources, as rgba and gray with 8 and 16 bits.
std::vector<Sample> generated_samples();

/// Decodes a clip or source and calls `take` for every frame, as rgba and gray with 8 bits. Stops after
/// `most` frames. Throws Error(bad_source).
void for_each_frame(const std::string& url, int most,
                    const std::function<void(int index, const Sample& rgba, const Sample& gray)>& take);

}  // namespace lensd::peers
