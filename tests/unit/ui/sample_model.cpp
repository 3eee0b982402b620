#include "tests/unit/ui/sample_model.hpp"

#include <cmath>

#include "core/graph/edit_shape.hpp"

namespace lensd::test {
namespace {

enum class Border { replicate, reflect, reflect101, wrap, constant };
enum class Form { square, cross, ellipse };
enum class Ready { custom, sharpen, emboss, edge, box };

struct MedianLike {
  int radius = 1;
  Border border = Border::replicate;
};
struct CannyLike {
  double low = 50, high = 150, sigma = 1.4;
  int aperture = 3;
  bool l2 = true;
};
struct ConvolveLike {
  Matrix kernel{3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}};
  double gain = 0.0625;
  Form form = Form::square;
  std::string lut;
};

const std::vector<std::string> kBorders{"replicate", "reflect", "reflect101", "wrap", "constant"};

const FilterSchema& median_schema() {
  static const FilterSchema schema =
      Schema<MedianLike>("median", "Median over a square window")
          .integer("radius", &MedianLike::radius, 1, 25, "Half the window's side", {"px"})
          .choice("border", &MedianLike::border, kBorders, "What lies outside the picture")
          .build();
  return schema;
}

const FilterSchema& canny_schema() {
  static const FilterSchema schema =
      Schema<CannyLike>("canny", "Edges by Canny's method")
          .real("low", &CannyLike::low, 0, 1000, "Gradient from which a pixel continues an edge")
          .real("high", &CannyLike::high, 0, 1000, "Gradient from which a pixel begins an edge")
          .real("sigma", &CannyLike::sigma, 0.1, 20, "Smoothing before the gradient",
                {"px", Widget::log_slider})
          .integer("aperture", &CannyLike::aperture, 3, 7, "Side of the Sobel kernel",
                   {"px", Widget::odd_slider})
          .boolean("l2", &CannyLike::l2, "Euclidean norm of the gradient instead of the sum")
          .build();
  return schema;
}

const FilterSchema& convolve_schema() {
  static const FilterSchema schema =
      Schema<ConvolveLike>("convolve", "Convolution with a kernel")
          .matrix("kernel", &ConvolveLike::kernel, 9, "The kernel's rows")
          .real("gain", &ConvolveLike::gain, 0, 4, "Factor of the sum")
          .choice("form", &ConvolveLike::form, {"square", "cross", "ellipse"}, "Shape of the window")
          .text("lut", &ConvolveLike::lut, "A table to apply afterwards", {"", Widget::path})
          .build();
  return schema;
}

struct CorrelateLike {
  Matrix kernel{3, 3, {0, 0, 0, 0, 1, 0, 0, 0, 0}};
  Ready preset = Ready::custom;
  std::string compose;
};

const FilterSchema& correlate_schema() {
  static const FilterSchema schema =
      Schema<CorrelateLike>("correlate", "A kernel of one's own, a ready one, or several in one")
          .matrix("kernel", &CorrelateLike::kernel, 9, "The kernel's rows")
          .choice("preset", &CorrelateLike::preset, {"custom", "sharpen", "emboss", "edge", "box"},
                  "A ready kernel")
          .text("compose", &CorrelateLike::compose, "Kernels in one, instead of the others")
          .build();
  return schema;
}

const FilterSchema& mix_schema() {
  static const FilterSchema schema =
      Schema<MedianLike>("mix", "Lays one picture over another")
          .integer("radius", &MedianLike::radius, 1, 25, "Softness of the seam", {"px"})
          .build();
  return schema;
}

struct CropLike {
  int x = 0, y = 0, width = 0, height = 0;
};

const FilterSchema& crop_schema() {
  static const FilterSchema schema =
      Schema<CropLike>("crop", "A rectangle")
          .integer("x", &CropLike::x, 0, 16383, "Left column", {"px"})
          .integer("y", &CropLike::y, 0, 16383, "Top row", {"px"})
          .integer("width", &CropLike::width, 0, 16384, "Width", {.unit = "px", .zero = "to the edge"})
          .integer("height", &CropLike::height, 0, 16384, "Height", {.unit = "px", .zero = "to the edge"})
          .build();
  return schema;
}

ui::NodeView node(const FilterSchema& schema, std::string id, std::string format) {
  ui::NodeView view;
  view.id = std::move(id), view.filter = schema.name, view.schema = &schema, view.format = std::move(format);
  for (const ParamSpec& spec : schema.params) view.values.push_back(spec.default_value);
  return view;
}

PassStats row(const char* name, const char* pass, int64_t p50_us, bool gpu, double bytes = 0) {
  PassStats s;
  s.node = name, s.pass = pass, s.gpu = gpu, s.bytes = bytes;
  s.count = p50_us ? 374 : 0, s.samples = p50_us ? 256 : 0;
  s.last_ns = p50_us * 1010, s.p50_ns = p50_us * 1000, s.mean_ns = p50_us * 1020;
  s.p95_ns = p50_us * 1130, s.p99_ns = p50_us * 1290, s.max_ns = p50_us * 1710;
  return s;
}

}  // namespace

const Registry& sample_registry() {
  static const FilterEntry filters[] = {{&median_schema, nullptr},    {&canny_schema, nullptr},
                                        {&convolve_schema, nullptr},  {&mix_schema, nullptr, "", 2, 2},
                                        {&correlate_schema, nullptr}, {&crop_schema, nullptr}};
  static const Registry registry{.filters = filters};
  return registry;
}

void set_value(ui::ViewerModel& model, const std::string& id, const std::string& param, ParamValue value) {
  NodeDesc* desc = model.graph.find(id);
  std::erase_if(desc->params, [&](const auto& p) { return p.first == param; });
  desc->params.emplace_back(param, std::move(value));
  ++model.graph_version;
}

void drop_node(ui::ViewerModel& model, const std::string& id) {
  remove_node(model.graph, id);
  std::erase_if(model.nodes, [&](const ui::NodeView& one) { return one.id == id; });
  ++model.graph_version;
}

ui::ViewerModel sample_model() {
  constexpr int64_t kMs = 1'000'000;
  ui::ViewerModel m;
  m.source_name = "vtest.avi", m.source_detail = "768×576 yuv420p, bt601 limited (guessed), msmpeg4v3";
  m.seekable = true;
  m.position_ns = 12480 * kMs, m.duration_ns = 79500 * kMs, m.frame_index = 374,
  m.frame_duration_ns = 33'366'667;
  m.picture = m.source_size = {768, 576};
  m.graph_fps = 412.3, m.display_fps = 29.97, m.source_fps = 29.97;
  m.counts.processed = 375, m.counts.shown = 374;
  m.backend = "cuda", m.device = "NVIDIA H100 80GB HBM3", m.backend_reason = "chosen by --backend=auto";
  m.screen = "8 bits", m.display_path = "CUDA-GL interop",
  m.display_reason = "the CUDA device draws the window";
  m.nodes.push_back(node(median_schema(), "median", "768×576 RGBA8"));
  ui::NodeView gray;
  gray.id = "to-gray", gray.filter = "convert", gray.automatic = true, gray.format = "768×576 Gray8";
  m.nodes.push_back(gray);
  m.nodes.push_back(node(canny_schema(), "edges", "768×576 Gray8"));
  m.nodes.push_back(node(convolve_schema(), "convolve", "768×576 Gray8"));
  m.nodes.back().enabled = false;
  m.registry = &sample_registry(), m.pipeline = 1, m.graph_version = 1;
  for (const ui::NodeView& view : m.nodes) {
    if (view.automatic) continue;
    NodeDesc& desc = m.graph.nodes.emplace_back();
    desc.id = view.id, desc.filter = view.filter, desc.enabled = view.enabled;
  }
  m.graph = resolved(m.graph, sample_registry());
  const double rgba = 768.0 * 576 * 8, gray8 = 768.0 * 576 * 2;
  m.timings = {row("median", "median", 412, true, rgba), row("to-gray", "to-gray", 21, true, rgba),
               row("edges", "blur", 38, true, gray8),    row("edges", "gradient", 52, true, gray8 * 3),
               row("edges", "hysteresis", 1218, true),   row("convolve", "convolve", 0, true),
               row("decode", "decode", 2410, false),     row("upload", "upload", 118, true),
               row("present", "present", 64, true)};
  for (const char* stage : {"ahead", "graph", "pace", "texture", "present", "work", "total"})
    m.timings.push_back(row(kLatencyRow, stage, 1200, false));
  for (const PassStats& r : m.timings) {
    auto& history = m.timing_histories.emplace_back();
    for (int i = 0; i < 48 && r.count > 0; ++i)
      history.push_back(static_cast<int64_t>(static_cast<double>(r.p50_ns) * (1 + 0.2 * std::sin(i * 0.9))));
  }
  m.gpu_copy_rate = 2.6e12, m.cpu_copy_rate = 0, m.graph_memory = 88'500'000;
  m.log = {"12:30:01 info: backend cuda: chosen by --backend=auto", "12:30:02 warning: the clip is damaged",
           "12:30:03 error: no trace: the disk is full"};
  for (int i = 0; i < 120; ++i)
    m.graph_history_ns.push_back(
        static_cast<int64_t>(1.74e6 + 1.5e5 * std::sin(i * 0.7) + (i % 37 == 5 ? 6e5 : 0)));
  return m;
}

ui::SourceChoices sample_choices() {
  using Kind = FolderEntry::Kind;
  ui::SourceChoices c;
  c.files.folder = c.files.asked = "/videos";
  c.files.entries = {{Kind::folder, "old", 0, 0},
                     {Kind::sequence, "img_%04d.png", 0, 120},
                     {Kind::file, "clip.mp4", 12'300'000, 0},
                     {Kind::file, "second.mkv", 900, 0},
                     {Kind::other, "notes.txt", 10, 0}};
  c.recent = {{"/videos/clip.mp4", ""}, {"/gone/lost.avi", "This file no longer exists"}};
  c.cameras_known = true;
  c.cameras = {
      {.path = "/dev/video0",
       .by_id = "/dev/v4l/by-id/usb-cam",
       .name = "HD Webcam",
       .formats = {{.fourcc = "MJPG",
                    .description = "Motion-JPEG",
                    .format = "mjpeg",
                    .modes = {{{1920, 1080}, {30, 15}}, {{1280, 720}, {60, 30, 15}}, {{640, 480}, {}}}},
                   {.fourcc = "YUYV",
                    .description = "YUYV 4:2:2",
                    .format = "yuyv422",
                    .modes = {{{640, 480}, {30, 24, 20, 15, 10, 7.5, 5}}, {{320, 240}, {30}}}},
                   {.fourcc = "BA81", .description = "8-bit Bayer", .format = "", .modes = {}}}}};
  return c;
}

SourceControls sample_controls() {
  using Text = std::string;
  const auto whole = [](const char* label, const char* group, int64_t min, int64_t max, int64_t value) {
    SourceControl c;
    c.label = label, c.name = control_name(label), c.group = group;
    c.min = min, c.max = max, c.value = value, c.initial = value;
    return c;
  };
  const char *user = "User Controls", *camera = "Camera Controls";
  SourceControls controls;
  controls.device = "usb-cam", controls.version = 1;
  auto& list = controls.list;
  list = {whole("Brightness", user, -64, 64, 0),
          whole("Gain", user, 0, 100, 20),
          whole("Power Line Frequency", user, 0, 2, 0),
          whole("White Balance, Automatic", user, 0, 1, 0),
          whole("White Balance Temperature", user, 2800, 6500, 4600),
          whole("Serial", user, INT64_MIN, INT64_MAX, 7),
          whole("Zones", user, 0, 0xF, 3),
          whole("Owner", user, 0, 16, 0),
          whole("Auto Exposure", camera, 0, 3, 0),
          whole("Exposure Time, Absolute", camera, 1, 5000, 157),
          whole("Focus Now", camera, 0, 0, 0),
          whole("Sensor Temperature", camera, 0, 100, 41)};
  list[1].value = int64_t{45};
  list[2].kind = ControlKind::menu, list[2].choices = {"Disabled", "50 Hz", "60 Hz"},
  list[2].numbers = {0, 1, 2};
  list[2].value = list[2].initial = Text("50 Hz");
  list[3].kind = ControlKind::boolean, list[3].value = list[3].initial = true;
  list[4].step = 10, list[4].inactive = true;
  list[6].kind = ControlKind::bitmask;
  list[7].kind = ControlKind::text, list[7].value = Text("me"), list[7].initial = Text();
  list[8].kind = ControlKind::menu, list[8].choices = {"Manual Mode", "Aperture Priority Mode"};
  list[8].numbers = {1, 3}, list[8].value = list[8].initial = Text("Aperture Priority Mode"),
  list[8].leads = true;
  list[9].inactive = true;
  list[10].kind = ControlKind::button, list[10].value = list[10].initial = false;
  list[11].read_only = list[11].self_changing = true;
  return controls;
}

void set_controls(ui::ViewerModel& model, const Command& command) {
  if (!model.controls) return;
  auto next = std::make_shared<SourceControls>(*model.controls);
  for (SourceControl& control : next->list) {
    if (const auto* set = std::get_if<SetSourceControls>(&command))
      for (const auto& [name, value] : set->values)
        if (control.name == name && control.kind != ControlKind::button) control.value = value;
    if (const auto* reset = std::get_if<ResetSourceControls>(&command))
      if (reset->names.empty() || reset->names.front() == control.name) control.value = control.initial;
  }
  for (SourceControl& control : next->list)
    if (control.name == "exposure_time_absolute")
      control.inactive = next->find("auto_exposure")->value != ParamValue(std::string("Manual Mode"));
  ++next->version;
  model.controls = std::move(next);
}

}  // namespace lensd::test
