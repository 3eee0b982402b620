// Constants of colour spaces.
#pragma once

namespace lensd {

/// Matrices to BT.709 in linear light. From BT.2020: BT.2087. From P3: derived from the primaries of SMPTE EG
/// 432-1.
inline constexpr double kFromBt2020[9] = {1.6605,  -0.5876, -0.0728, -0.1246, 1.1329,
                                          -0.0083, -0.0182, -0.1006, 1.1187};
inline constexpr double kFromP3[9] = {1.2249, -0.2249, 0, -0.0421, 1.0421, 0, -0.0196, -0.0786, 1.0983};
/// BT.2020 luminance.
inline constexpr double kLuminance[3] = {0.2627, 0.6780, 0.0593};

}  // namespace lensd
