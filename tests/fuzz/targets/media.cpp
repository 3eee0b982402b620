// Media: the bytes of a file, opened, decoded and seeked by the real source.
#include <cstdint>

#include "core/base/log.hpp"
#include "tests/fuzz/common/memory_file.hpp"
#include "tests/fuzz/media_files/play.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lensd;
  log::set_level("off");
  const fuzz::MemoryFile file({data, size});
  fuzz::play(file.path(), 6);
  return 0;
}
