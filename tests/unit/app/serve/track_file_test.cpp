// app/commands/track_file: rows of all tracks, as CSV and JSON Lines.

#include <gtest/gtest.h>

#include <string>

#include "app/commands/track_file.hpp"
#include "core/base/error.hpp"
#include "tests/filters/track_tables.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

/// A table with tracks in the first and third of four slots.
test::TableBytes two_tracks() {
  test::TableBytes bytes(4);
  Track* tracks = bytes.table()->tracks();
  tracks[0] = {.id = 7, .x = 1.25f, .y = 2.5f};
  tracks[0].age = 3, tracks[0].residual = 0.5f, tracks[0].return_error = 0.125f;
  tracks[0].status = TrackStatus::tracked;
  tracks[2] = {.id = 9, .x = 10, .y = 20};
  tracks[2].status = TrackStatus::lost_outside;
  return bytes;
}

std::string written(const std::string& name) {
  const TemporaryFolder folder;
  const test::TableBytes bytes = two_tracks();
  TrackFile file(folder / name);
  file.write(nullptr, {.index = 4});
  file.write(bytes.table(), {.index = 5, .pts_ns = 200'000'000});
  file.finish();
  return read_whole_file(folder / name, 10'000).value_or("no file");
}

TEST(TrackFileTest, HasARowForEachTrack) {
  EXPECT_EQ(written("t.csv"),
            "frame,pts,id,x,y,age,residual,fb_error,status\n"
            "5,0.200000,7,1.2500,2.5000,3,0.500,0.1250,tracked\n"
            "5,0.200000,9,10.0000,20.0000,0,0.000,0.0000,lost:outside\n");
  EXPECT_EQ(written("t.jsonl"),
            R"({"frame":5,"pts":0.200000,"id":7,"x":1.2500,"y":2.5000,"age":3,"residual":0.500,)"
            R"("fb_error":0.1250,"status":"tracked"})"
            "\n"
            R"({"frame":5,"pts":0.200000,"id":9,"x":10.0000,"y":20.0000,"age":0,"residual":0.000,)"
            R"("fb_error":0.0000,"status":"lost:outside"})"
            "\n");
}

TEST(TrackFileTest, OtherExtensionsAreRefused) {
  for (const char* name : {"t.txt", "t", "csv", "t.csv.gz"})
    EXPECT_THROW(check_track_path(name), Error) << name;
  for (const char* name : {"t.csv", "t.jsonl"}) EXPECT_NO_THROW(check_track_path(name)) << name;
}

}  // namespace
}  // namespace lensd
