// Small things about text that several folders need. Any thread; no state.
#pragma once

#include <string>
#include <string_view>

namespace lensd {

/// ASCII letters in lower case, every other byte as it is: for names that compare in any case, such as URL
/// schemes and file endings. Unlike std::tolower() it does not follow the locale.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace lensd
