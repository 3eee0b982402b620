#version 430 core
// Draws the opaque picture with a single fetch, which software GL draws several times faster.
uniform sampler2D picture;
in vec2 uv;
out vec4 colour;

void main() {
  colour = vec4(texture(picture, uv).rgb, 1.0);
}
