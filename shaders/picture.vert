#version 430 core
// Outputs the picture's rectangle as a triangle strip without a vertex buffer.
uniform vec4 corners;  // left, top, right, bottom in clip space
out vec2 uv;

void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  uv = corner;
  gl_Position = vec4(mix(corners.xy, corners.zw, corner), 0.0, 1.0);
}
