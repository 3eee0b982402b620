// Parameters, declared once: name, member, range, default, unit, widget hint, doc, what a change forces.
//
//   struct MedianParams { int radius = 1; };                    the values a filter works with
//   Schema<MedianParams>("median", "…").integer("radius", …)    the one declaration
//        ├─▶ config keys, --graph, --set     parse + set()
//        ├─▶ panel widgets                    ParamSpec
//        └─▶ lensd filters, docs/filters.md   ParamSpec
//
// A schema is immutable after construction and may be shared between threads. A parameter struct belongs to
// one thread (the process thread, once the filter runs); changes arrive there as ParamValue.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lensd {

/// Rows of numbers, for convolution kernels. Ragged matrices are refused when parsed.
struct Matrix {
  int rows = 0, cols = 0;
  std::vector<double> values;  ///< rows × cols, row by row
  bool operator==(const Matrix&) const = default;
};

/// A parameter's value outside its filter. Enums travel as their name.
using ParamValue = std::variant<bool, int64_t, double, std::string, Matrix>;

/// "3", "0.5", "true", "replicate", "[[1, 2], [3, 4]]".
std::string to_string(const ParamValue& value);

enum class ParamType { boolean, integer, real, choice, text, matrix };

/// How the panel shows a parameter; the type's plain widget where nothing else is said.
enum class Widget { plain, log_slider, odd_slider, path };

/// What a change forces.
enum class ParamChange {
  live,         ///< next frame's parameter block
  reconfigure,  ///< formats or buffers are planned anew
};

struct ParamSpec {
  std::string name, unit, doc;
  std::string zero;  ///< what 0 stands for where it is not an amount: "from sigma"
  ParamType type = ParamType::real;
  double min = 0, max = 0;           ///< integer and real; inclusive
  std::vector<std::string> choices;  ///< choice: names, in the enum's order from 0
  Widget widget = Widget::plain;
  ParamChange change = ParamChange::live;
  ParamValue default_value;

  std::function<ParamValue(const void* params)> get;
  std::function<void(void* params, const ParamValue&)> put;  ///< checked value of the right type

  /// The value converted to this parameter's type, or a sentence that names the key, the value and what is
  /// allowed. Integers are accepted for reals and integral reals for integers; NaN and infinities never.
  std::optional<std::string> check(const ParamValue& value, ParamValue& converted) const;
  /// Reads text from the command line into a value of this type; same sentence on failure.
  std::optional<std::string> parse(const std::string& text, ParamValue& value) const;
  /// "1 to 25 px", "one of replicate, reflect, …", "true or false".
  std::string allowed() const;
};

/// A filter's name, one-line doc and parameters, without its C++ type.
struct FilterSchema {
  std::string name, doc;
  std::vector<ParamSpec> params;

  /// Null when there is no such parameter.
  const ParamSpec* find(std::string_view name) const noexcept;
};

/// Builds a FilterSchema for the parameter struct `P`; defaults are read off a default-constructed P.
template <class P>
class Schema {
 public:
  Schema(std::string name, std::string doc) { schema_.name = std::move(name), schema_.doc = std::move(doc); }

  struct Options {
    std::string unit = {};
    Widget widget = Widget::plain;
    ParamChange change = ParamChange::live;
    std::string zero = {};
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

  /// `E` is an enum whose values count from 0 in the order of `names`.
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

  /// A matrix of odd height and width, each at most `max_side`.
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
    spec.widget = options.widget, spec.change = options.change;
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
