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

void ImGuiSession::fit_to_scale() {
  const Extent size = window_.size(), framebuffer = window_.framebuffer();
  if (size.width < 1 || framebuffer.width < 1) return;  // iconified
  // Where the window system scales by itself (Wayland), one window unit is several framebuffer pixels.
  const float density = std::max(1.f, static_cast<float>(framebuffer.width) / static_cast<float>(size.width));
  const float raster = std::max(window_.content_scale(), density), layout = raster / density;
  if (raster == raster_scale_ && layout == layout_scale_) return;
  raster_scale_ = raster, layout_scale_ = layout;
  look_ = make_look(ImGui::GetIO(), ImGui::GetStyle(), layout, raster);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

/// The backend asks the X server for sizes, focus and pointer, and each answer takes longer than a panel to
/// draw. Of a window that nobody touches they are as they were; it is asked for one frame more, as it learns
/// of a button that was let go at once in the frame behind.
void ImGuiSession::take_input() {
  const int64_t time_ns = now_ns();
  const bool touched = window_.take_touched() || ImGui::GetMouseCursor() != cursor_ || behind();
  if (touched || was_touched_) ImGui_ImplGlfw_NewFrame();
  was_touched_ = touched, cursor_ = ImGui::GetMouseCursor();
  ImGuiIO& io = ImGui::GetIO();
  if (last_begin_ns_ > 0) io.DeltaTime = std::max(static_cast<float>(to_s(time_ns - last_begin_ns_)), 1e-6f);
  last_begin_ns_ = time_ns;
  // Two presses that came at once are shown two frames apart.
  io.MouseDoubleClickTime = std::max(0.3f, 3 * io.DeltaTime);
  step_mouse();
}

/// One step a frame. Dear ImGui before 1.87 knows the mouse only as it is when a frame begins: of a click
/// between two frames it would see a press where the pointer has gone since, of a second one nothing.
void ImGuiSession::step_mouse() {
#if IMGUI_VERSION_NUM < 18700
  const std::vector<MouseStep>& fresh = window_.input().mouse_steps;
  mouse_steps_.insert(mouse_steps_.end(), fresh.begin(), fresh.end());
  if (mouse_steps_.empty()) return;
  ImGuiIO& io = ImGui::GetIO();
  const MouseStep& step = mouse_steps_.front();
  io.MousePos = {step.x, step.y};
  for (int b = 0; b < IM_ARRAYSIZE(io.MouseDown); ++b) io.MouseDown[b] = (step.buttons >> b & 1u) != 0;
  mouse_steps_.erase(mouse_steps_.begin());
#endif
}

void ImGuiSession::begin() {
  fit_to_scale();
  ImGui_ImplOpenGL3_NewFrame();
  take_input();
  ImGui::NewFrame();
}

void ImGuiSession::end() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace lensd::ui
