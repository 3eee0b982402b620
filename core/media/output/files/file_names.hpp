// Names for the files of a recording. Internal to core/media.
#pragma once

#include <ctime>
#include <string>

namespace lensd {

/// Throws Error(usage) if the file name is empty, if the name is a URL or has a control character, or if ".."
/// follows a folder with a conversion.
void check_name(const std::string& name);

/// Like check_name(). Also throws Error(usage) if a '%' does not start a supported strftime conversion.
/// Conversions that can expand to a slash or a line break, such as %D and %n, are not supported.
void check_name_template(const std::string& name);

/// Returns the folder of `path`, a file name or template, up to the first component with a conversion; "."
/// for the current folder. The components that follow change with time.
std::string fixed_folder(const std::string& path);

/// Generates the names of a recording's files. Not thread-safe.
class FileNames {
 public:
  /// If `numbered`, the names are path-001, path-002 …; otherwise path, path-2, and so on. `resumed`: an
  /// earlier part of this recording has used the path, so the names begin with path-2. Neither affects a
  /// strftime template. A '%' that starts no supported conversion is part of the name. `beneath`: the folder
  /// that a relative path is below; empty: the current folder. Throws Error(usage) if the name has a control
  /// character.
  FileNames(std::string path, bool numbered, bool resumed = false, std::string beneath = {});

  /// Begins a new file that starts at time `when`: next() then returns the names to try for it. Throws
  /// Error(usage) if the name has a control character.
  void begin(std::time_t when);
  /// Returns the first name to try for the file. Call again for the next name if that name is taken. The
  /// second call continues after the highest number in the folder.
  std::string next();
  /// Makes numbered names continue after the highest number in the folder, even if lower numbers are free, so
  /// that the names stay in the order of time. Has no effect on other names.
  void continue_numbers();
  /// Returns true if the last result of next() is exactly the user's path.
  bool exact() const { return exact_; }

 private:
  void skip_used();

  std::string path_, base_, beneath_;
  bool numbered_, exact_ = false;
  int attempt_ = 0;
  int number_;  ///< number of the last name; 1 stands for a name without a number
  bool plain_;  ///< the next name has no number
};

}  // namespace lensd
