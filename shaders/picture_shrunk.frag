#version 430 core
// Draws the picture at less than half its size: averages a grid of linear taps over each screen pixel's footprint.
// Needs no mipmaps. Skips no texel if the taps are at most two texels apart.
uniform sampler2D picture;
uniform vec2 footprint;  // texture coordinates under one screen pixel
uniform int taps;        // number of taps along each axis; a tap blends 2x2 texels
in vec2 uv;
out vec4 colour;

void main() {
  vec3 sum = vec3(0.0);
  for (int y = 0; y < taps; ++y) {
    for (int x = 0; x < taps; ++x) {
      vec2 offset = (vec2(x, y) + 0.5) / float(taps) - 0.5;
      sum += texture(picture, uv + offset * footprint).rgb;
    }
  }
  colour = vec4(sum / float(taps * taps), 1.0);
}
