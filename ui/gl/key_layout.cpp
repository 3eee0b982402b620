#include "ui/gl/key_layout.hpp"

#include <string_view>

namespace lensd::ui {
namespace {

// GLFW's codes of these keys are the characters that they type in the US layout.
constexpr std::string_view kPlain = " '-,./0123456789;=[\\]`ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kShifted = " \"_<>?)!@#$%^&*(:+{|}~ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static_assert(kPlain.size() == kShifted.size());

}  // namespace

char32_t us_character(int key, bool shift) {
  if (key <= 0 || key >= 0x80) return 0;
  const size_t at = kPlain.find(static_cast<char>(key));
  if (at == std::string_view::npos) return 0;
  if (shift) return static_cast<char32_t>(kShifted[at]);
  return static_cast<char32_t>(key >= 'A' && key <= 'Z' ? key - 'A' + 'a' : key);
}

bool latin_layout(std::string_view name_of_a) {
  return !name_of_a.empty() && static_cast<unsigned char>(name_of_a.front()) < 0x80;
}

char32_t second_character(int key, bool shift, bool modified, std::string_view name_of_a) {
  const bool digit = key >= '0' && key <= '9';
  if (!latin_layout(name_of_a)) return us_character(key, shift && !modified);
  return modified && digit ? static_cast<char32_t>(key) : 0;
}

}  // namespace lensd::ui
