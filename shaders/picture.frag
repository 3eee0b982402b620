#version 430 core
// Draws the opaque picture with a single texture fetch. In software GL, this is several times faster than the other
// picture shaders.
uniform sampler2D picture;
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
  colour = vec4(displayed(texture(picture, uv).rgb) + dither * noise(), 1.0);
}
