#include "ui/widgets/extra_glyphs.hpp"

#include <imgui_internal.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/embedded.hpp"

namespace lensd::ui {
namespace {

/// Minimum time between two builds, and its increase for each character of the system's fonts in the last
/// one. A build takes 10 ms, and 0.09 ms more for each of these characters: 140 ms with kMaxSearched.
constexpr int64_t kIntervalNs = 500'000'000, kIntervalPerCharacterNs = 1'500'000;
constexpr unsigned kSquare = 0x25A1, kInvalid = 0xFFFD;
/// The embedded fonts have no characters from here on (Chinese, Japanese, Korean).
constexpr unsigned kSystemOnly = 0x2E80;
/// Limit of the characters from the system's fonts. It keeps the texture within GL's limits at all scales.
constexpr size_t kMaxSearched = 1500;

/// Characters that texts needed and the fonts lacked.
std::set<unsigned>& noted() {
  static std::set<unsigned> characters;
  return characters;
}

/// Appends a range to ImGui's list, which ends with 0.
void append(std::vector<ImWchar>& ranges, unsigned first, unsigned last) {
  if (!ranges.empty()) ranges.pop_back();
  for (const unsigned c : {first, last, 0u}) ranges.push_back(static_cast<ImWchar>(c));
}

void merge(ImFontAtlas& atlas, std::span<const unsigned char> bytes, float size, const ImWchar* ranges,
           ImFontConfig config) {
  config.MergeMode = true;
  config.FontDataOwnedByAtlas = false;  // the atlas then does not modify the bytes
  atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), size,
                             &config, ranges);
}

/// Returns true if Dear ImGui can read the font. One unreadable font makes the build of the whole atlas fail.
bool loads(const SystemFont& font) {
  ImFontAtlas trial;
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false, config.FontNo = font.index;
  const auto c = static_cast<ImWchar>(font.characters.front());
  const ImWchar ranges[] = {c, c, 0};
  trial.AddFontFromMemoryTTF(const_cast<unsigned char*>(font.bytes.data()),
                             static_cast<int>(font.bytes.size()), 13, &config, ranges);
  return trial.Build();
}

}  // namespace

void note_characters(std::string_view text) {
  const ImFont* const font = ImGui::GetFont();
  const char *at = text.data(), *const end = at + text.size();
  while (at < end) {
    unsigned c = static_cast<unsigned char>(*at);
    if (c < 0x80) {
      ++at;
      continue;
    }
    at += ImTextCharFromUtf8(&c, at, end);
    if (c == 0) break;
    // With 16-bit characters, ImGui draws characters above U+FFFF as U+FFFD.
    if (c > IM_UNICODE_CODEPOINT_MAX) c = kInvalid;
    if (!font->FindGlyphNoFallback(static_cast<ImWchar>(c))) noted().insert(c);
  }
}

ExtraGlyphs::ExtraGlyphs() {
  noted().clear();
}

void ExtraGlyphs::take_noted() {
  if (noted().size() == known_.size()) return;
  for (const unsigned c : noted()) {
    if (!known_.insert(c).second) continue;
    changed_ = changed_ || ranges_.empty();  // the atlas has no square yet
    if (c == kInvalid) continue;
    if (c >= kSystemOnly) {
      wanted_.insert(c);
    } else {
      unchecked_.insert(c);
      changed_ = rows_.insert(c >> 8).second || changed_;
    }
  }
}

void ExtraGlyphs::take_system(std::vector<SystemFont> found) {
  for (SystemFont& font : found) {
    auto target = std::ranges::find_if(fonts_, [&](const Font& known) {
      return known.file.path == font.path && known.file.index == font.index;
    });
    if (target == fonts_.end()) {
      if (font.bytes.empty() || !loads(font)) continue;
      target = fonts_.insert(fonts_.end(), Font());
    }
    changed_ = true;
    for (const unsigned c : font.characters) append(target->ranges, c, c);
    if (target->file.bytes.empty()) target->file = std::move(font);
  }
}

bool ExtraGlyphs::update(int64_t time_ns) {
  if (!unchecked_.empty() && !changed_) {
    const ImFont* const built = ImGui::GetIO().Fonts->Fonts[0];
    for (const unsigned c : std::exchange(unchecked_, {}))
      if (!built->FindGlyphNoFallback(static_cast<ImWchar>(c))) wanted_.insert(c);
  }
  take_noted();
  take_system(system_.take_found());
  while (searched_ + wanted_.size() > kMaxSearched) wanted_.erase(std::prev(wanted_.end()));
  if (!wanted_.empty() && system_.search({wanted_.begin(), wanted_.end()}))
    searched_ += std::exchange(wanted_, {}).size();
  if (!changed_ || time_ns < next_build_ns_) return false;
  ranges_.clear();
  append(ranges_, kSquare, kSquare);
  for (const unsigned row : rows_) append(ranges_, std::max(row << 8, 1u), row << 8 | 0xFF);
  changed_ = false;
  next_build_ns_ = time_ns + kIntervalNs;
  for (const Font& font : fonts_)
    next_build_ns_ += kIntervalPerCharacterNs * static_cast<int64_t>(font.ranges.size() / 2);
  return true;
}

void ExtraGlyphs::add_to(ImFontAtlas& atlas, std::string_view name, float size) const {
  if (ranges_.empty()) return;
  const std::span<const unsigned char> own = embedded(name);
  ImFontConfig config;
  config.OversampleH = 3, config.OversampleV = 1;
  merge(atlas, own, size, ranges_.data(), config);
  config.OversampleH = 1;
  for (const Font& extra : fonts_) {
    config.FontNo = extra.file.index;
    // Give both fonts the same em, which ImGui derives from the height of a line.
    const float same_em = size * extra.file.line_per_em / line_per_em(own, 0);
    merge(atlas, extra.file.bytes, same_em, extra.ranges.data(), config);
  }
}

void ExtraGlyphs::build(ImFontAtlas& atlas) const {
  if (ranges_.empty()) return;
  atlas.Build();
  for (ImFont* font : atlas.Fonts) {
    font->FallbackChar =
        static_cast<ImWchar>(kSquare);  // the default is U+FFFD, which the fonts lack, then ?
    font->BuildLookupTable();
  }
}

}  // namespace lensd::ui
