// Characters beyond Latin: from the embedded fonts, from fonts of the system, and the mark for missing ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/unit/common/temporary_folder.hpp"
#include "tests/unit/ui/panel_driver.hpp"
#include "ui/embedded.hpp"
#include "ui/widgets/extra_glyphs.hpp"

namespace lensd::ui {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr const char* kDejaVu = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
constexpr ImWchar kSquare = 0x25A1, kArmenian = 0x531;

Bytes read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

void put(Bytes& bytes, size_t at, unsigned number) {
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<unsigned char>(number >> (24 - 8 * i));
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
  /// Makes this the only font file of the system.
  void use_fonts(const Bytes& font) {
    std::filesystem::create_directories(folder_ / "fonts");
    if (!font.empty())
      std::ofstream(folder_ / "fonts/one.ttc", std::ios::binary)
          .write(reinterpret_cast<const char*>(font.data()), static_cast<std::streamsize>(font.size()));
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
  use_fonts(collection_of(font));
  model.source_name = "Ա.mp4";
  EXPECT_TRUE(build());
  EXPECT_FALSE(drawable(kArmenian)) << "the embedded fonts have it";
  for (int i = 0; i < 500 && !drawable(kArmenian); ++i) {
    build();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(drawable(kArmenian));
  EXPECT_FALSE(build());
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
}

}  // namespace
}  // namespace lensd::ui
