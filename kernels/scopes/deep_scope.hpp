// Converts rows of 16-bit samples to the values that the scopes count, on the CPU.
#pragma once

#include <cstdint>

#include "kernels/scopes/scope_math.hpp"

namespace lensd {

/// Writes the samples, rounded to 8 bits.
void deep_bytes_row(const uint16_t* from, uint8_t* to, int samples);
/// Writes luma16() of each RGBA16 pixel or each Gray16 sample, rounded to 8 bits.
void deep_luma_row(const uint16_t* from, int channels, uint8_t* to, int pixels, const LumaBlock& weights);
/// Writes deep_chroma_index() of each RGBA16 pixel.
void deep_chroma_row(const uint16_t* rgba, uint16_t* index, int pixels, const ScopeBlock& block);

}  // namespace lensd
