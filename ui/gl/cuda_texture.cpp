#include "ui/gl/cuda_texture.hpp"

// Include GL first: cuda_gl_interop.h needs GL's types.
#include "ui/gl/gl.hpp"

#include <cuda_gl_interop.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "core/base/log.hpp"
#include "core/device/cuda_handles.hpp"
#include "ui/gl/cuda_present.hpp"

namespace lensd::ui {

std::string interop_obstacle(int device) {
  const auto* renderer = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  const std::string drawn_by = std::string("GL renderer ") + (renderer ? renderer : "unknown");
  unsigned count = 0;
  std::array<int, 16> devices{};
  const cudaError_t status = cudaGLGetDevices(&count, devices.data(), devices.size(), cudaGLDeviceListAll);
  if (status != cudaSuccess) {
    cudaGetLastError();  // clear the error, which is not sticky
    return drawn_by + " is not the CUDA device (" + cudaGetErrorString(status) + ")";
  }
  if (std::find(devices.begin(), devices.begin() + count, device) == devices.begin() + count)
    return drawn_by + " is not CUDA device " + std::to_string(device);
  return {};
}

struct CudaTexture::Slot {
  explicit Slot(Extent extent, bool deep) {
    glBindTexture(GL_TEXTURE_2D, texture.id());
    glTexStorage2D(GL_TEXTURE_2D, 1, deep ? GL_RGBA16 : GL_RGBA8, extent.width, extent.height);
    gl::check("display textures");
    LENSD_CUDA_CHECK(cudaGraphicsGLRegisterImage(
        &resource, texture.id(), GL_TEXTURE_2D,
        cudaGraphicsRegisterFlagsWriteDiscard | cudaGraphicsRegisterFlagsSurfaceLoadStore));
  }
  ~Slot() {
    if (surface) cudaDestroySurfaceObject(surface);
    if (resource) cudaGraphicsUnregisterResource(resource);
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  /// Returns the surface object of the mapped array. If CUDA has mapped a different array, which is rare,
  /// waits for the stream and replaces the surface object.
  cudaSurfaceObject_t mapped_surface(cudaStream_t stream) {
    cudaArray_t now = nullptr;
    LENSD_CUDA_CHECK(cudaGraphicsSubResourceGetMappedArray(&now, resource, 0, 0));
    if (now == array) return surface;
    if (surface) {
      LENSD_CUDA_CHECK(cudaStreamSynchronize(stream));
      LENSD_CUDA_CHECK(cudaDestroySurfaceObject(std::exchange(surface, 0)));
    }
    cudaResourceDesc desc{};
    desc.resType = cudaResourceTypeArray;
    desc.res.array.array = now;
    LENSD_CUDA_CHECK(cudaCreateSurfaceObject(&surface, &desc));
    array = now;
    return surface;
  }

  gl::Texture texture;
  cudaGraphicsResource_t resource = nullptr;
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t surface = 0;
};

struct CudaTexture::State {
  using Slots = std::array<std::unique_ptr<Slot>, kTextures>;
  /// Textures of an earlier size, kept until the GPU has written them.
  struct Old {
    Slots slots;
    cuda::Event written;
  };
  static constexpr size_t kMaxOld = 2;

  cuda::Stream stream;
  Slots slots;
  std::deque<Old> old;  ///< oldest first
  Extent planned;
  int next = 0;

  void set_aside_slots() {
    if (!slots[0]) return;
    cuda::Event written;
    written.record(stream);
    old.push_back({std::move(slots), std::move(written)});
  }
  /// Frees the old textures that the GPU has written. Waits for the GPU only if more than kMaxOld are left.
  void free_old() {
    while (old.size() > kMaxOld || (!old.empty() && old.front().written.passed())) {
      if (!old.front().written.passed()) LENSD_CUDA_CHECK(cudaEventSynchronize(old.front().written.get()));
      old.pop_front();
    }
  }
  /// Makes new textures. If that fails, waits until the GPU has written the old ones, frees them and tries
  /// again. Throws Error.
  void make_slots(Extent extent, bool deep) {
    const auto make_all = [&] {
      for (auto& slot : slots) slot = std::make_unique<Slot>(extent, deep);
    };
    try {
      make_all();
    } catch (const Error& e) {
      slots = {};
      cudaGetLastError();  // clear the error, which is not sticky
      if (old.empty()) throw;
      log::debug("display: {}; the textures of earlier sizes are freed", e.what());
      LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
      old.clear();
      make_all();
    }
  }
};

CudaTexture::CudaTexture(DeviceFrameSync& sync) : sync_(sync), state_(std::make_unique<State>()) {}

CudaTexture::~CudaTexture() {
  if (cudaStreamSynchronize(state_->stream.get()) != cudaSuccess)
    log::debug("display: the GPU failed before the window was closed");
}

void CudaTexture::upload(const Frame& frame, int index) {
  if (frame.memory() != MemoryKind::device)
    throw Error(ExitCode::runtime_failure, "display", "interop received a host frame");
  State& s = *state_;
  const ConstImageRef image = frame.image(index);
  const cudaStream_t stream = s.stream.get();
  if (image.format.extent != s.planned || image.is_deep() != deep_) {
    texture_ = 0, s.planned = {};
    s.set_aside_slots();
    s.free_old();  // first, because the new ones may need the memory
    s.make_slots(image.format.extent, image.is_deep());
    s.planned = image.format.extent, deep_ = image.is_deep();
  }
  s.free_old();
  Slot& slot = *s.slots[static_cast<size_t>(s.next)];
  s.next = (s.next + 1) % kTextures;

  sync_.wait_ready(stream, frame);
  LENSD_CUDA_CHECK(cudaGraphicsMapResources(1, &slot.resource, stream));
  try {
    write_surface(image, slot.mapped_surface(stream), stream);
  } catch (...) {
    cudaGraphicsUnmapResources(1, &slot.resource, stream);
    sync_.reading_done(stream, frame);
    throw;
  }
  sync_.reading_done(stream, frame);
  LENSD_CUDA_CHECK(cudaGraphicsUnmapResources(1, &slot.resource, stream));
  texture_ = slot.texture.id(), extent_ = s.planned;
}

}  // namespace lensd::ui
