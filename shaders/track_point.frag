#version 430 core
// Draws a disc with a dark outline, so that it is visible on bright pictures.
uniform float radius;
in vec2 local;
in float value;
out vec4 colour;

vec3 ramp(float t) {
  const vec3 stops[4] = vec3[](vec3(0.29, 0.35, 0.86), vec3(0.13, 0.68, 0.78), vec3(0.46, 0.84, 0.36),
                               vec3(0.99, 0.86, 0.22));
  float at = clamp(t, 0.0, 1.0) * 3.0;
  int i = min(int(at), 2);
  return mix(stops[i], stops[i + 1], at - float(i));
}

void main() {
  float from_centre = length(local) * radius;
  float inside = clamp(radius - from_centre, 0.0, 1.0);
  float fill = clamp(radius - 1.4 - from_centre + 0.5, 0.0, 1.0);
  colour = vec4(ramp(value) * fill, inside * mix(0.6, 1.0, fill));
}
