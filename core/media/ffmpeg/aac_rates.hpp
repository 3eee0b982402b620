// Sample rates of AAC by their index in the stream (ISO/IEC 14496-3, table 1.18).
#pragma once

namespace lensd {

inline constexpr int kAacRates[] = {96000, 88200, 64000, 48000, 44100, 32000, 24000,
                                    22050, 16000, 12000, 11025, 8000,  7350};

}  // namespace lensd
