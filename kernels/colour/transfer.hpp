// Transfer functions and the tone curve, in double precision. Signals and scene light are 0 to 1; luminance
// is in cd/m².
#pragma once

namespace lensd {

/// Luminance of SDR white (BT.2408), and peak luminance and system gamma of the display for which HLG is
/// converted (BT.2100).
inline constexpr double kSdrWhite = 203, kHlgPeak = 1000, kHlgGamma = 1.2;

/// BT.2100: the EOTF of PQ, where signal 1 is 10000 cd/m², and its inverse.
double pq_to_luminance(double signal);
double luminance_to_pq(double luminance);
/// BT.2100: the inverse OETF of HLG.
double hlg_to_scene(double signal);
/// BT.2020: the OETF, which is also BT.709's, and its inverse.
double scene_to_bt2020(double light);
double bt2020_to_scene(double signal);
/// IEC 61966-2-1: the signal for light on an sRGB display, and its inverse.
double srgb_of_light(double light);
double light_of_srgb(double signal);

/// BT.1886 with black level 0: the signal for light on the display.
double bt1886_of_light(double light);

/// The knee of BT.2390. With smaller values the curve is not monotonic.
inline constexpr double kKnee = 0.5;
/// BT.2390 section 5.4.1: the EETF from a source with this peak to SDR white, black level 0. Returns
/// kSdrWhite for luminances above the peak. If the peak is at most kSdrWhite, only limits the luminance to
/// kSdrWhite. The curve is the identity up to (1 + knee) · white − knee, in PQ signals divided by the PQ
/// signal of the peak.
double tone_mapped(double luminance, double peak, double knee = kKnee);

}  // namespace lensd
