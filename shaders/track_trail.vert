#version 430 core
// One instance per entry of the track table: outputs a ribbon through the track's last positions, newest first.
layout(std430, binding = 0) readonly buffer Ring { uint words[]; };  // consecutive tables, 10 words per track
uniform int capacity, ring, newest;
uniform int filled;        // number of valid tables in the ring
uniform int frames[32];    // frame indices of these tables, newest first
uniform vec4 to_screen;    // picture pixels to framebuffer pixels: scale, then offset
uniform vec2 framebuffer;  // size in pixels
uniform float half_width;  // framebuffer pixels
uniform int colour_by;     // 0 age, 1 residual, 2 motion
uniform float colour_full; // value of the metric for the ramp's last colour
out float across, along, value;

int base(int k) {
  return (((newest - k + ring) % ring) * capacity + gl_InstanceID) * 10;
}
vec2 position(int k) {
  int b = base(k);
  return vec2(uintBitsToFloat(words[b + 2]), uintBitsToFloat(words[b + 3])) * to_screen.xy + to_screen.zw;
}
float metric(int b) {
  if (colour_by == 0) return float(words[b + 6]);
  if (colour_by == 1) return uintBitsToFloat(words[b + 7]);
  vec2 now = vec2(uintBitsToFloat(words[b + 2]), uintBitsToFloat(words[b + 3]));
  vec2 before = vec2(uintBitsToFloat(words[b + 4]), uintBitsToFloat(words[b + 5]));
  return distance(now, before);
}

void main() {
  int b = base(0);
  uint status = words[b + 1];
  across = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;
  along = 0.0, value = 0.0;
  if (status != 1u && status != 2u) {
    gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    return;
  }
  // End the ribbon at this track's first frame, because older tables may have another track in this entry.
  int birth = frames[0] - int(words[b + 6]);
  int k = min(gl_VertexID >> 1, filled - 1);
  while (k > 0 && frames[k] < birth) --k;
  vec2 p = position(k);
  vec2 newer = k > 0 ? position(k - 1) : p;
  vec2 older = k + 1 < filled && frames[k + 1] >= birth ? position(k + 1) : p;
  vec2 direction = newer - older;
  float span = length(direction);
  vec2 normal = span > 1e-3 ? vec2(-direction.y, direction.x) / span : vec2(0.0);
  p += normal * across * half_width;
  along = float(k) / float(max(filled - 1, 1));
  value = clamp(metric(b) / colour_full, 0.0, 1.0);
  gl_Position = vec4(p / framebuffer * 2.0 - 1.0, 0.0, 1.0) * vec4(1.0, -1.0, 1.0, 1.0);
}
