// Declares parameters, each in one place: name, member, range, default, unit, widget, doc, effect of a
// change.
//
//   struct MedianParams { int radius = 1; };                    the values of a filter
//   Schema<MedianParams>("median", "…").integer("radius", …)    the declaration
//        ├─▶ config keys, control            ParamSpec::check(), put()
//        ├─▶ --graph, --set                  ParamSpec::parse(), put()
//        ├─▶ panel widgets, JSON Schema      ParamSpec
//        └─▶ lensd filters, docs/filters.md  ParamSpec
//
// A schema is immutable after construction: thread-safe. A parameter struct belongs to one thread (the
// process thread while the filter runs), which receives changes as ParamValue.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lensd {

/// Maximum magnitude of a matrix parameter's values.
inline constexpr double kMaxMatrixValue = 1e6;

/// A matrix, for convolution kernels. Parsers refuse rows of different lengths.
struct Matrix {
  int rows = 0, cols = 0;
  std::vector<double> values;  ///< rows × cols, row by row
  bool operator==(const Matrix&) const = default;
};

/// A parameter's value outside its parameter struct. Enums are passed by name.
using ParamValue = std::variant<bool, int64_t, double, std::string, Matrix>;

/// Returns a value as text, for example "3", "0.5", "true", "replicate" or "[[1, 2], [3, 4]]".
std::string to_string(const ParamValue& value);

enum class ParamType { boolean, integer, real, choice, text, matrix };

/// The panel's widget for a parameter. `plain`: the type's default widget. `odd_slider`: ParamSpec::check()
/// also refuses even values.
enum class Widget { plain, log_slider, odd_slider, path };

/// What a change of a parameter requires.
enum class ParamChange {
  live,         ///< no new plan: the next frame uses the new value
  reconfigure,  ///< a new plan, because formats or buffers may change
};

struct ParamSpec {
  std::string name, unit, doc;
  std::string zero;  ///< meaning of the value 0 if it is special, for example "from sigma"
  ParamType type = ParamType::real;
  double min = 0, max = 0;           ///< inclusive limits of the value; for a matrix: of its height and width
  std::vector<std::string> choices;  ///< allowed names; for an enum in the order of its values 0, 1, …
  Widget widget = Widget::plain;
  ParamChange change = ParamChange::live;
  /// Name of a text parameter. While its text is not empty, changes of this live parameter need a new plan.
  std::string plan_if;
  ParamValue default_value;

  std::function<ParamValue(const void* params)> get;
  std::function<void(void* params, const ParamValue&)> put;  ///< stores a value that check() has converted

  /// Stores `value`, converted to this parameter's type, in `converted`. Returns nullopt, or an error message
  /// if the value is not allowed. Accepts integers for reals, integral reals for integers, and integers for
  /// choices with numeric names. Refuses NaN and infinity.
  std::optional<std::string> check(const ParamValue& value, ParamValue& converted) const;
  /// Parses `text` and stores the result in `value`. Returns nullopt, or an error message if the value is not
  /// allowed.
  std::optional<std::string> parse(const std::string& text, ParamValue& value) const;
  /// Returns the allowed values, for example "a number 1 to 25 px", "one of replicate, reflect" or "text".
  std::string allowed() const;
};

/// A filter's name, one-line doc and parameters, without its C++ type.
struct FilterSchema {
  std::string name, doc;
  std::vector<ParamSpec> params;

  /// Returns null if there is no such parameter.
  const ParamSpec* find(std::string_view name) const noexcept;
};

/// Builds a FilterSchema for the parameter struct `P`. A default-constructed P provides the default values.
template <class P>
class Schema {
 public:
  Schema(std::string name, std::string doc) { schema_.name = std::move(name), schema_.doc = std::move(doc); }

  struct Options {
    std::string unit = {};
    Widget widget = Widget::plain;
    ParamChange change = ParamChange::live;
    std::string zero = {};
    std::string plan_if = {};
  };

  Schema& boolean(std::string name, bool P::*member, std::string doc, Options options = Options()) {
    ParamSpec& spec = add(std::move(name), std::move(doc), ParamType::boolean, std::move(options));
    spec.get = [member](const void* p) { return ParamValue(static_cast<const P*>(p)->*member); };
    spec.put = [member](void* p, const ParamValue& v) { static_cast<P*>(p)->*member = std::get<bool>(v); };
    return finish(spec);
  }

  Schema& integer(std::string name, int P::*member, int min, int max, std::string doc,
                  Options options = Options()) {
    ParamSpec& spec = add(std::move(name), std::move(doc), ParamType::integer, std::move(options));
    spec.min = min, spec.max = max;
    spec.get = [member](const void* p) { return ParamValue(int64_t{static_cast<const P*>(p)->*member}); };
    spec.put = [member](void* p, const ParamValue& v) {
      static_cast<P*>(p)->*member = static_cast<int>(std::get<int64_t>(v));
    };
    return finish(spec);
  }

  Schema& real(std::string name, double P::*member, double min, double max, std::string doc,
               Options options = Options()) {
    ParamSpec& spec = add(std::move(name), std::move(doc), ParamType::real, std::move(options));
    spec.min = min, spec.max = max;
    spec.get = [member](const void* p) { return ParamValue(static_cast<const P*>(p)->*member); };
    spec.put = [member](void* p, const ParamValue& v) { static_cast<P*>(p)->*member = std::get<double>(v); };
    return finish(spec);
  }

  /// Adds an enum parameter. `E` has the values 0, 1, … in the order of `names`.
  template <class E>
  Schema& choice(std::string name, E P::*member, const std::vector<std::string>& names, std::string doc,
                 Options options = Options()) {
    ParamSpec& spec = add(std::move(name), std::move(doc), ParamType::choice, std::move(options));
    spec.choices = names;
    spec.get = [member, names](const void* p) {
      return ParamValue(names[static_cast<size_t>(static_cast<const P*>(p)->*member)]);
    };
    spec.put = [member, names](void* p, const ParamValue& v) {
      for (size_t i = 0; i < names.size(); ++i)
        if (names[i] == std::get<std::string>(v)) static_cast<P*>(p)->*member = static_cast<E>(i);
    };
    return finish(spec);
  }

  Schema& text(std::string name, std::string P::*member, std::string doc, Options options = Options()) {
    ParamSpec& spec = add(std::move(name), std::move(doc), ParamType::text, std::move(options));
    spec.get = [member](const void* p) { return ParamValue(static_cast<const P*>(p)->*member); };
    spec.put = [member](void* p, const ParamValue& v) {
      static_cast<P*>(p)->*member = std::get<std::string>(v);
    };
    return finish(spec);
  }

  /// Adds a text parameter that allows only `choices`.
  Schema& choice(std::string name, std::string P::*member, std::vector<std::string> choices, std::string doc,
                 Options options = Options()) {
    text(std::move(name), member, std::move(doc), std::move(options));
    ParamSpec& spec = schema_.params.back();
    spec.type = ParamType::choice, spec.choices = std::move(choices);
    return *this;
  }

  /// Adds a matrix parameter with odd height and width, each at most `max_side`.
  Schema& matrix(std::string name, Matrix P::*member, int max_side, std::string doc,
                 Options options = Options()) {
    ParamSpec& spec = add(std::move(name), std::move(doc), ParamType::matrix, std::move(options));
    spec.min = 1, spec.max = max_side;
    spec.get = [member](const void* p) { return ParamValue(static_cast<const P*>(p)->*member); };
    spec.put = [member](void* p, const ParamValue& v) { static_cast<P*>(p)->*member = std::get<Matrix>(v); };
    return finish(spec);
  }

  FilterSchema build() const { return schema_; }

 private:
  ParamSpec& add(std::string name, std::string doc, ParamType type, Options options) {
    ParamSpec& spec = schema_.params.emplace_back();
    spec.name = std::move(name), spec.doc = std::move(doc), spec.type = type;
    spec.unit = std::move(options.unit), spec.zero = std::move(options.zero);
    spec.widget = options.widget, spec.change = options.change, spec.plan_if = std::move(options.plan_if);
    return spec;
  }
  Schema& finish(ParamSpec& spec) {
    const P defaults{};
    spec.default_value = spec.get(&defaults);
    return *this;
  }

  FilterSchema schema_;
};

}  // namespace lensd
