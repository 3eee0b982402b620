// Parses command lines for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/cli.hpp"
#include "core/base/error.hpp"

namespace lensd {

/// Parses the words after "lensd". Throws as parse_command_line() does.
inline CommandLine line_of(std::vector<std::string> words) {
  words.insert(words.begin(), "lensd");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

/// Returns the message that refuses the words, which must be a usage error; an empty string if they are
/// valid.
inline std::string problem_of(const std::vector<std::string>& words) {
  try {
    line_of(words);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    return e.what();
  }
}

}  // namespace lensd
