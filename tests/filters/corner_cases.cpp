#include "tests/filters/corner_cases.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "core/device/memory.hpp"
#include "core/device/workers.hpp"
#include "tests/filters/harness.hpp"
#if LENSD_CUDA
#include "core/device/cuda_handles.hpp"
#endif

namespace lensd {

bool operator==(const Corner& a, const Corner& b) {
  return a.x == b.x && a.y == b.y && a.strength == b.strength;
}
std::ostream& operator<<(std::ostream& out, const Corner& c) {
  return out << '(' << c.x << ", " << c.y << ": " << std::bit_cast<float>(c.strength) << ')';
}

namespace test {

namespace {

std::vector<uint8_t> table_of(const std::vector<Track>& tracks) {
  std::vector<uint8_t> bytes(track_table_bytes(static_cast<int>(tracks.size())));
  TrackTable header;
  header.capacity = static_cast<uint32_t>(tracks.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!tracks.empty())
    std::memcpy(bytes.data() + sizeof header, tracks.data(), tracks.size() * sizeof(Track));
  return bytes;
}

}  // namespace

FoundCorners expected_corners(const CornerCase& test) {
  const std::vector<uint8_t> table = table_of(test.living);
  FoundCorners found;
  found.corners = corners_reference(test.luma, test.params, reinterpret_cast<const TrackTable*>(table.data()),
                                    test.wanted, found.count);
  return found;
}

FoundCorners corners_on_cpu(const CornerCase& test, int threads) {
  const Extent e = test.luma.format.extent;
  const size_t pitch = align_up(test.luma.format.row_bytes(), 64);
  MemoryBlock pixels(MemoryKind::host, pitch * static_cast<size_t>(e.height));
  for (int y = 0; y < e.height; ++y)
    std::memcpy(pixels.data() + pitch * static_cast<size_t>(y),
                &test.luma.pixels[test.luma.format.row_bytes() * static_cast<size_t>(y)],
                test.luma.format.row_bytes());
  const std::vector<uint8_t> table = table_of(test.living);
  MemoryBlock scratch(MemoryKind::host, corner_scratch_bytes(e));
  std::memset(scratch.data(), 0xa5, scratch.size());
  std::vector<MemoryBlock> private_memory;
  for (int i = 0; i < threads; ++i) {
    private_memory.emplace_back(MemoryKind::host, corner_worker_bytes(e));
    std::memset(private_memory.back().data(), 0xa5, private_memory.back().size());
  }
  const FrameBlock frame{.state_index = 0};
  FoundCorners found;
  found.corners.resize(static_cast<size_t>(test.params.capacity));
  found.count = {77, 77};
  const CornerJob job{
      {{nullptr, pixels.data()}, &frame, static_cast<std::ptrdiff_t>(pitch), e, test.luma.is_deep()},
      &test.params,
      reinterpret_cast<const TrackTable*>(table.data()),
      &test.wanted,
      found.corners.data(),
      &found.count,
      scratch.data()};
  struct Call {
    const CornerJob& job;
    std::vector<MemoryBlock>& memory;
    const CornerPass* pass;
  } call{job, private_memory, nullptr};
  Workers workers(threads);
  for (const CornerPass& pass : corner_passes(e, test.params.capacity, test.luma.is_deep(), Backend::cpu)) {
    call.pass = &pass;
    workers.run(
        pass.spec.items, pass.spec.grain,
        [](void* context, Band band, int worker) {
          Call& c = *static_cast<Call*>(context);
          c.pass->run(c.job, band, c.memory[static_cast<size_t>(worker)].data());
        },
        &call);
  }
  EXPECT_LE(found.count.found, found.corners.size());
  found.corners.resize(found.count.found);
  return found;
}

namespace {

#if LENSD_CUDA
FoundCorners on_cuda(const CornerCase& test) {
  const Extent e = test.luma.format.extent;
  const size_t pitch = align_up(test.luma.format.row_bytes(), 64), rows = static_cast<size_t>(e.height);
  const std::vector<uint8_t> table = table_of(test.living);
  const size_t capacity = static_cast<size_t>(test.params.capacity);
  const auto device = [](size_t bytes) { return MemoryBlock(MemoryKind::device, bytes); };
  const auto copy = [](void* to, const void* from, size_t bytes) {
    LENSD_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  };
  const MemoryBlock pixels = device(pitch * rows), living = device(table.size()),
                    params = device(sizeof(CornerParams)), wanted = device(4),
                    frame = device(sizeof(FrameBlock)), corners = device(capacity * sizeof(Corner)),
                    count = device(sizeof(CornerCount)), scratch = device(corner_scratch_bytes(e));
  for (size_t y = 0; y < rows; ++y)
    copy(pixels.data() + pitch * y, &test.luma.pixels[test.luma.format.row_bytes() * y],
         test.luma.format.row_bytes());
  const FrameBlock block{.state_index = 0};
  copy(living.data(), table.data(), table.size()), copy(params.data(), &test.params, sizeof(CornerParams));
  copy(wanted.data(), &test.wanted, 4), copy(frame.data(), &block, sizeof block);
  LENSD_CUDA_CHECK(cudaMemset(scratch.data(), 0xa5, scratch.size()));
  LENSD_CUDA_CHECK(cudaMemset(count.data(), 0xa5, count.size()));
  LENSD_CUDA_CHECK(cudaDeviceSynchronize());
  const CornerJob job{{{nullptr, pixels.data()},
                       reinterpret_cast<const FrameBlock*>(frame.data()),
                       static_cast<std::ptrdiff_t>(pitch),
                       e,
                       test.luma.is_deep()},
                      reinterpret_cast<const CornerParams*>(params.data()),
                      reinterpret_cast<const TrackTable*>(living.data()),
                      reinterpret_cast<const uint32_t*>(wanted.data()),
                      reinterpret_cast<Corner*>(corners.data()),
                      reinterpret_cast<CornerCount*>(count.data()),
                      scratch.data()};
  cuda::Stream stream;
  for (const CornerPass& pass : corner_passes(e, test.params.capacity, test.luma.is_deep(), Backend::cuda))
    pass.launch(job, stream.get());
  LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  FoundCorners found;
  copy(&found.count, count.data(), sizeof(CornerCount));
  EXPECT_LE(found.count.found, capacity);
  found.corners.resize(std::min<size_t>(found.count.found, capacity));
  copy(found.corners.data(), corners.data(), found.corners.size() * sizeof(Corner));
  return found;
}
#endif

void expect_same(const FoundCorners& actual, const FoundCorners& reference, const std::string& what) {
  EXPECT_EQ(actual.count.found, reference.count.found) << what;
  EXPECT_EQ(actual.count.strongest, reference.count.strongest) << what;
  for (size_t i = 0; i < std::min(actual.corners.size(), reference.corners.size()); ++i)
    ASSERT_EQ(actual.corners[i], reference.corners[i]) << what << ", corner " << i;
}

}  // namespace

void compare_corners(const CornerCase& test, Side side, const std::string& what) {
  const FoundCorners reference = expected_corners(test);
  if (side == Side::cpu) {
    expect_same(corners_on_cpu(test, 1), reference, what + ", 1 thread");
    expect_same(corners_on_cpu(test, 2), reference, what + ", 2 threads");
  }
#if LENSD_CUDA
  if (side == Side::cuda) expect_same(on_cuda(test), reference, what);
#endif
}

Image with_fractions(const Image& image, std::mt19937* random) {
  Image deep({PixelFormat::gray16, image.format.extent});
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const int fraction = random ? static_cast<int>((*random)() >> 25) : 0;
      deep.set_sample(x, y, 0, std::min(image.at(x, y) * 128 + fraction, 32640));
    }
  return deep;
}

Image corner_scene(Extent e, std::mt19937& random) {
  Image image = corner_picture(e, [](int x, int y) { return 90 + (x + 2 * y) / 32 % 32; });
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 20 + e.width * e.height / 4000; ++i) {
    const int x0 = below(e.width), y0 = below(e.height), x1 = std::min(e.width, x0 + 3 + below(40)),
              y1 = std::min(e.height, y0 + 3 + below(40)), value = below(200);
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) image.at(x, y) = static_cast<uint8_t>(value);
  }
  for (uint8_t& v : image.pixels) v = static_cast<uint8_t>(v + below(9));
  return image;
}

std::vector<Track> tracks_in(Extent e, int count, std::mt19937& random) {
  std::vector<Track> tracks(static_cast<size_t>(count));
  for (Track& t : tracks) {
    t.status = static_cast<TrackStatus>(random() % kTrackStatuses);
    t.x = static_cast<float>(random() % 65536) / 65536.0f * static_cast<float>(e.width - 1);
    t.y = static_cast<float>(random() % 65536) / 65536.0f * static_cast<float>(e.height - 1);
  }
  return tracks;
}

}  // namespace test
}  // namespace lensd
