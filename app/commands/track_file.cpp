#include "app/commands/track_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "core/base/error.hpp"

namespace lensd {
namespace {

const std::string& checked(const std::string& path) {
  check_track_path(path);
  return path;
}

}  // namespace

void check_track_path(const std::string& path) {
  if (!path.ends_with(".csv") && !path.ends_with(".jsonl"))
    throw Error(ExitCode::usage, "--tracks", "'" + path + "' ends neither in .csv nor in .jsonl");
}

TrackFile::TrackFile(const std::string& path, Existing existing)
    : path_(checked(path)), csv_(path.ends_with(".csv")), file_(open_output(path, existing)) {
  if (csv_) text_ = "frame,pts,id,x,y,age,residual,fb_error,status\n";
  flush();
}

void TrackFile::fail() const {
  throw Error(ExitCode::runtime_failure, path_, std::string("cannot be written: ") + std::strerror(errno));
}

void TrackFile::flush() {
  if (std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) fail();
  text_.clear();
}

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
    fmt::format_to(std::back_inserter(text_), fmt::runtime(csv_ ? csv : json), frame.index, pts, t.id, t.x,
                   t.y, t.age, t.residual, t.return_error, name(t.status));
  }
  flush();
}

void TrackFile::finish() {
  if (file_ && std::fclose(file_.release()) != 0) fail();
}

}  // namespace lensd
