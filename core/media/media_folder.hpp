// Lists folders and recognises media files by name. Thread-safe. The functions that read the disk may block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lensd {

struct FolderEntry {
  enum class Kind : uint8_t {
    folder,
    file,      ///< a video or an image, according to its extension
    sequence,  ///< numbered images: `name` is the pattern
    other,     ///< any other file
  };
  Kind kind = Kind::file;
  std::string name;   ///< name without the folder, such as "clip.mp4" or "img_%04d.png"
  int64_t bytes = 0;  ///< size of a file
  int images = 0;     ///< number of images of a sequence
};

struct FolderList {
  std::string asked;                 ///< argument `folder` of list_media_folder()
  std::string folder;                ///< absolute path, without a trailing slash except for the root
  std::string problem;               ///< why the folder cannot be read; empty on success
  std::vector<FolderEntry> entries;  ///< folders, then media files and sequences, then others, by name
  bool cut = false;                  ///< the list is truncated
  std::string part;                  ///< argument `part` of list_media_folder()
};

/// Returns the absolute path of a file or folder without "." and "..". If ".." follows a symbolic link,
/// resolves the links, because removing ".." from the text would name another file. May block on the disk.
std::string plain_path(const std::string& path);

/// Maximum number of entries that list_media_folder() returns by default.
inline constexpr size_t kMaxListed = 4000;

enum class FileSizes : uint8_t {
  read,
  omit,  ///< FolderEntry::bytes is 0; reading a size takes longer than a name, much longer in network folders
};

/// Lists the folders and regular files in `folder` (empty: the current one), except hidden ones: the first
/// `most` of those whose name contains `part`. Ignores the case of ASCII letters in `part`. Follows symbolic
/// links. Does not throw.
FolderList list_media_folder(const std::string& folder, const std::string& part = {},
                             size_t most = kMaxListed, FileSizes sizes = FileSizes::read);

/// Returns true if the name has the extension of a video or an image.
bool named_like_media(const std::string& name);

}  // namespace lensd
