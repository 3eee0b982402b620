#include "core/base/param.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <sstream>

#include "core/base/contains.hpp"

namespace lensd {
namespace {

std::string sentence(const ParamSpec& spec, const std::string& value) {
  return fmt::format("{} = {} is not allowed, expected {}", spec.name, value, spec.allowed());
}

bool in_range(const ParamSpec& spec, double value) {
  return std::isfinite(value) && value >= spec.min && value <= spec.max &&
         (spec.widget != Widget::odd_slider || std::fmod(value, 2.0) == 1.0);
}

bool acceptable(const ParamSpec& spec, const Matrix& m) {
  const auto side = [&](int n) { return n >= 1 && n <= static_cast<int>(spec.max) && n % 2 == 1; };
  return side(m.rows) && side(m.cols) &&
         m.values.size() == static_cast<size_t>(m.rows) * static_cast<size_t>(m.cols) &&
         std::ranges::all_of(m.values, [](double v) { return std::abs(v) <= kMaxMatrixValue; });
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  // from_chars() would accept a minus sign after the plus sign.
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns "[[1, 2], [3, 4]]" in the form "1 2;3 4", and text without brackets unchanged. Returns nullopt if
/// brackets or commas are misplaced.
std::optional<std::string> without_brackets(const std::string& text) {
  if (!text.starts_with('[')) return text;
  std::string rows;
  int depth = 0;
  for (const char c : text) {
    if (c == '[' && ++depth == 2 && !rows.empty()) rows += ';';
    if (c == ']') --depth;
    if (depth < 0 || depth > 2) return std::nullopt;
    if (c == '[' || c == ']') continue;
    if (depth == 2)
      rows += c == ',' ? ' ' : c;
    else if (c != ',' && c != ' ')
      return std::nullopt;
  }
  return depth == 0 ? std::optional(rows) : std::nullopt;
}

/// Parses "[[1, 2, 1], [2, 4, 2], [1, 2, 1]]" or "1 2 1;2 4 2;1 2 1". Returns nullopt if a number is invalid
/// or rows differ in length.
std::optional<Matrix> matrix(const std::string& text) {
  Matrix m;
  const auto plain = without_brackets(text);
  if (!plain) return std::nullopt;
  std::istringstream rows(*plain + ";");
  for (std::string row; std::getline(rows, row, ';'); ++m.rows) {
    std::istringstream words(row);
    int cols = 0;
    for (std::string word; words >> word; ++cols) {
      const auto value = number(word);
      if (!value) return std::nullopt;
      m.values.push_back(*value);
    }
    if (m.rows == 0) m.cols = cols;
    if (cols != m.cols) return std::nullopt;
  }
  return m;
}

}  // namespace

std::string to_string(const ParamValue& value) {
  struct Visitor {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const Matrix& m) const {
      std::string out = "[";
      for (int y = 0; y < m.rows; ++y) {
        const auto row = m.values.begin() + std::ptrdiff_t{y} * m.cols;
        out += fmt::format("{}[{}]", y ? ", " : "", fmt::join(row, row + m.cols, ", "));
      }
      return out + "]";
    }
  };
  return std::visit(Visitor{}, value);
}

std::string ParamSpec::allowed() const {
  const std::string upper = max >= INT_MAX ? "or more" : fmt::format("to {}", max);
  const std::string range = fmt::format("{} {}{}{}", min, upper, unit.empty() ? "" : " ", unit);
  switch (type) {
    case ParamType::boolean:
      return "true or false";
    case ParamType::integer:
      return (widget == Widget::odd_slider ? "an odd number " : "a whole number ") + range;
    case ParamType::real:
      return "a number " + range;
    case ParamType::choice:
      return fmt::format("one of {}", fmt::join(choices, ", "));
    case ParamType::text:
      return "text";
    case ParamType::matrix:
      return fmt::format("rows of finite numbers from -{0} to {0}, odd height and width up to {1}×{1}",
                         kMaxMatrixValue, max);
  }
  return {};
}

std::optional<std::string> ParamSpec::check(const ParamValue& value, ParamValue& converted) const {
  const auto refuse = [&] {
    const bool quoted = std::holds_alternative<std::string>(value);
    return std::optional<std::string>(
        sentence(*this, quoted ? fmt::format("'{}'", to_string(value)) : to_string(value)));
  };
  switch (type) {
    case ParamType::boolean:
      if (!std::holds_alternative<bool>(value)) return refuse();
      break;
    case ParamType::integer:
    case ParamType::real: {
      double number = NAN;
      if (const auto* i = std::get_if<int64_t>(&value)) number = static_cast<double>(*i);
      if (const auto* d = std::get_if<double>(&value)) number = *d;
      const bool integer = type == ParamType::integer;
      if (!in_range(*this, number) || (integer && number != std::floor(number))) return refuse();
      converted = integer ? ParamValue(static_cast<int64_t>(number)) : ParamValue(number);
      return std::nullopt;
    }
    case ParamType::choice: {
      // In TOML and JSON, names such as "90" may be unquoted numbers: 90 or 90.0.
      const bool named = !std::holds_alternative<bool>(value) && !std::holds_alternative<Matrix>(value);
      const std::string wanted = to_string(value);
      if (!named || !contains(choices, wanted)) return refuse();
      converted = wanted;
      return std::nullopt;
    }
    case ParamType::text:
      if (!std::holds_alternative<std::string>(value)) return refuse();
      break;
    case ParamType::matrix: {
      const auto* m = std::get_if<Matrix>(&value);
      if (!m || !acceptable(*this, *m)) return refuse();
      break;
    }
  }
  converted = value;
  return std::nullopt;
}

std::optional<std::string> ParamSpec::parse(const std::string& text, ParamValue& value) const {
  const auto refuse = [&] { return std::optional<std::string>(sentence(*this, "'" + text + "'")); };
  switch (type) {
    case ParamType::boolean:
      if (text == "true" || text == "1" || text == "on" || text == "yes")
        value = true;
      else if (text == "false" || text == "0" || text == "off" || text == "no")
        value = false;
      else
        return refuse();
      return std::nullopt;
    case ParamType::integer:
    case ParamType::real: {
      const auto parsed = number(text);
      if (!parsed || check(ParamValue(*parsed), value)) return refuse();
      return std::nullopt;
    }
    case ParamType::choice:
    case ParamType::text:
      return check(ParamValue(text), value) ? refuse() : std::nullopt;
    case ParamType::matrix: {
      const auto parsed = matrix(text);
      if (!parsed || check(ParamValue(*parsed), value)) return refuse();
      return std::nullopt;
    }
  }
  return refuse();
}

const ParamSpec* FilterSchema::find(std::string_view wanted) const noexcept {
  for (const ParamSpec& spec : params)
    if (spec.name == wanted) return &spec;
  return nullptr;
}

}  // namespace lensd
