// Where tracks can be drawn: over pictures that differ from the tracked picture only by scaling.
#include <gtest/gtest.h>

#include "kernels/registry.hpp"
#include "ui/model/track_space.hpp"

namespace lensd::ui {
namespace {

bool fits(const std::string& chain, const std::string& shown) {
  return tracks_fit(resolved(parse_chain(chain, registry()), registry()), registry(), shown);
}

TEST(TrackSpace, NodesThatMovePixelsSeparateTracksFromPictures) {
  EXPECT_TRUE(fits("gaussian,klt", ""));
  EXPECT_TRUE(fits("gaussian,klt", "gaussian"));
  EXPECT_TRUE(fits("gaussian,klt", "source"));
  EXPECT_TRUE(fits("klt,resize=scale=0.5", "")) << "tracks are scaled with the picture";
  EXPECT_TRUE(fits("crop,klt,draw_tracks", "")) << "the tracker sees the cropped picture";
  EXPECT_FALSE(fits("crop,klt", "source")) << "the picture while its rectangle is dragged";
  EXPECT_FALSE(fits("klt,crop", ""));
  EXPECT_TRUE(fits("klt,crop", "klt"));
  for (const char* filter : {"flip", "rotate", "stabilize"})
    EXPECT_FALSE(fits(std::string("klt,") + filter, ""));
}

TEST(TrackSpace, DisabledNodesDoNotCount) {
  GraphDesc graph = resolved(parse_chain("klt,crop", registry()), registry());
  graph.find("crop")->enabled = false;
  EXPECT_TRUE(tracks_fit(graph, registry(), ""));
  graph.find("klt")->enabled = false;
  EXPECT_FALSE(tracks_fit(graph, registry(), "")) << "there are no tracks";
}

}  // namespace
}  // namespace lensd::ui
