// docs/filters.md and README's table match the registry. The JSON has the structure that
// docs/guides/graphs.md describes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/graph/catalogue.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

std::vector<const FilterEntry*> all() {
  std::vector<const FilterEntry*> entries;
  for (const FilterEntry& entry : registry().filters) entries.push_back(&entry);
  return entries;
}

constexpr const char* kSource = LENSD_SOURCE_DIR;

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(kSource) + "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Compares a file with `wanted`. Writes `wanted` to the file if LENSD_UPDATE_LISTS is set (`./dev lists`).
void expect_file(const std::string& name, const std::string& wanted) {
  if (std::getenv("LENSD_UPDATE_LISTS")) {
    std::ofstream(std::string(kSource) + "/" + name) << wanted;
    return;
  }
  std::istringstream is(text_of(name)), must_be(wanted);
  std::string line, wanted_line;
  for (int number = 1;; ++number) {
    const bool more = static_cast<bool>(std::getline(is, line)),
               more_wanted = static_cast<bool>(std::getline(must_be, wanted_line));
    if (!more && !more_wanted) break;
    ASSERT_TRUE(more == more_wanted && line == wanted_line)
        << name << " is stale from line " << number << ": run `./dev lists`";
  }
}

TEST(Catalogue, DocsAreUpToDate) {
  expect_file("docs/filters.md", filters_markdown(all()));
}

/// README's table has a row for each purpose, in the registry's order.
TEST(Catalogue, ReadmeListsEveryFilter) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const FilterEntry& entry : registry().filters) {
    auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.first == entry.purpose; });
    if (row == rows.end()) row = rows.insert(rows.end(), {entry.purpose, ""});
    row->second += " `" + entry.schema().name + "`";
  }
  std::string table = "| purpose | filters |\n| --- | --- |\n";
  for (const auto& [purpose, names] : rows) table += "| " + purpose + " |" + names + " |\n";
  std::string readme = text_of("README.md");
  const size_t begin = readme.find("| purpose | filters |\n"), end = readme.find("\n\n", begin) + 1;
  ASSERT_NE(begin, std::string::npos);
  expect_file("README.md", readme.replace(begin, end - begin, table));
}

TEST(Catalogue, JsonDescribesEveryFilter) {
  const auto json = nlohmann::json::parse(filters_json(all()));
  ASSERT_EQ(json.size(), registry().filters.size());
  for (const auto& filter : json) {
    SCOPED_TRACE(filter.dump());
    const FilterEntry* entry = registry().find(filter.at("name").get<std::string>());
    ASSERT_NE(entry, nullptr);
    EXPECT_FALSE(filter.at("doc").get<std::string>().empty());
    EXPECT_EQ(filter.at("min_inputs"), entry->min_inputs);
    EXPECT_EQ(filter.at("max_inputs"), entry->max_inputs);
    EXPECT_EQ(filter.at("formats").size(), accepted_formats(*entry).size());
    EXPECT_TRUE(filter.at("temporal").is_boolean());
    EXPECT_EQ(filter.at("needs_tracks"), entry->needs_tracks);
    ASSERT_EQ(filter.at("parameters").size(), entry->schema().params.size());
  }
}

/// Programs can read a parameter's default and limits from the JSON; the default is accepted unchanged.
TEST(Catalogue, JsonParametersAreComplete) {
  const auto json = nlohmann::json::parse(filters_json(all()));
  int limits = 0, named_zeros = 0;
  for (const auto& filter : json)
    for (const auto& p : filter.at("parameters")) {
      SCOPED_TRACE(filter.at("name").get<std::string>() + "." + p.dump());
      const ParamSpec& spec = *registry()
                                   .find(filter.at("name").get<std::string>())
                                   ->schema()
                                   .find(p.at("name").get<std::string>());
      const auto& type = p.at("type");
      const auto& value = p.at("default");
      EXPECT_FALSE(p.at("doc").get<std::string>().empty());
      EXPECT_TRUE(p.at("change") == "live" || p.at("change") == "reconfigure");
      if (type == "boolean") {
        EXPECT_TRUE(value.is_boolean());
      }
      if (type == "integer") {
        EXPECT_TRUE(value.is_number_integer());
      }
      if (type == "integer" || type == "real") {
        ++limits;
        EXPECT_LE(p.at("min").get<double>(), value.get<double>());
        EXPECT_GE(p.at("max").get<double>(), value.get<double>());
      }
      if (type == "choice") {
        const auto choices = p.at("choices").get<std::vector<std::string>>();
        EXPECT_NE(std::find(choices.begin(), choices.end(), value.get<std::string>()), choices.end());
      }
      if (type == "matrix") {
        EXPECT_EQ(value.get<std::vector<std::vector<double>>>().size() % 2, 1u);
      }
      EXPECT_EQ(p.contains("unit"), !spec.unit.empty());
      EXPECT_EQ(p.value("zero", ""), spec.zero);
      EXPECT_EQ(p.value("plan_if", ""), spec.plan_if);
      EXPECT_EQ(p.contains("odd"), spec.widget == Widget::odd_slider);
      EXPECT_EQ(p.contains("log"), spec.widget == Widget::log_slider);
      EXPECT_EQ(p.contains("max_side"), type == "matrix");
      named_zeros += p.contains("zero");
    }
  EXPECT_GT(limits, 20);
  EXPECT_GE(named_zeros, 8);
}

TEST(Catalogue, FormatsMatchTheFilters) {
  for (const auto& filter : nlohmann::json::parse(filters_json(all()))) {
    if (filter.at("name") != "grayscale") continue;
    EXPECT_EQ(filter.at("formats"),
              nlohmann::json::parse(
                  R"([{"input": "gray8", "output": "gray8"}, {"input": "rgba8", "output": "gray8"},
                      {"input": "gray16", "output": "gray16"}, {"input": "rgba16", "output": "gray16"}])"));
    EXPECT_EQ(filter.at("temporal"), false);
    return;
  }
  FAIL() << "there is no grayscale";
}

}  // namespace
}  // namespace lensd
