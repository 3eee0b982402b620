// What a source's name says before anything is opened.
#pragma once

#include <string>

namespace lensd {

enum class UrlKind {
  path,            ///< a file, image or FIFO
  sequence,        ///< img_%04d.png
  standard_input,  ///< -
  generated,       ///< test:NAME[=opts]
  other,           ///< network streams, cameras, the screen
};

/// A path that exists is a path, whatever it looks like.
UrlKind classify(const std::string& url);

/// True for a name with exactly one %d or %0Nd; "%%" stands for a percent sign.
bool is_sequence_pattern(const std::string& path);

/// The text with user names, passwords and queries of the URLs in it replaced by "…".
std::string without_secrets(const std::string& text);

/// Short name for titles: the last part of a path, "standard input", "test:testsrc2".
std::string short_name(const std::string& url);

}  // namespace lensd
