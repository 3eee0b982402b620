// Characters beyond Latin: from the embedded fonts, from fonts of the system, and the mark for missing ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>

#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/no_threads.hpp"
#include "tests/unit/common/temporary_folder.hpp"
#include "tests/unit/ui/panel_driver.hpp"
#include "ui/embedded.hpp"
#include "ui/widgets/extra_glyphs.hpp"

namespace lensd::ui {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr const char* kDejaVu = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
constexpr const char* kDejaVuBold = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf";
constexpr ImWchar kSquare = 0x25A1, kArmenian = 0x531, kGeorgian = 0x10D0, kSyllabics = 0x1401;

Bytes read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

void put(Bytes& bytes, size_t at, unsigned number) {
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<unsigned char>(number >> (24 - 8 * i));
}

/// Returns the position of the row of a table in the font's list of tables.
size_t row_of(const Bytes& font, std::string_view table) {
  const size_t tables = static_cast<size_t>(font[4] << 8 | font[5]);
  for (size_t i = 0; i < tables; ++i)
    if (std::equal(table.begin(), table.end(), font.begin() + 12 + 16 * static_cast<ptrdiff_t>(i)))
      return 12 + 16 * i;
  return 0;
}

/// Returns the position of a table in the font.
size_t table_of(const Bytes& font, std::string_view table) {
  const size_t at = row_of(font, table) + 8;
  return static_cast<size_t>(font[at] << 24 | font[at + 1] << 16 | font[at + 2] << 8 | font[at + 3]);
}

/// Returns a collection whose two fonts are the same one.
Bytes collection_of(const Bytes& font) {
  constexpr unsigned kHeader = 20;
  Bytes all(kHeader + font.size());
  put(all, 0, 0x74746366), put(all, 4, 0x00010000), put(all, 8, 2);
  put(all, 12, kHeader), put(all, 16, kHeader);
  std::copy(font.begin(), font.end(), all.begin() + kHeader);
  const size_t tables = static_cast<size_t>(font[4] << 8 | font[5]);
  for (size_t i = 0; i < tables; ++i) {
    const size_t at = 12 + 16 * i + 8;  // of the table's position, which counts from the start of the file
    unsigned position = 0;
    for (size_t k = 0; k < 4; ++k) position = position << 8 | font[at + k];
    put(all, kHeader + at, position + kHeader);
  }
  return all;
}

class ExtraCharacters : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    use_fonts({});
  }
  void TearDown() override {
    unsetenv("FONTCONFIG_FILE");
    PanelDriver::TearDown();
  }
  /// Makes these the only font files of the system.
  void use_fonts(const std::vector<Bytes>& fonts) {
    std::filesystem::create_directories(folder_ / "fonts");
    for (size_t i = 0; i < fonts.size(); ++i)
      std::ofstream(folder_ / ("fonts/" + std::to_string(i) + ".ttc"), std::ios::binary)
          .write(reinterpret_cast<const char*>(fonts[i].data()),
                 static_cast<std::streamsize>(fonts[i].size()));
    std::ofstream(folder_ / "fonts.conf") << "<?xml version=\"1.0\"?><fontconfig><dir>" << folder_ / "fonts"
                                          << "</dir><cachedir>" << folder_ / "cache"
                                          << "</cachedir></fontconfig>";
    setenv("FONTCONFIG_FILE", (folder_ / "fonts.conf").c_str(), 1);
  }
  /// Draws a frame and builds the fonts again if needed, as ImGuiSession does. Returns true if they were.
  bool build() {
    frame();
    time_ns_ += 1'000'000'000;
    if (!extra_.update(time_ns_)) return false;
    look = make_look(ImGui::GetIO(), ImGui::GetStyle(), 1, 1, &extra_);
    return true;
  }
  /// Builds until the character is drawable, for up to 5 s.
  bool build_until_drawable(ImWchar c) {
    for (int i = 0; i < 500 && !drawable(c); ++i) {
      build();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return drawable(c);
  }
  bool drawable(ImWchar c) const {
    for (const ImFont* font : {look.text, look.strong, look.small})
      if (!font->FindGlyphNoFallback(c)) return false;
    return true;
  }

 private:
  TemporaryFolder folder_;
  ExtraGlyphs extra_;
  int64_t time_ns_ = 0;
};

TEST_F(ExtraCharacters, NamesInTheEmbeddedFontsAreDrawnFromTheNextFrameOn) {
  const ImWchar letters[] = {0x416, 0x3A9, 0x1EBF, 0x219, 0x301, 0x20BD};  // Ж Ω ế ș, an accent, ₽
  model.source_name = "Жук, Ελλάδα Ω, Tiếng Việt, ș, e\xCC\x81, 5 ₽.mp4";
  for (const ImWchar c : letters) EXPECT_FALSE(drawable(c)) << c << " belongs to the base fonts";
  EXPECT_TRUE(build());
  for (const ImWchar c : letters) EXPECT_TRUE(drawable(c)) << c;
  EXPECT_TRUE(drawable('0')) << "the base fonts stay";
  EXPECT_FALSE(build()) << "once is enough";
  model.source_name = "Сто.mp4";
  EXPECT_FALSE(build()) << "the whole row was added";
}

TEST_F(ExtraCharacters, LatinNamesNeedNothing) {
  model.source_name = "Überfluß – 10 µs, été, Łódź.mp4";
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(build());
}

TEST_F(ExtraCharacters, MissingOnesAndInvalidBytesAreSquares) {
  for (const char* name : {"caf\xE9.mp4", "日本の夏.mp4", "\xF0\x9F\x98\x80.mp4"}) {
    model.source_name = name;
    build();
    EXPECT_TRUE(drawable(kSquare)) << name;
    EXPECT_EQ(look.strong->FindGlyph(0x65E5), look.strong->FindGlyph(kSquare)) << name;
  }
  EXPECT_FALSE(build());
}

TEST_F(ExtraCharacters, FontsOfTheSystemHaveTheRest) {
  const Bytes font = read_file(kDejaVu);
  if (font.empty() || embedded("font-text").size() == font.size()) GTEST_SKIP() << "needs DejaVu and Inter";
  use_fonts({collection_of(font)});
  model.source_name = "Ա.mp4";
  EXPECT_TRUE(build());
  EXPECT_FALSE(drawable(kArmenian)) << "the embedded fonts have it";
  EXPECT_TRUE(build_until_drawable(kArmenian));
  EXPECT_FALSE(build());
  model.source_name = "ა.mp4";
  EXPECT_TRUE(build_until_drawable(kGeorgian)) << "in the same font";
  EXPECT_TRUE(drawable(kArmenian));
}

TEST_F(ExtraCharacters, AFontThatCannotBeUsedLeavesItsCharactersToTheNextOne) {
  Bytes preferred = read_file(kDejaVu);
  const Bytes next = read_file(kDejaVuBold);
  if (preferred.empty() || next.empty()) GTEST_SKIP() << "needs DejaVu";
  const size_t lines = table_of(preferred, "hhea");
  put(preferred, lines + 4, 0);  // ascent and descent
  ASSERT_EQ(line_per_em(preferred, 0), 0);
  use_fonts({preferred, next});
  model.source_name = "Ա.mp4";
  EXPECT_TRUE(build_until_drawable(kArmenian));
}

TEST_F(ExtraCharacters, ManyCharactersAreAddedLessOften) {
  const Bytes font = read_file(kDejaVu);
  if (font.empty()) GTEST_SKIP() << "needs DejaVu";
  use_fonts({font});
  frame();
  for (unsigned c = kSyllabics; c < kSyllabics + 600; ++c)
    note_characters(std::string{static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
                                static_cast<char>(0x80 | (c & 0x3F))});
  EXPECT_TRUE(build_until_drawable(kSyllabics));
  model.source_name = "Жук.mp4";
  EXPECT_FALSE(build()) << "a second later";
  EXPECT_TRUE(build()) << "two seconds later";
}

TEST_F(ExtraCharacters, WithoutThreadsThereAreNoFontsOfTheSystem) {
  const test::NoThreads no_threads;
  model.source_name = "Ա.mp4";
  for (int i = 0; i < 5; ++i) build();
  EXPECT_FALSE(drawable(kArmenian));
  EXPECT_TRUE(drawable(kSquare));
}

TEST_F(ExtraCharacters, AFontFileIsReadOnce) {
  const Bytes font = read_file(kDejaVu);
  if (font.empty()) GTEST_SKIP() << "needs DejaVu";
  use_fonts({font});
  SystemFonts system;
  const auto search = [&](unsigned character) {
    std::vector<SystemFont> found;
    EXPECT_TRUE(system.search({character}));
    EXPECT_TRUE(eventually([&] { return !(found = system.take_found()).empty(); }));
    return found;
  };
  EXPECT_EQ(search(kArmenian)[0].bytes, font);
  const std::vector<SystemFont> again = search(kGeorgian);
  EXPECT_TRUE(again[0].bytes.empty());
  EXPECT_EQ(again[0].characters, std::vector<unsigned>{kGeorgian});
}

TEST(FontFiles, LinesPerEmAreReadOnlyFromFonts) {
  const auto bytes = embedded("font-text");
  const float height = line_per_em(bytes, 0);
  EXPECT_GT(height, 1);
  EXPECT_LT(height, 1.6f);
  EXPECT_EQ(line_per_em(bytes, 1), 0) << "no collection";
  EXPECT_EQ(line_per_em({}, 0), 0);
  EXPECT_EQ(line_per_em(bytes.first(20), 0), 0);
  const Bytes text(4000, 'x'), collection = collection_of({bytes.begin(), bytes.end()});
  EXPECT_EQ(line_per_em(text, 0), 0);
  EXPECT_EQ(line_per_em(collection, 1), height);
  EXPECT_EQ(line_per_em(collection, 2), 0);
  EXPECT_EQ(line_per_em(collection, -1), 0);
  Bytes variable(bytes.begin(), bytes.end());
  const size_t outlines = std::max(row_of(variable, "CFF "), row_of(variable, "glyf"));
  put(variable, outlines, 0x43464632);  // CFF2
  EXPECT_EQ(line_per_em(variable, 0), 0) << "Dear ImGui cannot draw it";
}

}  // namespace
}  // namespace lensd::ui
