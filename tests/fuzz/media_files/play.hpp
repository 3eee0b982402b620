// Opens a file with the real source, decodes some pictures, seeks, and checks what the source promises.
#pragma once

#include <string>

namespace lensd::fuzz {

struct Played {
  bool opened = false;
  int pictures = 0;
};

/// Ends the program if a promise of core/media/source.hpp is broken.
Played play(const std::string& path, int most_pictures);

}  // namespace lensd::fuzz
