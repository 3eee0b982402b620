// Converts the parameters of convolve to weights: integers for 8 bits, floats for 16 bits.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text/text.hpp"
#include "kernels/convolve/convolve_math.hpp"

namespace lensd {
namespace {

Matrix square(int side, std::vector<double> values) {
  return {side, side, std::move(values)};
}

Matrix box_kernel(int side) {
  return square(side, std::vector<double>(static_cast<size_t>(side * side), 1.0 / (side * side)));
}

Matrix gaussian_kernel(double sigma) {
  const int radius = std::clamp(static_cast<int>(std::ceil(3 * sigma)), 1, kConvolveMaxSide / 2);
  Matrix m{2 * radius + 1, 2 * radius + 1, {}};
  double sum = 0;
  for (int y = -radius; y <= radius; ++y)
    for (int x = -radius; x <= radius; ++x) {
      m.values.push_back(std::exp(-(x * x + y * y) / (2 * sigma * sigma)));
      sum += m.values.back();
    }
  for (double& v : m.values) v /= sum;
  return m;
}

Matrix sharpen_kernel(double a) {
  return square(3, {0, -a, 0, -a, 1 + 4 * a, -a, 0, -a, 0});
}

struct NamedKernel {
  ConvolvePreset preset;
  std::string_view name;
  Matrix kernel;
};

std::span<const NamedKernel> presets() {
  using enum ConvolvePreset;
  static const NamedKernel kPresets[] = {{identity, "identity", square(1, {1})},
                                         {box, "box", box_kernel(3)},
                                         {sharpen, "sharpen", sharpen_kernel(1)},
                                         {emboss, "emboss", square(3, {-2, -1, 0, -1, 1, 1, 0, 1, 2})},
                                         {edge, "edge", square(3, {-1, -1, -1, -1, 8, -1, -1, -1, -1})},
                                         {laplacian, "laplacian", square(3, {0, 1, 0, 1, -4, 1, 0, 1, 0})},
                                         {sobel_x, "sobel_x", square(3, {-1, 0, 1, -2, 0, 2, -1, 0, 1})},
                                         {sobel_y, "sobel_y", square(3, {-1, -2, -1, 0, 0, 0, 1, 2, 1})},
                                         {gaussian, "gaussian", gaussian_kernel(1.2)}};
  return kPresets;
}

Matrix preset_kernel(ConvolvePreset preset, const Matrix& custom) {
  for (const NamedKernel& known : presets())
    if (known.preset == preset) return known.kernel;
  return custom;
}

/// Entry of a composition: a name and an optional number in parentheses.
struct Entry {
  std::string name;
  std::optional<double> argument;
};

std::optional<Entry> parse_entry(std::string_view text) {
  const auto open = text.find('(');
  if (open == std::string_view::npos) return Entry{std::string(trimmed(text)), std::nullopt};
  if (text.back() != ')') return std::nullopt;
  const std::string_view inside = trimmed(text.substr(open + 1, text.size() - open - 2));
  double value = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), value);
  if (error != std::errc() || end != inside.data() + inside.size() || !std::isfinite(value))
    return std::nullopt;
  return Entry{std::string(trimmed(text.substr(0, open))), value};
}

std::optional<Matrix> entry_kernel(const Entry& entry, const Matrix& custom) {
  if (!entry.argument) {
    if (entry.name == "kernel") return custom;
    for (const NamedKernel& known : presets())
      if (entry.name == known.name) return known.kernel;
    return std::nullopt;
  }
  const double argument = *entry.argument;
  if (entry.name == "gaussian" && argument >= 0.1 && argument <= 10) return gaussian_kernel(argument);
  if (entry.name == "sharpen" && std::abs(argument) <= 100) return sharpen_kernel(argument);
  const int side = static_cast<int>(std::clamp(argument, 0.0, 99.0));
  if (entry.name == "box" && side == argument && side % 2 == 1 && side <= kConvolveMaxSide)
    return box_kernel(side);
  return std::nullopt;
}

/// Returns the position of the first separator, ',' or '+', outside parentheses, where numbers may contain
/// '+'.
size_t find_separator(std::string_view list) {
  int depth = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '(') ++depth;
    if (list[i] == ')') --depth;
    if (depth == 0 && (list[i] == ',' || list[i] == '+')) return i;
  }
  return std::string_view::npos;
}

/// Returns the full convolution of `a` and `b`. Correlation with the result equals correlation with `a`, then
/// with `b`.
Matrix convolved(const Matrix& a, const Matrix& b) {
  Matrix out{a.rows + b.rows - 1, a.cols + b.cols - 1, {}};
  out.values.resize(static_cast<size_t>(out.rows * out.cols));
  for (int ay = 0; ay < a.rows; ++ay)
    for (int ax = 0; ax < a.cols; ++ax)
      for (int by = 0; by < b.rows; ++by)
        for (int bx = 0; bx < b.cols; ++bx)
          out.values[static_cast<size_t>((ay + by) * out.cols + ax + bx)] +=
              a.values[static_cast<size_t>(ay * a.cols + ax)] *
              b.values[static_cast<size_t>(by * b.cols + bx)];
  return out;
}

double sum_of(const std::vector<double>& values, bool absolute) {
  double sum = 0;
  for (const double v : values) sum += absolute ? std::abs(v) : v;
  return sum;
}

/// Maximum Σ|weight| of a composed kernel. Without this limit, products of many kernels could be infinite.
constexpr double kMaxComposedSum = 1e12;

std::optional<Matrix> composed(std::string_view list, const Matrix& custom, std::string* problem) {
  const auto refuse = [&](std::string reason) -> std::optional<Matrix> {
    if (problem) *problem = std::move(reason);
    return std::nullopt;
  };
  list = trimmed(list);
  if (!list.empty() && list.front() == '[' && list.back() == ']') list = list.substr(1, list.size() - 2);
  Matrix all = square(1, {1});
  for (bool more = true; more;) {
    const size_t end = find_separator(list);
    const std::string_view item = trimmed(list.substr(0, end));
    more = end != std::string_view::npos;
    if (more) list = list.substr(end + 1);
    const auto entry = item.empty() ? std::nullopt : parse_entry(item);
    const auto kernel = entry ? entry_kernel(*entry, custom) : std::nullopt;
    if (!kernel)
      return refuse("compose: '" + std::string(item) +
                    "' is not a kernel, expected gaussian(sigma 0.1 to 10), box(odd side up to 15), "
                    "sharpen(amount), identity, emboss, edge, laplacian, sobel_x, sobel_y or kernel");
    all = convolved(all, *kernel);
    if (all.rows > kConvolveMaxSide || all.cols > kConvolveMaxSide)
      return refuse("compose: the composed kernel is larger than 15×15");
  }
  if (!(sum_of(all.values, true) <= kMaxComposedSum))  // also refuses NaN
    return refuse("compose: the weights of the composed kernel are too large");
  return all;
}

/// Returns the number of fractional bits of weights and bias; negative if weights are too large for 32-bit
/// sums. If both can be exact with 16-bit weights, returns the fewest bits for that. Otherwise returns as
/// many bits as fit in 16-bit weights, if the weights are then exact and the bias has at least 8 bits, or if
/// rounding then changes results by less than half a level. Otherwise returns as many bits as fit in 32-bit
/// sums, at most 18.
int choose_shift(const std::vector<double>& w, double bias) {
  const double reach = sum_of(w, true) * 255 + std::abs(bias) + 1;
  double largest = 0, used = 0;
  for (const double v : w) largest = std::max(largest, std::abs(v)), used += v != 0;
  const auto fits = [&](int s) {
    return std::ldexp(reach, s) + static_cast<double>(w.size()) * 255 < 2147483647.0;
  };
  const auto fits16 = [&](int s) { return std::ldexp(largest, s) <= 32000; };
  const auto is_whole = [](double v, int s) { return std::ldexp(v, s) == std::floor(std::ldexp(v, s)); };
  const auto exact = [&](int s) { return std::ranges::all_of(w, [&](double v) { return is_whole(v, s); }); };
  int most = 22;
  while (!fits(most)) --most;
  for (int s = 1; s <= most && fits16(s); ++s)
    if (exact(s) && is_whole(bias, s)) return s;
  int most16 = most;
  while (most16 > 0 && !fits16(most16)) --most16;
  const bool precise = (most16 >= 8 && exact(most16)) || used * 127.5 < std::ldexp(0.5, most16);
  if (fits16(most16) && precise) return most16;
  return std::min(most, 18);
}

/// Returns a unit in which all weights are integers of at most 8 bits. Returns nullopt if there is none or if
/// the weights are zero, tiny or huge. Differences up to 1e-12 are allowed because 1/225 and 2/225 are not
/// exact.
std::optional<double> common_unit(const std::vector<double>& w) {
  double least = std::numeric_limits<double>::infinity();
  for (const double v : w)
    if (v != 0) least = std::min(least, std::abs(v));
  if (!(least > 1e-6 && least < 1e6)) return std::nullopt;
  for (int parts = 1; parts <= 16; ++parts) {
    const double unit = least / parts;
    const auto fits = [unit](double v) {
      return std::abs(v) < 255.5 * unit && std::abs(v / unit - std::round(v / unit)) < 1e-12;
    };
    if (std::ranges::all_of(w, fits)) return unit;
  }
  return std::nullopt;
}

uint32_t packed(int low, int high) {
  return (static_cast<uint32_t>(low) & 0xffff) | static_cast<uint32_t>(high) << 16;
}

}  // namespace

Matrix convolve_kernel(const ConvolveParams& params, std::string* problem) {
  Matrix m = preset_kernel(params.preset, params.kernel);
  if (!trimmed(params.compose).empty()) {
    if (auto all = composed(params.compose, params.kernel, problem))
      m = *std::move(all);
    else
      m = square(1, {1});
  }
  const double sum = sum_of(m.values, false);
  if (params.normalize && std::abs(sum) > 1e-9)
    for (double& v : m.values) v /= sum;
  return m;
}

ConvolveBlock ConvolveBlock::make(const ConvolveParams& params) {
  const Matrix m = convolve_kernel(params);
  ConvolveBlock b{};
  b.rows = m.rows, b.cols = m.cols, b.border = params.border;
  const int shift = choose_shift(m.values, params.bias);
  b.shift = std::max(shift, 0);
  b.up = std::clamp(-shift, 0, 8);  // 1 << 8 is white already; larger shifts could overflow
  // The largest weight takes the sum of all rounding errors, so that flat areas stay exact.
  int64_t rest = std::llround(std::ldexp(sum_of(m.values, false), shift));
  size_t largest = 0;
  for (size_t i = 0; i < m.values.size(); ++i) {
    b.weights[i] = static_cast<int32_t>(std::lround(std::ldexp(m.values[i], shift)));
    rest -= b.weights[i];
    if (std::abs(b.weights[i]) > std::abs(b.weights[largest])) largest = i;
  }
  b.weights[largest] += static_cast<int32_t>(rest);
  b.bias = static_cast<int32_t>(std::lround(std::ldexp(params.bias, shift))) +
           (b.shift > 0 ? 1 << (b.shift - 1) : 0);

  const std::optional<double> common = common_unit(m.values);
  const double unit = common.value_or(1);
  b.deep_unit = static_cast<float>(unit), b.deep_exact = common.has_value();
  b.deep_bias = static_cast<float>(257 * params.bias / unit);
  for (int i = 0; i < b.rows * b.cols; ++i)
    if (const double w = m.values[static_cast<size_t>(i)]; w != 0)
      b.deep[b.deep_count++] = {static_cast<int16_t>(i / b.cols), static_cast<int16_t>(i % b.cols),
                                static_cast<float>(common ? std::round(w / unit) : w)};

  const auto weight = [&](int y, int x) { return y < 0 || x >= b.cols ? 0 : b.weights[y * b.cols + x]; };
  b.bytes = 1;
  for (size_t i = 0; i < m.values.size(); ++i)
    while (b.bytes < 4 && b.weights[i] >> (8 * b.bytes - 1) != (b.weights[i] < 0 ? -1 : 0)) ++b.bytes;
  b.wide = 0;
  for (size_t i = 0; i < m.values.size(); ++i) b.wide |= b.weights[i] > 32767 || b.weights[i] < -32768;
  const auto high = [&](int w) { return b.wide ? (w + 0x4000) >> 15 : 0; };
  const auto low = [&](int w) { return w - high(w) * 32768; };
  const auto pair = [&](int part, int u, int v) {
    return part == 0 ? packed(high(u), high(v)) : packed(low(u), low(v));
  };
  for (int y = 0; y < b.rows; y += 2)
    for (int x = 0; x < b.cols; ++x) {
      const int u = weight(y - 1, x), v = weight(y, x);
      if (u != 0 || v != 0)
        b.taps[b.taps_count++] = {static_cast<int16_t>(y), static_cast<int16_t>(x), pair(1, u, v),
                                  pair(0, u, v)};
    }
  return b;
}

}  // namespace lensd
