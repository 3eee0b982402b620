#version 430 core
// Draws a ribbon with soft edges that fades towards its old end.
in float across, along, value;
out vec4 colour;

vec3 ramp(float t) {  // dark blue, teal, green, yellow, with even steps in lightness
  const vec3 stops[4] = vec3[](vec3(0.29, 0.35, 0.86), vec3(0.13, 0.68, 0.78), vec3(0.46, 0.84, 0.36),
                               vec3(0.99, 0.86, 0.22));
  float at = clamp(t, 0.0, 1.0) * 3.0;
  int i = min(int(at), 2);
  return mix(stops[i], stops[i + 1], at - float(i));
}

void main() {
  colour = vec4(ramp(value), (1.0 - along) * 0.85 * smoothstep(1.0, 0.3, abs(across)));
}
