#include "tests/fuzz/media_files/play.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/error.hpp"
#include "core/media/source.hpp"
#include "tests/fuzz/common/require.hpp"

namespace lensd::fuzz {
namespace {

bool fits(Extent extent) {
  return extent.width >= 1 && extent.height >= 1 && extent.width <= kMaxSide && extent.height <= kMaxSide;
}

/// Copies every row, so that the address sanitizer checks the planes. memcpy() is checked much faster than
/// reads of single bytes, of which a picture can have hundreds of millions.
void read_planes(const PictureRef& ref) {
  std::vector<uint8_t> row;
  for (int p = 0; p < ref.info.format.plane_count; ++p) {
    const auto i = static_cast<size_t>(p);
    const size_t bytes = ref.info.plane_row_bytes(p);
    require(ref.planes[i] != nullptr, "plane {} is missing", p);
    const auto pitch = static_cast<size_t>(std::abs(ref.pitch_bytes[i]));
    require(pitch >= bytes || ref.info.plane_rows(p) == 1, "rows of {} bytes, {} apart", bytes, pitch);
    row.resize(bytes);
    for (int y = 0; y < ref.info.plane_rows(p); ++y)
      std::memcpy(row.data(), ref.planes[i] + y * ref.pitch_bytes[i], bytes);
  }
}

/// Reads and checks up to `most` pictures. Their times must increase and be at least `after_ns`. Returns the
/// number of pictures.
int read(Source& source, int most, int64_t after_ns) {
  int64_t last_ns = after_ns - 1;
  int pictures = 0;
  while (pictures < most) {
    Picture picture;
    const FrameOutcome outcome = source.next(picture);
    require(outcome != FrameOutcome::again, "a file has no picture yet");
    if (outcome == FrameOutcome::end_of_stream) break;
    require(static_cast<bool>(picture), "an empty picture");
    require(fits(picture.planes.info.extent), "{}×{} pixels", picture.planes.info.extent.width,
            picture.planes.info.extent.height);
    require(picture.info.pts_ns > last_ns, "time {} after {}", picture.info.pts_ns, last_ns);
    require(picture.info.index >= 0 && picture.info.duration_ns >= 0, "picture {} lasts {} ns",
            picture.info.index, picture.info.duration_ns);
    last_ns = picture.info.pts_ns;
    read_planes(picture.planes);
    ++pictures;
  }
  return pictures;
}

void seek(Source& source) {
  const int64_t duration_ns = source.info().duration_ns;
  for (const int64_t to : {duration_ns / 2, int64_t{0}, duration_ns + 1'000'000'000}) {
    source.seek(to);
    read(source, 2, 0);
  }
}

}  // namespace

Played play(const std::string& path, int most_pictures) {
  SourceOptions options;
  options.decoder_threads = 1;
  Played played;
  try {
    const auto source = open_source(path, options);
    played.opened = true;
    const SourceInfo& info = source->info();
    require(fits(info.picture.extent), "opened with {}×{} pixels", info.picture.extent.width,
            info.picture.extent.height);
    require(info.duration_ns >= 0 && info.frame_count >= 0 && info.fps >= 0,
            "duration {} ns, {} frames at {} fps", info.duration_ns, info.frame_count, info.fps);
    played.pictures = read(*source, most_pictures, 0);
    if (info.seekable) seek(*source);
    source->stream_errors();
  } catch (const Error& e) {
    require(e.code() == ExitCode::bad_source, "the error '{}' has code {}", e.what(),
            static_cast<int>(e.code()));
  }
  return played;
}

}  // namespace lensd::fuzz
