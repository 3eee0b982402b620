#include "core/media/still.hpp"

#include "core/media/output/encoders/image_encoder.hpp"

namespace lensd {

StillEncoder::StillEncoder(Type type)
    : encoder_(std::make_unique<ImageEncoder>(type == Type::png ? ImageFileType::png : ImageFileType::jpeg)) {
}

StillEncoder::~StillEncoder() = default;

std::span<const uint8_t> StillEncoder::encode(ConstImageRef image) {
  return encoder_->encode(image);
}

}  // namespace lensd
