// Names for the files of a recording.
#pragma once

#include <ctime>
#include <string>

namespace lensd {

/// "/tmp/rec-%H%M%S.mkv" is a template: it has a conversion of strftime.
bool is_name_template(const std::string& path);

/// Throws Error(usage) for a name that makes no file: none at all, a conversion that strftime does not know,
/// or one that gives a slash or a line's end.
void check_name_template(const std::string& name);

/// Belongs to one thread. A name that is taken is followed by the next one that next() gives.
class FileNames {
 public:
  /// `numbered`: a plain path, too, becomes many files, path-001, path-002 … `resumed`: a plain path was used
  /// by an earlier part of this recording, so that this one begins with path-2.
  FileNames(std::string path, bool numbered, bool resumed = false)
      : path_(std::move(path)), numbered_(numbered), files_(resumed ? 1 : 0) {}

  /// For a file that begins at `when`.
  void begin(std::time_t when);
  std::string next();
  /// The name last given is the path as it is: the person chose it, and there is no other to try.
  bool chosen() const { return chosen_; }

 private:
  std::string path_, base_;
  bool numbered_, chosen_ = false;
  int files_, attempt_ = 0, number_ = 0;
};

}  // namespace lensd
