// The files that --tracks writes.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "app/commands/track_file.hpp"
#include "core/base/error.hpp"

namespace lensd {
namespace {

TEST(TrackFile, WritesALineForEveryTrackAndLoss) {
  std::vector<uint8_t> bytes(track_table_bytes(3));
  auto* table = new (bytes.data()) TrackTable{.frame = 7, .capacity = 3};
  table->tracks()[0] = {
      .id = 5, .status = TrackStatus::tracked, .x = 1.25f, .y = 2.5f, .age = 9, .residual = 0.5f};
  table->tracks()[1] = {};
  table->tracks()[2] = {.id = 6, .status = TrackStatus::lost_return, .x = 10, .y = 20, .return_error = 1.5f};
  FrameInfo info;
  info.index = 7, info.pts_ns = 280'000'000;
  const auto text_of = [&](const std::string& name) {
    const std::string path = testing::TempDir() + name;
    TrackFile file(path);
    file.write(table, info);
    file.write(nullptr, info);
    file.finish();
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(text_of("tracks.csv"),
            "frame,pts,id,x,y,age,residual,fb_error,status\n"
            "7,0.280000,5,1.2500,2.5000,9,0.500,0.0000,tracked\n"
            "7,0.280000,6,10.0000,20.0000,0,0.000,1.5000,lost:return\n");
  EXPECT_EQ(text_of("tracks.jsonl").substr(0, 60),
            R"({"frame":7,"pts":0.280000,"id":5,"x":1.2500,"y":2.5000,"age")");
  EXPECT_THROW(TrackFile("tracks.txt"), Error);
  EXPECT_THROW(TrackFile("/nowhere/tracks.csv"), Error);
}

}  // namespace
}  // namespace lensd
