// Names for the files of a recording.
#pragma once

#include <ctime>
#include <string>

namespace lensd {

/// Throws Error(usage) if the name is empty or has a conversion that strftime does not know or that gives a
/// slash or a line break.
void check_name_template(const std::string& name);

/// Belongs to one thread.
class FileNames {
 public:
  /// `numbered`: a plain path becomes many files, path-001, path-002 … `resumed`: an earlier part of this
  /// recording used the plain path, so that this one starts with path-2.
  FileNames(std::string path, bool numbered, bool resumed = false)
      : path_(std::move(path)), numbered_(numbered), files_(resumed ? 1 : 0) {}

  /// Starts a new file, of time `when`.
  void begin(std::time_t when);
  /// The first name to try for the file, then the next one if that is taken.
  std::string next();
  /// The last name is exactly the user's: there is no other one to try.
  bool exact() const { return exact_; }

 private:
  std::string path_, base_;
  bool numbered_, exact_ = false;
  int files_, attempt_ = 0, number_ = 0;
};

}  // namespace lensd
