#include "kernels/registry.hpp"

#include "kernels/invert/invert.hpp"

namespace lensd {
namespace {

constexpr FilterEntry kFilters[] = {
    entry<Invert>(),
};

}  // namespace

const Registry& registry() {
  static const Registry all{.filters = kFilters, .make_source = nullptr, .make_convert = nullptr};
  return all;
}

}  // namespace lensd
