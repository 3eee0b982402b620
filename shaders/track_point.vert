#version 430 core
// One instance per entry of the track table: outputs a square around the track's newest position.
// Uniforms without a comment are as in track_trail.vert.
layout(std430, binding = 0) readonly buffer Ring { uint words[]; };
uniform int capacity, newest;
uniform vec4 to_screen;
uniform vec2 framebuffer;
uniform float radius;  // framebuffer pixels, outline included
uniform int colour_by;
uniform float colour_full;
out vec2 local;
out float value;

void main() {
  int b = (newest * capacity + gl_InstanceID) * 10;
  uint status = words[b + 1];
  vec2 now = vec2(uintBitsToFloat(words[b + 2]), uintBitsToFloat(words[b + 3]));
  vec2 before = vec2(uintBitsToFloat(words[b + 4]), uintBitsToFloat(words[b + 5]));
  local = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  float metric = colour_by == 0 ? float(words[b + 6])
               : colour_by == 1 ? uintBitsToFloat(words[b + 7]) : distance(now, before);
  value = clamp(metric / colour_full, 0.0, 1.0);
  vec2 p = now * to_screen.xy + to_screen.zw + local * radius;
  if (status != 1u && status != 2u) p = vec2(-10.0) * framebuffer;
  gl_Position = vec4(p / framebuffer * 2.0 - 1.0, 0.0, 1.0) * vec4(1.0, -1.0, 1.0, 1.0);
}
