#include "app/commands/track_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/base/error.hpp"

namespace lensd {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

struct TrackFile::State {
  std::string path;
  bool csv = true;
  std::FILE* file = nullptr;
  fmt::memory_buffer text;

  ~State() {
    if (file) std::fclose(file);
  }
  [[noreturn]] void fail() const {
    throw Error(ExitCode::runtime_failure, path, std::string("cannot be written: ") + std::strerror(errno));
  }
  void flush() {
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) fail();
    text.clear();
  }
};

void check_track_path(const std::string& path) {
  if (!ends_with(path, ".csv") && !ends_with(path, ".jsonl"))
    throw Error(ExitCode::usage, "--tracks", "'" + path + "' ends neither in .csv nor in .jsonl");
}

TrackFile::TrackFile(const std::string& path) : state_(std::make_unique<State>()) {
  check_track_path(path);
  state_->path = path, state_->csv = ends_with(path, ".csv");
  state_->file = std::fopen(path.c_str(), "we");
  if (!state_->file) state_->fail();
  if (state_->csv)
    fmt::format_to(std::back_inserter(state_->text), "frame,pts,id,x,y,age,residual,fb_error,status\n");
  state_->flush();
}

TrackFile::~TrackFile() = default;

void TrackFile::write(const TrackTable* table, const FrameInfo& frame) {
  if (!table) return;
  constexpr const char* csv = "{},{:.6f},{},{:.4f},{:.4f},{},{:.3f},{:.4f},{}\n";
  constexpr const char* json =
      "{{\"frame\":{},\"pts\":{:.6f},\"id\":{},\"x\":{:.4f},\"y\":{:.4f},\"age\":{},\"residual\":{:.3f},"
      "\"fb_error\":{:.4f},\"status\":\"{}\"}}\n";
  const double pts = static_cast<double>(frame.pts_ns) / 1e9;
  for (uint32_t i = 0; i < table->capacity; ++i) {
    const Track& t = table->tracks()[i];
    if (t.status == TrackStatus::empty) continue;
    fmt::format_to(std::back_inserter(state_->text), fmt::runtime(state_->csv ? csv : json), frame.index, pts,
                   t.id, t.x, t.y, t.age, t.residual, t.return_error, name(t.status));
  }
  state_->flush();
}

void TrackFile::finish() {
  if (!state_->file) return;
  if (std::fclose(std::exchange(state_->file, nullptr)) != 0) state_->fail();
}

}  // namespace lensd
