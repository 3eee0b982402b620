// Golden frame hashes: every filter with its defaults, and a few chains, on fixed pictures. The hashes must
// be the same on every machine, SIMD level, backend and number of threads.
//
// `./dev lists` adds the hashes of new filters to tests/golden/framehashes.txt and removes those of removed
// filters. If a change intentionally changes a filter's output, first delete its lines there, then run
// `./dev lists`, and give the reason in the commit message.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "core/graph/exec/executor.hpp"
#include "core/media/recorder.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

constexpr const char* kFile = LENSD_SOURCE_DIR "/tests/golden/framehashes.txt";
constexpr Extent kSize{161, 119};
constexpr int kFrames = 3;

/// Moving waves and noise; computed with integers and a fixed generator, so identical on every machine.
std::vector<uint8_t> pixels(int frame) {
  std::vector<uint8_t> rgb;
  std::mt19937 random(static_cast<uint32_t>(frame) + 1);
  for (int y = 0; y < kSize.height; ++y)
    for (int x = 0; x < kSize.width; ++x)
      for (int c = 0; c < 3; ++c) {
        const int wave = ((x + 3 * frame) * (c + 2) + y * 3) & 255, square = ((x / 20 + y / 15) & 1) * 90;
        const int noise = static_cast<int>(random() % 32);
        rgb.push_back(static_cast<uint8_t>((wave / 2 + square + noise) & 255));
      }
  return rgb;
}

PictureInfo picture_info() {
  PictureInfo info;
  info.extent = kSize;
  info.format = {.model = ColourModel::rgb,
                 .depth = 8,
                 .plane_count = 1,
                 .components = {{{0, 3, 0, 0}, {0, 3, 1, 0}, {0, 3, 2, 0}, {}}}};
  return info;
}

std::string run(const GraphDesc& graph, Backend backend, int threads) {
  Profiler profiler;
  Timeline timeline;
  const auto executor = make_executor(backend, {.threads = threads, .frames = 2}, profiler, timeline);
  executor->install(make_plan(graph, picture_info(), backend, registry()));
  std::string hashes;
  for (int i = 0; i < kFrames; ++i) {
    const std::vector<uint8_t> rgb = pixels(i);
    PictureRef ref;
    ref.info = picture_info();
    ref.planes[0] = rgb.data(), ref.pitch_bytes[0] = kSize.width * 3;
    FrameInfo info;
    info.index = i;
    const Frame frame = executor->run(Picture(ref, info, nullptr));
    frame.wait_ready();
    if (i > 0) hashes.push_back(' ');
    hashes.append(FrameHash::digest(frame.image()), 0, 16);
  }
  return hashes;
}

GraphDesc graph_of(const std::string& chain) {
  GraphDesc graph;
  const FilterEntry* single = registry().find(chain);
  if (single && single->min_inputs > 1) {
    NodeDesc other{.id = "other", .filter = "invert"}, node{.id = "node", .filter = chain};
    node.inputs = {"source", "other"};
    graph.nodes = {other, node};
    return resolved(graph, registry());
  }
  if (single && single->needs_tracks) return parse_chain("klt," + chain, registry());
  return parse_chain(chain, registry());
}

std::vector<std::string> cases() {
  std::vector<std::string> all{
      "median=radius=1,gaussian=sigma=1.6,grayscale", "grayscale,median=radius=2,invert",
      "gaussian=sigma=9:border=wrap,mosaic=block=7", "gaussian=sigma=0.4:border=constant"};
  for (const FilterEntry& filter : registry().filters)
    if (!filter.needs_tracks || registry().find("klt")) all.push_back(filter.schema().name);
  return all;
}

std::map<std::string, std::string> golden() {
  std::map<std::string, std::string> known;
  std::ifstream file(kFile);
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    if (!line.starts_with("#") && tab != std::string::npos) known[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return known;
}

TEST(Golden, FrameHashes) {
  const auto known = golden();
  if (std::getenv("LENSD_UPDATE_LISTS")) {
    std::ofstream file(kFile);
    file << "# graph, then the first 16 digits of each frame's SHA-256; see golden_test.cpp\n";
    for (const std::string& chain : cases())
      file << chain << '\t'
           << (known.contains(chain) ? known.at(chain) : run(graph_of(chain), Backend::cpu, 1)) << '\n';
    ASSERT_TRUE(file.good());
  }
  const auto expected = golden();
  for (const std::string& chain : cases()) {
    const auto it = expected.find(chain);
    ASSERT_NE(it, expected.end()) << chain << " has no golden hash: run `./dev lists`";
    EXPECT_EQ(run(graph_of(chain), Backend::cpu, 1), it->second) << chain;
    EXPECT_EQ(run(graph_of(chain), Backend::cpu, 2), it->second) << chain << " on two threads";
  }
}

TEST(Golden, FrameHashesOnCuda) {
  const CudaStatus cuda = probe_cuda();
  if (!cuda.available) GTEST_SKIP() << cuda.reason;
  const auto known = golden();
  for (const std::string& chain : cases())
    EXPECT_EQ(run(graph_of(chain), Backend::cuda, 1), known.at(chain)) << chain;
}

}  // namespace
}  // namespace lensd
