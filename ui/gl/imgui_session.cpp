#include "ui/gl/imgui_session.hpp"

#include <GL/glew.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>

#include "core/base/clock.hpp"

namespace lensd::ui {

ImGuiSession::ImGuiSession(Window& window) : window_(window) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui_ImplGlfw_InitForOpenGL(window.handle(), true);
  ImGui_ImplOpenGL3_Init("#version 430 core");
}

ImGuiSession::~ImGuiSession() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

void ImGuiSession::fit_fonts() {
  const Extent size = window_.size(), framebuffer = window_.framebuffer();
  if (size.width < 1 || framebuffer.width < 1) return;  // iconified
  // On Wayland, one window unit may be several framebuffer pixels.
  const float density = std::max(1.f, static_cast<float>(framebuffer.width) / static_cast<float>(size.width));
  const float raster = std::max(window_.content_scale(), density), layout = raster / density;
  const bool more_glyphs = extra_glyphs_.update(now_ns());
  if (raster == raster_scale_ && layout == layout_scale_ && !more_glyphs) return;
  raster_scale_ = raster, layout_scale_ = layout;
  look_ = make_look(ImGui::GetIO(), ImGui::GetStyle(), layout, raster, &extra_glyphs_);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

/// Calls ImGui's GLFW backend only in frames with input or a new cursor shape, and once more in the frame
/// after them. The backend queries sizes, focus and pointer from the X server, and these queries take longer
/// than drawing a panel. In that later frame, the backend reports the release of a button that was pressed
/// and released within one frame.
void ImGuiSession::take_input() {
  const int64_t time_ns = now_ns();
  const bool input_seen = window_.take_input_seen() || ImGui::GetMouseCursor() != cursor_ || behind();
  if (input_seen || had_input_) ImGui_ImplGlfw_NewFrame();
  had_input_ = input_seen, cursor_ = ImGui::GetMouseCursor();
  ImGuiIO& io = ImGui::GetIO();
  if (last_begin_ns_ > 0) io.DeltaTime = std::max(static_cast<float>(to_s(time_ns - last_begin_ns_)), 1e-6f);
  last_begin_ns_ = time_ns;
  // step_mouse(), or the input queue of newer versions of Dear ImGui, replays one button change per frame.
  // The presses of a double click are therefore at least two frames apart.
  io.MouseDoubleClickTime = std::max(0.3f, 3 * io.DeltaTime);
  step_mouse();
}

/// Replays one mouse step per frame. Dear ImGui before 1.87 samples the mouse only at the start of a frame,
/// so it would see a click between two frames at the wrong position and miss a second click.
void ImGuiSession::step_mouse() {
#if IMGUI_VERSION_NUM < 18700
  const std::vector<MouseStep>& new_steps = window_.input().mouse_steps;
  mouse_steps_.insert(mouse_steps_.end(), new_steps.begin(), new_steps.end());
  if (mouse_steps_.empty()) return;
  ImGuiIO& io = ImGui::GetIO();
  const MouseStep& step = mouse_steps_.front();
  io.MousePos = {step.x, step.y};
  for (int b = 0; b < IM_ARRAYSIZE(io.MouseDown); ++b) io.MouseDown[b] = (step.buttons >> b & 1u) != 0;
  mouse_steps_.erase(mouse_steps_.begin());
#endif
}

void ImGuiSession::begin() {
  fit_fonts();
  ImGui_ImplOpenGL3_NewFrame();
  take_input();
  ImGui::NewFrame();
}

void ImGuiSession::end() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace lensd::ui
