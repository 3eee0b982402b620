// Base class of lensd's exceptions, and the exit codes that they map to.
//
// Set-up functions throw Error. Functions called per frame return expected outcomes as values (see
// FrameOutcome in core/media/source.hpp). Only app/ prints errors and exits.
#pragma once

#include <stdexcept>
#include <string>

namespace lensd {

/// Process exit codes, part of the public interface.
enum class ExitCode : int {
  done = 0,
  runtime_failure = 1,
  usage = 2,
  invalid_config = 3,  ///< configuration or graph refused
  bad_source = 4,      ///< source cannot be opened or decoded
  unavailable = 5,     ///< a backend, display, hardware decoder, FFmpeg component or daemon is not available
};

/// An error message for the user: where it occurred, what is wrong, and a hint on what to do.
/// Immutable; may be copied between threads.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, std::string where, std::string what, std::string hint = {})
      : std::runtime_error(compose(where, what, hint)),
        code_(code),
        where_(std::move(where)),
        problem_(std::move(what)),
        hint_(std::move(hint)) {}

  ExitCode code() const noexcept { return code_; }
  const std::string& where() const noexcept { return where_; }
  const std::string& problem() const noexcept { return problem_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  static std::string compose(const std::string& where, const std::string& what, const std::string& hint) {
    std::string line = where.empty() ? what : where + ": " + what;
    if (!hint.empty()) line += " (" + hint + ")";
    return line;
  }

  ExitCode code_;
  std::string where_, problem_, hint_;
};

}  // namespace lensd
