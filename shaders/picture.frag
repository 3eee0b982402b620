#version 430 core
// Draws the opaque picture with a single texture fetch. In software GL, this is several times faster than the other
// picture shaders.
uniform sampler2D picture;
in vec2 uv;
out vec4 colour;

void main() {
  colour = vec4(texture(picture, uv).rgb, 1.0);
}
