// Opens a file with the real source, decodes some pictures, seeks, and checks the contract of the source.
#pragma once

#include <string>

namespace lensd::fuzz {

struct Played {
  bool opened = false;
  int pictures = 0;
};

/// Reads up to `most_pictures`, then seeks. Ends the program if the source breaks the contract in
/// core/media/source.hpp.
Played play(const std::string& path, int most_pictures);

}  // namespace lensd::fuzz
