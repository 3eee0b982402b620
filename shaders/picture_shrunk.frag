#version 430 core
// Draws the picture at less than half its size: averages a grid of linear taps over each screen pixel's footprint.
// Needs no mipmaps. Skips no texel if the taps are at most two texels apart.
uniform sampler2D picture;
uniform vec2 footprint;  // size of a screen pixel in texture coordinates
uniform int taps;        // number of taps along each axis; a tap blends 2x2 texels
uniform vec3 dither;  // step between two screen levels if the picture has more levels, else 0
in vec2 uv;
out vec4 colour;

vec3 displayed(vec3 coded);  // in as_is.frag or display_light.frag

// Noise from -0.5 to 0.5 that differs between neighbouring pixels: interleaved gradient noise (J. Jimenez, Next Generation
// Post Processing in Call of Duty: Advanced Warfare, 2014).
float noise() {
  return fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
}

void main() {
  vec3 sum = vec3(0.0);
  for (int y = 0; y < taps; ++y) {
    for (int x = 0; x < taps; ++x) {
      vec2 offset = (vec2(x, y) + 0.5) / float(taps) - 0.5;
      sum += texture(picture, uv + offset * footprint).rgb;
    }
  }
  colour = vec4(displayed(sum / float(taps * taps)) + dither * noise(), 1.0);
}
