// Ways to end a run other than returning and throwing Error.
#pragma once

#include <string>

namespace lensd {

/// Thrown to end the program by the signal itself, so that a loop in the shell stops too. Throw it when all
/// files are complete.
struct EndBySignal {
  int signal;
  std::string message;  ///< a line for standard error; empty: none
};

/// Flushes standard output. Throws Error(runtime_failure) if text was lost, or EndBySignal with SIGPIPE if
/// its reader has closed it. `error`: errno of a write that has failed before, or 0.
void finish_stdout(int error = 0);

/// Returns true if standard output is a pipe or socket whose reader has closed it.
bool stdout_closed();

}  // namespace lensd
