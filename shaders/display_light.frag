#version 430 core
// Converts pictures with HDR or wide-gamut colours, like DeepLight::convert() in kernels/colour/deep_light.hpp.
// The buffer is a DeepLight, whose comments describe the steps and the curves.
const int kEvenSteps = 4096, kEven = kEvenSteps + 2;
const int kOctaveSteps = 128, kOctavesBelow = 20, kOctave = 26 * kOctaveSteps + 2;
const int kSystem = kEven, kTone = kSystem + kOctave, kCode = kTone + kOctave;

layout(std430, binding = 0) readonly buffer Light {
  float curves[kCode + kOctave];
  float luminance[3];
  float gamut[9];
  uint has_system, has_tone, has_gamut;
};

float linear(float signal) {
  float place = clamp(signal, 0.0, 1.0) * kEvenSteps;
  int i = int(place);
  return mix(curves[i], curves[i + 1], place - float(i));
}

float octave(int curve, float light) {
  const float first = exp2(-float(kOctavesBelow));
  if (light < first) return curves[curve] * light / first;
  uint bits = floatBitsToUint(min(light, 63.999));
  int i = curve + int(bits >> 16) - (127 - kOctavesBelow) * kOctaveSteps;
  return mix(curves[i], curves[i + 1], float(bits & 0xffffu) / 65536.0);
}

vec3 displayed(vec3 coded) {
  vec3 light = vec3(linear(coded.r), linear(coded.g), linear(coded.b));
  if (has_system != 0u)
    light *= octave(kSystem, dot(light, vec3(luminance[0], luminance[1], luminance[2])));
  if (has_tone != 0u) {
    float most = max(max(light.r, light.g), max(light.b, 1e-9));
    light *= octave(kTone, most) / most;
  }
  if (has_gamut != 0u)
    light = vec3(dot(light, vec3(gamut[0], gamut[1], gamut[2])), dot(light, vec3(gamut[3], gamut[4], gamut[5])),
                 dot(light, vec3(gamut[6], gamut[7], gamut[8])));
  light = clamp(light, 0.0, 1.0);
  return vec3(octave(kCode, light.r), octave(kCode, light.g), octave(kCode, light.b)) / 65535.0;
}
