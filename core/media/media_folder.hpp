// What of a folder can be played: for choosing a file.
//
// A plain function that reads the disk, which may take its time; any thread but the window's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lensd {

struct FolderEntry {
  enum class Kind : uint8_t {
    folder,
    file,      ///< a video or an image, after its name
    sequence,  ///< numbered images: `name` is their pattern
    other,     ///< a file of another kind, which may still be worth a try
  };
  Kind kind = Kind::file;
  std::string name;   ///< in the folder: "clip.mp4", "img_%04d.png"
  int64_t bytes = 0;  ///< files
  int images = 0;     ///< sequences
};

struct FolderList {
  std::string asked;                 ///< as it was named
  std::string folder;                ///< absolute, without a slash at its end but for the root
  std::string problem;               ///< why it cannot be read; empty: it could
  std::vector<FolderEntry> entries;  ///< folders, then sequences and files, then others, each by name
  bool cut = false;                  ///< there is more than fits
};

/// Hidden files are left out. Symbolic links are followed.
FolderList list_media_folder(const std::string& folder);

/// True for names that end as those of videos and images do.
bool named_like_media(const std::string& name);

}  // namespace lensd
