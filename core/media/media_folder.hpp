// The playable files of a folder, for the file chooser. Thread-safe; may block on the disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lensd {

struct FolderEntry {
  enum class Kind : uint8_t {
    folder,
    file,      ///< a video or an image, judged by its ending
    sequence,  ///< numbered images: `name` is the pattern
    other,     ///< any other file
  };
  Kind kind = Kind::file;
  std::string name;   ///< without the folder: "clip.mp4", "img_%04d.png"
  int64_t bytes = 0;  ///< files
  int images = 0;     ///< sequences
};

struct FolderList {
  std::string asked;                 ///< the argument
  std::string folder;                ///< absolute, without a trailing slash except for the root
  std::string problem;               ///< why it cannot be read; empty on success
  std::vector<FolderEntry> entries;  ///< folders, then sequences and files, then others, each by name
  bool cut = false;                  ///< the list is truncated
};

/// Omits hidden files. Follows symbolic links.
FolderList list_media_folder(const std::string& folder);

/// True if the name has the ending of a video or an image.
bool named_like_media(const std::string& name);

}  // namespace lensd
