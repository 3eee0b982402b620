#version 430 core
// Draws a comparison of pictures A and B, picture A alone, one channel of a picture, or a transparent picture on a
// checkerboard. `footprint` and `taps` are as in picture_shrunk.frag; 1 tap is a single texture fetch, or four of them if
// the picture is transparent.
uniform sampler2D picture;  // B
uniform sampler2D second;   // A
uniform vec2 footprint;
uniform int taps;
uniform int mode;     // 0: B, 1: A, 2: A left of split_x, B right of it, 3: difference of A and B
uniform int channel;  // 0: colour, 1 to 3: red, green, blue, 4: luma, 5: alpha
uniform float split_x, gain;
uniform vec3 dither;  // as in picture.frag
uniform float square;  // size of the checkerboard's squares in screen pixels; 0: the pictures are opaque
uniform bool nearest;  // the pictures' pixels are drawn as squares
in vec2 uv;
out vec4 colour;

vec3 displayed(vec3 coded);  // in as_is.frag or display_light.frag

vec4 premultiplied(vec4 p) { return vec4(p.rgb * p.a, p.a); }

// Returns the picture at `at`: the texture's value, or the premultiplied colour if the picture is transparent. For
// transparent pictures the texture's own filter is wrong, because it would mix in the colours of invisible pixels.
vec4 tap(sampler2D from, vec2 at) {
  if (square == 0.0) return texture(from, at);
  if (nearest) return premultiplied(texture(from, at));
  ivec2 last = textureSize(from, 0) - 1;
  vec2 place = at * vec2(last + 1) - 0.5;
  ivec2 low = ivec2(floor(place)), high = clamp(low + 1, ivec2(0), last);
  vec2 part = place - vec2(low);
  low = clamp(low, ivec2(0), last);
  vec4 above = mix(premultiplied(texelFetch(from, low, 0)), premultiplied(texelFetch(from, ivec2(high.x, low.y), 0)), part.x);
  vec4 below = mix(premultiplied(texelFetch(from, ivec2(low.x, high.y), 0)), premultiplied(texelFetch(from, high, 0)), part.x);
  return mix(above, below, part.y);
}

vec4 fetch(sampler2D from) {
  if (taps <= 1) return tap(from, uv);
  vec4 sum = vec4(0.0);
  for (int y = 0; y < taps; ++y)
    for (int x = 0; x < taps; ++x) {
      vec2 offset = (vec2(x, y) + 0.5) / float(taps) - 0.5;
      sum += tap(from, uv + offset * footprint);
    }
  return sum / float(taps * taps);
}

// Returns a premultiplied colour on the checkerboard.
vec3 on_checkerboard(vec4 p) {
  vec2 place = floor(gl_FragCoord.xy / square);
  vec3 board = vec3(mod(place.x + place.y, 2.0) < 1.0 ? 0.40 : 0.52);
  return p.a == 0.0 ? board : mix(board, displayed(p.rgb / p.a), p.a);
}

vec3 view(vec4 p) {
  if (channel == 0) return p.rgb;
  if (channel == 4) return vec3(dot(p.rgb, vec3(0.2126, 0.7152, 0.0722)));
  return vec3(channel == 5 ? p.a : p[channel - 1]);
}

// Returns a colour from black through violet, red and orange to white, with increasing lightness.
vec3 heat(float t) {
  const vec3 stops[5] = vec3[](vec3(0.02), vec3(0.30, 0.07, 0.48), vec3(0.80, 0.16, 0.32), vec3(0.98, 0.62, 0.12),
                               vec3(1.0, 0.98, 0.86));
  float at = clamp(t, 0.0, 1.0) * 4.0;
  int i = min(int(at), 3);
  return mix(stops[i], stops[i + 1], at - float(i));
}

// As in picture.frag.
float noise() {
  return fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
}

void main() {
  if (mode == 3) {
    vec3 d = abs(view(fetch(picture)) - view(fetch(second)));
    colour = vec4(heat(max(d.r, max(d.g, d.b)) * gain), 1.0);
  } else {
    bool left = mode == 1 || (mode == 2 && gl_FragCoord.x < split_x);
    vec4 shown = left ? fetch(second) : fetch(picture);
    vec3 screen = square > 0.0 ? on_checkerboard(shown) : view(vec4(displayed(shown.rgb), shown.a));
    colour = vec4(screen + dither * noise(), 1.0);
  }
}
