// Fits text into a width: cuts it, or breaks lines at spaces, and in paths after a slash. ImGui also breaks
// after full stops, which would split file names and addresses.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text/printable.hpp"
#include "core/base/text/text.hpp"
#include "ui/widgets/extra_glyphs.hpp"
#include "ui/widgets/widgets.hpp"

namespace lensd::ui {
namespace {

/// Limit of wrapped texts in bytes. ImGui cannot draw more than 16383 characters at once.
constexpr size_t kMaxWrapped = 4000;

float width_of(std::string_view text) {
  return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
}

/// Returns the length of the part of a long word that fits into a line, up to a slash if there is one.
size_t part_of(std::string_view word, float width) {
  const char *begin = word.data(), *cut = begin;
  ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), width, 0, begin, begin + word.size(), &cut);
  size_t fits = static_cast<size_t>(cut - begin);
  if (const size_t slash = word.substr(0, fits).rfind('/'); slash != word.npos && slash > 0) return slash + 1;
  if (fits == 0)  // take at least one character
    for (fits = 1; fits < word.size() && (static_cast<unsigned char>(word[fits]) & 0xC0) == 0x80;) ++fits;
  return fits;
}

}  // namespace

std::string elided(std::string_view whole, float width) {
  const std::string text = printable(whole);
  note_characters(text);
  const char *begin = text.data(), *end = begin + text.size(), *cut = begin;
  if (ImGui::CalcTextSize(begin, end).x <= width) return text;
  const float room = width - ImGui::CalcTextSize("…").x;
  ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), std::max(room, 0.f), 0, begin, end, &cut);
  return std::string(begin, cut) + "…";
}

std::string elided_front(std::string_view text, float width) {
  const auto fits = [&](const std::string& s) { return ImGui::CalcTextSize(s.c_str()).x <= width; };
  std::string shorter = printable(text);
  note_characters(shorter);
  if (fits(shorter)) return shorter;
  while (!shorter.empty()) {
    do shorter.erase(0, 1);
    while (!shorter.empty() && (static_cast<unsigned char>(shorter.front()) & 0xC0) == 0x80);
    if (fits("…" + shorter)) break;
  }
  return "…" + shorter;
}

std::string elided_heading(const Look& look, std::string_view text, float width) {
  ImGui::PushFont(look.strong);
  std::string shorter = elided(text, width);
  ImGui::PopFont();
  return shorter;
}

std::string wrapped(std::string_view whole, float width) {
  const std::string limited = printable(shortened(whole, kMaxWrapped), Lines::keep);
  note_characters(limited);
  std::string_view text = limited;
  std::string all, line;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    std::string_view word = text.substr(0, end);
    const std::string joined = line.empty() ? std::string(word) : fmt::format("{} {}", line, word);
    if (width_of(joined) <= width) {
      line = joined;
    } else {
      if (!line.empty()) all += line + '\n';
      for (size_t part; width_of(word) > width && (part = part_of(word, width)) < word.size();) {
        all.append(word.substr(0, part)) += '\n';
        word.remove_prefix(part);
      }
      line = word;
    }
    if (end < text.size() && text[end] == '\n') all += line + '\n', line.clear();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all + line;
}

}  // namespace lensd::ui
