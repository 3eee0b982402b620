#version 430 core
// The picture, opaque. Kept to one fetch: software GL draws such a shader several times faster.
uniform sampler2D picture;
in vec2 uv;
out vec4 colour;

void main() {
  colour = vec4(texture(picture, uv).rgb, 1.0);
}
