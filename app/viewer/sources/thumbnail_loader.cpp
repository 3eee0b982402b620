#include "app/viewer/sources/thumbnail_loader.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/base/log.hpp"
#include "core/graph/exec/executor.hpp"
#include "core/media/source.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

/// Thumbnails are spaced by 1 / kPositions of the duration, but at least by kShortestNs.
constexpr int64_t kPositions = 1000, kShortestNs = 200'000'000;
constexpr size_t kMaxKeptThumbnails = 128;  ///< limit of each of the two maps; 128 thumbnails take 20 MB
constexpr auto kThumbnailTimeout = std::chrono::milliseconds(200);
constexpr int64_t kNoPosition = -1, kClosed = -2;  ///< values of Shared::wanted

Extent thumbnail_extent(Extent picture, PixelAspect aspect) {
  const double width = picture.width * aspect.ratio(), height = picture.height;
  const double scale = std::min({kThumbnailSize.width / width, kThumbnailSize.height / height, 1.0});
  const auto side = [&](double v) { return std::max(1, static_cast<int>(std::lround(v * scale))); };
  return {side(width), side(height)};
}

Image rgba_copy(ConstImageRef from) {
  Image image({PixelFormat::rgba8, from.format.extent});
  for (int y = 0; y < image.height(); ++y) {
    const uint8_t* in = from.data + y * from.pitch_bytes;
    uint8_t* out = image.pixels.data() + static_cast<size_t>(y) * image.format.row_bytes();
    if (from.format.format == PixelFormat::rgba8) {
      std::memcpy(out, in, image.format.row_bytes());
      continue;
    }
    for (int x = 0; x < image.width(); ++x, out += 4) {
      std::memset(out, in[x], 3);
      out[3] = 255;
    }
  }
  return image;
}

/// Converts pictures to small upright RGBA8 images on the CPU.
class Shrinker {
 public:
  Image shrink(const Picture& picture, PixelAspect aspect) {
    const PictureInfo& info = picture.planes.info;
    const Extent size = thumbnail_extent(info.upright(), aspect);
    if (!planned_ || info != info_ || size != size_) {
      const GraphDesc graph = parse_chain(
          fmt::format("resize=width={}:height={}:method=area", size.width, size.height), registry());
      executor_->install(make_plan(graph, info, Backend::cpu, registry()));
      planned_ = true, info_ = info, size_ = size;
    }
    const Frame frame = executor_->run(picture);
    return rgba_copy(frame.image());
  }

 private:
  Profiler profiler_;
  Timeline timeline_;
  std::unique_ptr<Executor> executor_ =
      make_executor(Backend::cpu, {.threads = 1, .frames = 1}, profiler_, timeline_);
  bool planned_ = false;
  PictureInfo info_;
  Extent size_;
};

}  // namespace

struct ThumbnailLoader::Shared {
  std::function<void()> wake;
  std::string path;
  int video_track = 0;
  int64_t spacing_ns = kShortestNs;
  std::atomic<bool> cancel{false}, failed{false};
  /// Index of the requested position. Atomic, so that close() does not wait for a thread that is preempted
  /// while it holds the mutex.
  std::atomic<int64_t> wanted{kNoPosition};
  std::mutex mutex;                                       ///< protects `found`
  std::map<int64_t, std::shared_ptr<const Image>> found;  ///< null: this position cannot be decoded
  /// Thumbnails by Source::indexed_key_frame(), so that none is decoded twice. Used by the loader's thread
  /// only.
  std::map<int64_t, std::shared_ptr<const Image>> by_key_frame;

  void run();
  int64_t wait();
  std::shared_ptr<const Image> thumbnail(Source& source, Shrinker& shrinker, int64_t position_ns);
  void store(int64_t position, std::shared_ptr<const Image> image);
};

/// Waits for a request. Returns the index of the position, or a negative number after close().
int64_t ThumbnailLoader::Shared::wait() {
  wanted.wait(kNoPosition);
  return cancel ? kClosed : wanted.exchange(kNoPosition);
}

/// Keeps a thumbnail. If there are too many, drops the one that is farthest from it.
void ThumbnailLoader::Shared::store(int64_t position, std::shared_ptr<const Image> image) {
  const std::lock_guard lock(mutex);
  found[position] = std::move(image);
  int64_t same = position;
  wanted.compare_exchange_strong(same, kNoPosition);  // drop a repeated request for this position
  if (found.size() <= kMaxKeptThumbnails) return;
  const bool first = position - found.begin()->first > found.rbegin()->first - position;
  found.erase(first ? found.begin() : std::prev(found.end()));
}

/// Returns the thumbnail of a position; null if it cannot be decoded.
std::shared_ptr<const Image> ThumbnailLoader::Shared::thumbnail(Source& source, Shrinker& shrinker,
                                                                int64_t position_ns) {
  if (const auto key_frame = source.indexed_key_frame(position_ns))
    if (const auto it = by_key_frame.find(*key_frame); it != by_key_frame.end()) return it->second;
  Picture picture;
  source.seek(position_ns);
  if (source.next(picture) != FrameOutcome::ok) return nullptr;
  auto image = std::make_shared<const Image>(shrinker.shrink(picture, source.pixel_aspect()));
  if (by_key_frame.size() >= kMaxKeptThumbnails) by_key_frame.clear();
  // Use the picture's position, because seek() continues with an earlier key frame if one is damaged.
  if (const auto key_frame = source.indexed_key_frame(picture.info.pts_ns)) by_key_frame[*key_frame] = image;
  return image;
}

void ThumbnailLoader::Shared::run() {
  const sched_param lowest{};
  sched_setscheduler(0, SCHED_IDLE, &lowest);  // 0 is this thread; any other work comes first
  try {
    SourceOptions options;
    options.decoder_threads = 1, options.key_frames_only = true, options.cancel = &cancel;
    options.video_track = video_track;
    const std::unique_ptr<Source> source = open_source(path, options);
    Shrinker shrinker;
    for (int64_t position = wait(); position >= 0; position = wait()) {
      store(position, thumbnail(*source, shrinker, position * spacing_ns));
      if (!cancel) wake();
    }
  } catch (const std::exception& e) {
    if (cancel) return;
    log::info("no thumbnails on the seek bar: {}", e.what());
    failed = true;
    wake();
  }
}

ThumbnailLoader::ThumbnailLoader(std::function<void()> wake) : wake_(std::move(wake)) {}

ThumbnailLoader::~ThumbnailLoader() {
  close(kThumbnailTimeout);
}

void ThumbnailLoader::close(std::chrono::nanoseconds timeout) {
  if (!shared_) return;
  shared_->cancel = true;
  shared_->wanted = kClosed;
  shared_->wanted.notify_one();
  thread_.join_within(timeout);
  shared_.reset();
  last_position_ = kNoPosition, last_.reset();
}

void ThumbnailLoader::open(const std::string& path, int64_t duration_ns, int video_track) {
  close({});  // without a wait, because the UI thread must not wait for the loader's thread
  if (path.empty() || duration_ns <= 0) return;
  shared_ = std::make_shared<Shared>();
  shared_->wake = wake_, shared_->path = path, shared_->video_track = video_track;
  shared_->spacing_ns = std::max(duration_ns / kPositions, kShortestNs);
  started_ = false;
}

bool ThumbnailLoader::available() const {
  return shared_ && !shared_->failed;
}

/// Starts the thread unless it was started before. Returns false if there is no thread.
bool ThumbnailLoader::start() {
  if (std::exchange(started_, true)) return true;
  try {
    thread_ = OwnedThread([shared = shared_] { shared->run(); });
    return true;
  } catch (const std::system_error& e) {
    log::info("no thumbnails on the seek bar: cannot start a thread: {}", e.what());
    shared_->failed = true;
    return false;
  }
}

std::shared_ptr<const Image> ThumbnailLoader::find(int64_t position_ns) {
  if (!available() || !start()) return nullptr;
  const int64_t position = std::max<int64_t>(position_ns, 0) / shared_->spacing_ns;
  // The loader's thread may be preempted while it holds the mutex: do not wait for it.
  const std::unique_lock lock(shared_->mutex, std::try_to_lock);
  if (!lock) return position == last_position_ ? last_ : nullptr;
  if (const auto it = shared_->found.find(position); it != shared_->found.end()) {
    last_position_ = position, last_ = it->second;
    return last_;
  }
  shared_->wanted = position;
  shared_->wanted.notify_one();
  return nullptr;
}

}  // namespace lensd
