// The control for a matrix of weights: its size, preset kernels, and a grid of numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "ui/widgets/widgets.hpp"

namespace lensd::ui {
namespace {

constexpr float kMinCell = 34;  // logical pixels; wide enough for "-0.125"

struct PresetKernel {
  const char* name;
  Matrix matrix;
};

const std::array<PresetKernel, 11>& preset_kernels() {
  static const std::array<PresetKernel, 11> all{{
      {"identity", {3, 3, {0, 0, 0, 0, 1, 0, 0, 0, 0}}},
      {"box 3×3", {3, 3, std::vector<double>(9, 1)}},
      {"gaussian 3×3", {3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}}},
      {"gaussian 5×5",
       {5, 5, {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1}}},
      {"sharpen", {3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}}},
      {"emboss", {3, 3, {-2, -1, 0, -1, 1, 1, 0, 1, 2}}},
      {"edges", {3, 3, {-1, -1, -1, -1, 8, -1, -1, -1, -1}}},
      {"laplacian", {3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}}},
      {"sobel x", {3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}}},
      {"sobel y", {3, 3, {-1, -2, -1, 0, 0, 0, 1, 2, 1}}},
      {"motion blur", {1, 9, std::vector<double>(9, 1)}},
  }};
  return all;
}

Matrix resized(const Matrix& from, int rows, int cols) {
  Matrix to{rows, cols, std::vector<double>(static_cast<size_t>(rows) * static_cast<size_t>(cols), 0.0)};
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < cols; ++x) {
      const int fy = y + (from.rows - rows) / 2, fx = x + (from.cols - cols) / 2;
      if (fy < 0 || fx < 0 || fy >= from.rows || fx >= from.cols) continue;
      to.values[static_cast<size_t>(y * cols + x)] = from.values[static_cast<size_t>(fy * from.cols + fx)];
    }
  return to;
}

bool side_combo(const Look& look, const char* name, int& side, int most, const MarkPart& mark) {
  bool changed = false;
  ImGui::SetNextItemWidth(look.px(44));
  const bool open = begin_combo(look, fmt::format("##{}", name).c_str(), fmt::format("{}", side));
  if (mark) mark(name);
  if (!open) return false;
  for (int n = 1; n <= most; n += 2) {
    if (ImGui::Selectable(fmt::format("{}", n).c_str(), n == side) && n != side) side = n, changed = true;
    if (mark) mark(fmt::format("{}/{}", name, n));
  }
  ImGui::EndCombo();
  return changed;
}

bool kernel_combo(const Look& look, const ParamSpec& spec, Matrix& m, const MarkPart& mark) {
  bool changed = false;
  const auto same = std::ranges::find(preset_kernels(), m, &PresetKernel::matrix);
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  const bool open = begin_combo(look, "##ready", same == preset_kernels().end() ? "fill with…" : same->name);
  if (mark) mark("fill");
  if (!open) return false;
  for (const PresetKernel& kernel : preset_kernels()) {
    if (std::max(kernel.matrix.rows, kernel.matrix.cols) > static_cast<int>(spec.max)) continue;
    if (ImGui::Selectable(kernel.name, kernel.matrix == m))
      changed = !(kernel.matrix == m), m = kernel.matrix;
    if (mark) mark(fmt::format("fill/{}", kernel.name));
  }
  ImGui::EndCombo();
  return changed;
}

/// Replaces a decimal comma with a point. Discards characters that no number has.
int number_characters(ImGuiInputTextCallbackData* data) {
  if (data->EventChar == ',') data->EventChar = '.';
  return data->EventChar < 128 &&
                 std::string_view("0123456789.+-eE").find(static_cast<char>(data->EventChar)) !=
                     std::string_view::npos
             ? 0
             : 1;
}

/// Draws the field of a weight. Returns true if the text has become another number.
bool weight_field(double& weight) {
  std::string text = fmt::format("{:.4g}", weight);
  if (!input_text("##cell", text, ImGuiInputTextFlags_AutoSelectAll | ImGuiInputTextFlags_CallbackCharFilter,
                  "", number_characters))
    return false;
  double typed = 0;
  const std::string_view number = std::string_view(text).substr(text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), typed);
  if (error != std::errc{} || end != number.data() + number.size()) return false;  // such as "-" or "1e"
  return std::exchange(weight, typed) != typed;
}

bool cells(const Look& look, Matrix& m, float width, const MarkPart& mark) {
  bool changed = false;
  const float gap = look.px(2), padding = look.px(3);
  const float cell =
      std::max(std::floor((width - gap * static_cast<float>(m.cols - 1)) / static_cast<float>(m.cols)),
               look.px(kMinCell));
  const float line = ImGui::GetFontSize() + 2 * padding;
  const bool wider = cell * static_cast<float>(m.cols) + gap * static_cast<float>(m.cols - 1) > width + 1;
  const float height =
      (line + gap) * static_cast<float>(m.rows) - gap + (wider ? ImGui::GetStyle().ScrollbarSize + gap : 0);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, gap});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding, padding});
  // Wide kernels scroll horizontally.
  ImGui::BeginChild("##cells", {width, height}, false,
                    wider ? ImGuiWindowFlags_HorizontalScrollbar : ImGuiWindowFlags_NoScrollWithMouse);
  double largest = 0;
  for (const double v : m.values) largest = std::max(largest, std::abs(v));
  for (int i = 0; i < m.rows * m.cols; ++i) {
    ImGui::PushID(i);
    if (i % m.cols) ImGui::SameLine();
    ImGui::SetNextItemWidth(cell);
    double& v = m.values[static_cast<size_t>(i)];
    // Larger weights have a brighter background, to show the kernel's shape.
    const int shade = largest > 0 ? static_cast<int>(36 * std::abs(v) / largest) : 0;
    ImGui::PushStyleColor(ImGuiCol_FrameBg, toned(colour::gray(40 + shade)));
    ImGui::PushStyleColor(ImGuiCol_Text, toned(v == 0 ? colour::faint : colour::text));
    changed |= weight_field(v);
    ImGui::PopStyleColor(2);
    if (mark) mark(fmt::format("cell/{}/{}", i / m.cols, i % m.cols));
    ImGui::PopID();
  }
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  return changed;
}

}  // namespace

std::optional<ParamValue> matrix_control(const Look& look, const ParamSpec& spec, const Matrix& value,
                                         const MarkPart& mark) {
  Matrix m = value;
  const float width = ImGui::CalcItemWidth();  // read first: it applies to the next item only
  int rows = m.rows, cols = m.cols;
  bool changed = side_combo(look, "rows", rows, static_cast<int>(spec.max), mark);
  tooltip(look, "Rows");
  ImGui::SameLine(0, look.px(4));
  text_coloured(colour::dim, "×");
  ImGui::SameLine(0, look.px(4));
  changed |= side_combo(look, "cols", cols, static_cast<int>(spec.max), mark);
  tooltip(look, "Columns");
  if (changed) m = resized(m, rows, cols);
  ImGui::SameLine(0, look.px(6));
  changed |= kernel_combo(look, spec, m, mark);
  changed |= cells(look, m, width, mark);
  return changed ? std::optional<ParamValue>(std::move(m)) : std::nullopt;
}

}  // namespace lensd::ui
