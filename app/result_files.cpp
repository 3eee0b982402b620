#include "app/result_files.hpp"

#include <fstream>

#include "core/base/error.hpp"

namespace lensd {

void write_text(const std::string& path, const std::string& text, PipeReader reader) {
  if (is_special_file(path))
    return write_special_file(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()),
                              reader);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw Error(ExitCode::runtime_failure, path, "cannot be written", "check the folder and its permissions");
}

}  // namespace lensd
