#include "core/base/param.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

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
         std::all_of(m.values.begin(), m.values.end(),
                     [](double v) { return std::isfinite(v) && std::abs(v) <= 1e6; });
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "1 2 1;2 4 2;1 2 1": rows parted by ';', numbers by blanks, since ',' and ':' part nodes and parameters.
std::optional<Matrix> matrix(const std::string& text) {
  Matrix m;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t row_end = std::min(text.find(';', at), text.size());
    int cols = 0;
    for (size_t i = at; i < row_end;) {
      if (text[i] == ' ') {
        ++i;
        continue;
      }
      const size_t stop = std::min(text.find(' ', i), row_end);
      const auto value = number(std::string_view(text).substr(i, stop - i));
      if (!value) return std::nullopt;
      m.values.push_back(*value), ++cols, i = stop;
    }
    if (m.rows++ == 0) m.cols = cols;
    if (cols != m.cols) return std::nullopt;
    at = row_end + 1;
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
  const std::string suffix = unit.empty() ? "" : " " + unit;
  switch (type) {
    case ParamType::boolean:
      return "true or false";
    case ParamType::integer:
      return fmt::format("{} {} to {}{}", widget == Widget::odd_slider ? "an odd number" : "a whole number",
                         min, max, suffix);
    case ParamType::real:
      return fmt::format("a number {} to {}{}", min, max, suffix);
    case ParamType::choice:
      return fmt::format("one of {}", fmt::join(choices, ", "));
    case ParamType::text:
      return "text";
    case ParamType::matrix:
      return fmt::format("rows of finite numbers, odd height and width up to {0}×{0}", max);
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
      converted = value;
      return std::nullopt;
    case ParamType::integer: {
      double number = 0;
      if (const auto* i = std::get_if<int64_t>(&value))
        number = static_cast<double>(*i);
      else if (const auto* d = std::get_if<double>(&value))
        number = *d;
      else
        return refuse();
      if (!in_range(*this, number) || number != std::floor(number)) return refuse();
      converted = static_cast<int64_t>(number);
      return std::nullopt;
    }
    case ParamType::real: {
      double number = 0;
      if (const auto* i = std::get_if<int64_t>(&value))
        number = static_cast<double>(*i);
      else if (const auto* d = std::get_if<double>(&value))
        number = *d;
      else
        return refuse();
      if (!in_range(*this, number)) return refuse();
      converted = number;
      return std::nullopt;
    }
    case ParamType::choice: {
      // Some names are numbers ("90"), which TOML and JSON may write without quotes.
      const bool named = std::holds_alternative<std::string>(value) || std::holds_alternative<int64_t>(value);
      const std::string wanted = to_string(value);
      if (!named || std::find(choices.begin(), choices.end(), wanted) == choices.end()) return refuse();
      converted = wanted;
      return std::nullopt;
    }
    case ParamType::text:
      if (!std::holds_alternative<std::string>(value)) return refuse();
      converted = value;
      return std::nullopt;
    case ParamType::matrix: {
      const auto* m = std::get_if<Matrix>(&value);
      if (!m || !acceptable(*this, *m)) return refuse();
      converted = value;
      return std::nullopt;
    }
  }
  return refuse();
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
