// Steps from chapter to chapter.
#include <algorithm>

#include "core/pipeline/chapters.hpp"
#include "ui/panel.hpp"

namespace lensd::ui {
namespace {

/// The next step starts at the target of the last one for at most this time, or until its picture is shown.
constexpr int64_t kMaxSeekNs = 2'000'000'000;
/// The picture of a step counts as shown if the position is at most kLandedNs after the start of its chapter,
/// or at most a tenth of that before it.
constexpr int64_t kLandedNs = 3'000'000'000;

/// Returns the position from which the next step starts. While the picture of the last step is not shown yet,
/// it is the target of that step, moved by later relative seeks. Otherwise it is the shown position.
int64_t origin_of_step(const PanelContext& ctx) {
  const ChapterStep& last = ctx.state.chapter_step;
  const int64_t now = ctx.model.position_ns;
  const bool waits = last.pipeline == ctx.model.pipeline && ctx.time_ns < last.time_ns + kMaxSeekNs;
  const bool landed = now > last.to_ns - kLandedNs / 10 && now < last.to_ns + kLandedNs;
  return waits && !landed ? last.to_ns : now;
}

}  // namespace

void ChapterStep::follow(const Seek& seek) {
  if (seek.relative)
    to_ns = std::max<int64_t>(to_ns + seek.position_ns, 0);
  else
    *this = {};
}

void step_chapter(PanelContext& ctx, bool forward) {
  const ViewerModel& m = ctx.model;
  if (m.chapters.empty()) return ctx.notify(false, "This source has no chapters");
  const auto to = chapter_to(m.chapters, origin_of_step(ctx), forward);
  if (!to) return ctx.notify(false, forward ? "This is the last chapter" : "There is no earlier chapter");
  if (!m.seekable) return ctx.notify(false, "This source cannot seek");
  const int64_t start_ns = m.chapters[*to].start_ns;
  ctx.send(Seek{start_ns, false});
  ctx.state.chapter_step = {start_ns, ctx.time_ns, m.pipeline};
  ctx.notify(false, chapter_text(m.chapters, *to));
}

}  // namespace lensd::ui
