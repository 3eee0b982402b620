#include "app/viewer/display/shown_frame.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/base/contains.hpp"

namespace lensd {
namespace {

constexpr int kNotUploaded = -2;

/// Returns the pixels as RGBA. Does not scale the samples: the maximum is 255 or 65535, as in the image.
std::vector<Rgba16> as_rgba(const Image& image) {
  std::vector<Rgba16> pixels;
  pixels.reserve(static_cast<size_t>(image.width()) * static_cast<size_t>(image.height()));
  const bool gray = is_gray(image.format.format);
  const auto most = static_cast<uint16_t>(max_sample(image.format.format));
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const auto v = [&](int c) { return static_cast<uint16_t>(image.sample(x, y, gray ? 0 : c)); };
      pixels.push_back({v(0), v(1), v(2), gray ? most : v(3)});
    }
  return pixels;
}

}  // namespace

void ShownFrame::reset() {
  frame_.reset();
  sync_ = nullptr, side_data_pending_ = false;
  first_image_ = 0, second_image_ = -1;
}

void ShownFrame::show(Frame frame, ui::Presenter& presenter, const ui::ViewerUi& ui) {
  frame_ = std::move(frame);
  side_data_pending_ = true;
  first_image_ = kNotUploaded, second_image_ = kNotUploaded;
  presenter.show_transparency(frame_.info.tags.alpha && !live_);
  refresh(presenter, ui);
}

int ShownFrame::find(const std::string& node, const ui::ViewerUi& ui) const {
  if (const int image = frame_.find_image(node); image >= 0) return image;
  const std::string former = ui.state().editor.former_name(node);
  return former.empty() ? -1 : frame_.find_image(former);
}

void ShownFrame::refresh(ui::Presenter& presenter, const ui::ViewerUi& ui) {
  if (!frame_) return;
  const int first = std::max(find(ui.first_picture(), ui), 0);
  if (first != first_image_) presenter.show(frame_, first_image_ = first);
  const std::optional<std::string> wanted = ui.second_picture();
  const int second = wanted ? find(*wanted, ui) : -1;
  if (second != second_image_) presenter.show_second(frame_, second_image_ = second);
}

void ShownFrame::take_side_data(ViewerModelBuilder& model, ui::TrackOverlay& overlay) {
  if (!side_data_pending_ || !frame_ || !frame_.ready()) return;
  side_data_pending_ = false;
  const TrackTable* tracks = frame_.tracks();
  model.shown_tracks(tracks);
  if (tracks)
    overlay.push(*tracks, frame_.info.serial);
  else
    overlay.clear();
}

Image ShownFrame::part(int image, int x, int y, Extent size) const {
  const ConstImageRef from = frame_.image(image);
  Image result({from.format.format, size});
  if (sync_ && frame_.memory() == MemoryKind::device) {
    sync_->copy_to_host(frame_, image, x, y, result.ref());
    return result;
  }
  const size_t bytes = result.format.row_bytes();
  for (int row = 0; row < size.height; ++row)
    std::memcpy(result.ref().row(row),
                from.row(y + row) + static_cast<std::ptrdiff_t>(x) * from.pixel_bytes(), bytes);
  return result;
}

void ShownFrame::read_pixels(const ui::ProbeState& probe, ViewerModelBuilder& model) const {
  ui::ViewerModel& m = model.model();
  m.probe.clear();
  m.patch.clear();
  m.has_second = has_second();
  if (!frame_ || !frame_.ready()) return;
  const Extent shown = frame_.image(first_image_).format.extent;
  if (probe.over) {
    m.probe_x = probe.x, m.probe_y = probe.y;
    std::vector<std::string> nodes = m.views;
    if (!contains(nodes, "")) nodes.emplace_back();
    for (const std::string& node : nodes) {
      const int image = frame_.find_image(node);
      if (image < 0) continue;
      // In pictures of another size, read the pixel at the same relative position.
      const Extent size = frame_.image(image).format.extent;
      const int x = std::min(probe.x * size.width / std::max(shown.width, 1), size.width - 1);
      const int y = std::min(probe.y * size.height / std::max(shown.height, 1), size.height - 1);
      const Image pixel = part(image, x, y, {1, 1});
      m.probe.push_back(
          {node.empty() ? "output" : node, pixel.channels() == 1, pixel.is_deep(), as_rgba(pixel)[0]});
    }
  }
  Extent size = probe.patch;
  size.width = std::min(size.width, shown.width - probe.patch_x);
  size.height = std::min(size.height, shown.height - probe.patch_y);
  if (size.width > 0 && size.height > 0) {
    const Image patch = part(first_image_, probe.patch_x, probe.patch_y, size);
    m.patch_x = probe.patch_x, m.patch_y = probe.patch_y, m.patch_size = size;
    m.patch_gray = patch.channels() == 1, m.patch_deep = patch.is_deep();
    m.patch = as_rgba(patch);
  }
}

std::optional<Image> ShownFrame::picture() const {
  if (!frame_ || !frame_.ready()) return std::nullopt;
  return part(first_image_, 0, 0, frame_.image(first_image_).format.extent);
}

}  // namespace lensd
