#include "ui/widgets/system_fonts.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/log.hpp"

namespace lensd::ui {
namespace {

constexpr auto kShutdownTimeout = std::chrono::milliseconds(200);
constexpr std::streamoff kMaxBytes = 256 << 20;  ///< maximum size of a font file

// Types and functions of libfontconfig, whose headers are not needed to build.
using Pattern = struct FcPatternTag*;
using Charset = struct FcCharSetTag*;
using Config = struct FcConfigTag*;
struct FontSet {
  int count, room;
  Pattern* fonts;
};
constexpr int kMatchPattern = 0, kFound = 0;

#define LENSD_FONTCONFIG_FUNCTIONS(f)                               \
  f(InitLoadConfigAndFonts, Config, ());                            \
  f(ConfigDestroy, void, (Config));                                 \
  f(PatternCreate, Pattern, ());                                    \
  f(PatternDestroy, void, (Pattern));                               \
  f(PatternAddString, int, (Pattern, const char*, const char*));    \
  f(PatternAddCharSet, int, (Pattern, const char*, Charset));       \
  f(PatternGetString, int, (Pattern, const char*, int, char**));    \
  f(PatternGetInteger, int, (Pattern, const char*, int, int*));     \
  f(PatternGetBool, int, (Pattern, const char*, int, int*));        \
  f(PatternGetCharSet, int, (Pattern, const char*, int, Charset*)); \
  f(CharSetCreate, Charset, ());                                    \
  f(CharSetDestroy, void, (Charset));                               \
  f(CharSetAddChar, int, (Charset, unsigned));                      \
  f(CharSetHasChar, int, (Charset, unsigned));                      \
  f(ConfigSubstitute, int, (Config, Pattern, int));                 \
  f(DefaultSubstitute, void, (Pattern));                            \
  f(FontSort, FontSet*, (Config, Pattern, int, Charset*, int*));    \
  f(FontSetDestroy, void, (FontSet*))

struct Fontconfig {
#define LENSD_DECLARE(name, result, arguments) result(*name) arguments = nullptr
  LENSD_FONTCONFIG_FUNCTIONS(LENSD_DECLARE);
#undef LENSD_DECLARE

  /// Returns nullopt if the library is missing. Does not unload it, because other libraries may use it.
  static std::optional<Fontconfig> load() {
    void* const library = dlopen("libfontconfig.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::nullopt;
    Fontconfig fc;
    bool complete = true;
#define LENSD_LOAD(name, result, arguments)                                  \
  fc.name = reinterpret_cast<decltype(fc.name)>(dlsym(library, "Fc" #name)); \
  complete = complete && fc.name
    LENSD_FONTCONFIG_FUNCTIONS(LENSD_LOAD);
#undef LENSD_LOAD
    return complete ? std::optional(fc) : std::nullopt;
  }
};

std::vector<unsigned char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (!file || size <= 0 || size > kMaxBytes) return {};
  std::vector<unsigned char> bytes(static_cast<size_t>(size));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), size);
  return file ? bytes : std::vector<unsigned char>();
}

/// Reads the font's file. Returns false if the font cannot be used.
bool read_font(SystemFont& font) {
  font.bytes = bytes_of(font.path);
  font.line_per_em = line_per_em(font.bytes, font.index);
  return font.line_per_em > 0;
}

/// A font in fontconfig's list, which owns `has`.
struct ListedFont {
  SystemFont font;
  Charset has = nullptr;
};

/// Returns nullopt for bitmap and colour fonts, which Dear ImGui cannot draw.
std::optional<ListedFont> outline_font(const Fontconfig& fc, Pattern pattern) {
  char *path = nullptr, *format = nullptr;
  int index = 0, colour = 0;
  ListedFont listed;
  if (fc.PatternGetString(pattern, "file", 0, &path) != kFound ||
      fc.PatternGetString(pattern, "fontformat", 0, &format) != kFound ||
      fc.PatternGetCharSet(pattern, "charset", 0, &listed.has) != kFound)
    return std::nullopt;
  fc.PatternGetInteger(pattern, "index", 0, &index);
  fc.PatternGetBool(pattern, "color", 0, &colour);
  const std::string_view kind = format;
  if (colour || (kind != "TrueType" && kind != "CFF")) return std::nullopt;
  listed.font.path = path;
  listed.font.index = index & 0xFFFF;  // the upper bits select an instance of a variable font
  return listed;
}

/// Returns the usable fonts that fontconfig prefers for the characters, in its order, until all have one.
/// Does not read the files of `known` fonts.
std::vector<SystemFont> choose_fonts(const Fontconfig& fc, Config config, std::vector<unsigned> characters,
                                     const FontNames& known) {
  const Pattern wanted = fc.PatternCreate();
  const Charset charset = fc.CharSetCreate();
  for (const unsigned c : characters) fc.CharSetAddChar(charset, c);
  fc.PatternAddString(wanted, "family", "sans-serif");
  fc.PatternAddCharSet(wanted, "charset", charset);
  fc.ConfigSubstitute(config, wanted, kMatchPattern);
  fc.DefaultSubstitute(wanted);
  int result = 0;
  constexpr int kKeepSubstitutes = 0;  // also list fonts whose characters earlier fonts have
  FontSet* const sorted = fc.FontSort(config, wanted, kKeepSubstitutes, nullptr, &result);
  std::vector<SystemFont> chosen;
  for (int i = 0; sorted && i < sorted->count && !characters.empty(); ++i) {
    auto listed = outline_font(fc, sorted->fonts[i]);
    if (!listed) continue;
    SystemFont& font = listed->font;
    const auto taken = std::stable_partition(characters.begin(), characters.end(), [&](unsigned c) {
      return fc.CharSetHasChar(listed->has, c) == 0;
    });
    if (taken == characters.end() || (!known.contains({font.path, font.index}) && !read_font(font))) continue;
    font.characters.assign(taken, characters.end());
    characters.erase(taken, characters.end());
    log::info("font {} for {} characters", font.path, font.characters.size());
    chosen.push_back(std::move(font));
  }
  if (sorted) fc.FontSetDestroy(sorted);
  fc.CharSetDestroy(charset);
  fc.PatternDestroy(wanted);
  return chosen;
}

std::vector<SystemFont> find_fonts(const std::vector<unsigned>& characters, const FontNames& known) {
  const auto fc = Fontconfig::load();
  const Config config = fc ? fc->InitLoadConfigAndFonts() : nullptr;
  if (!config) return {};
  std::vector<SystemFont> fonts = choose_fonts(*fc, config, characters, known);
  fc->ConfigDestroy(config);
  return fonts;
}

/// Returns a big-endian number of `size` bytes, or 0 beyond the end.
unsigned number_at(std::span<const unsigned char> bytes, size_t at, size_t size) {
  unsigned number = 0;
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  for (size_t i = 0; i < size; ++i) number = number << 8 | bytes[at + i];
  return number;
}

}  // namespace

float line_per_em(std::span<const unsigned char> bytes, int index) {
  constexpr unsigned kCollection = 0x74746366, kTrueType = 0x00010000, kApple = 0x74727565, kCff = 0x4F54544F;
  constexpr unsigned kHead = 0x68656164, kLines = 0x68686561;            // the tables "head" and "hhea"
  constexpr unsigned kOutlines = 0x676C7966, kCffOutlines = 0x43464620;  // the tables "glyf" and "CFF "
  size_t start = 0;
  if (number_at(bytes, 0, 4) == kCollection) {
    if (index < 0 || static_cast<unsigned>(index) >= number_at(bytes, 8, 4)) return 0;
    start = number_at(bytes, 12 + 4 * static_cast<size_t>(index), 4);
  } else if (index != 0) {
    return 0;
  }
  const unsigned kind = number_at(bytes, start, 4);
  if (kind != kTrueType && kind != kApple && kind != kCff) return 0;
  size_t head = 0, lines = 0;
  bool outlines = false;
  for (size_t i = 0, count = number_at(bytes, start + 4, 2); i < count; ++i) {
    const size_t row = start + 12 + 16 * i;
    const unsigned name = number_at(bytes, row, 4), at = number_at(bytes, row + 8, 4);
    if (name == kHead) head = at;
    if (name == kLines) lines = at;
    outlines = outlines || name == kOutlines || name == kCffOutlines;
  }
  if (head == 0 || lines == 0 || !outlines) return 0;
  const auto metric = [&](size_t at) { return static_cast<int16_t>(number_at(bytes, at, 2)); };
  const unsigned em = number_at(bytes, head + 18, 2);
  const int height = metric(lines + 4) - metric(lines + 6);
  return em > 0 && height > 0 ? static_cast<float>(height) / static_cast<float>(em) : 0;
}

struct SystemFonts::Search {
  std::atomic<bool> ended = false;
  std::vector<SystemFont> found;
};

SystemFonts::~SystemFonts() {
  thread_.join_within(kShutdownTimeout);
}

bool SystemFonts::search(std::vector<unsigned> characters) {
  if (search_) return false;
  search_ = std::make_shared<Search>();
  try {
    thread_ = OwnedThread([search = search_, characters = std::move(characters), known = known_] {
      try {
        search->found = find_fonts(characters, known);
      } catch (const std::exception& e) {
        log::warn("cannot search fonts: {}", e.what());
      }
      search->ended = true;
    });
  } catch (const std::system_error& e) {
    log::warn("cannot search fonts: {}", e.what());
    search_.reset();
  }
  return true;
}

std::vector<SystemFont> SystemFonts::take_found() {
  if (!search_ || !search_->ended) return {};
  std::vector<SystemFont> found = std::move(std::exchange(search_, nullptr)->found);
  for (const SystemFont& font : found) known_.emplace(font.path, font.index);
  return found;
}

}  // namespace lensd::ui
