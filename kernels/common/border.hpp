// Border rules as index maps, host and device. Names as in OpenCV.
#pragma once

#include "core/base/param.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Index in [0, n) that stands for position `i` outside or inside a row of n samples; -1 for `constant`
/// outside. Any distance is allowed: reflections repeat, so that radius may exceed n.
LENSD_HD inline int border_index(int i, int n, Border border) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::replicate:
      return i < 0 ? 0 : n - 1;
    case Border::wrap: {
      const int m = i % n;
      return m < 0 ? m + n : m;
    }
    case Border::reflect: {
      const int period = 2 * n;
      int m = i % period;
      if (m < 0) m += period;
      return m < n ? m : period - 1 - m;
    }
    case Border::reflect101: {
      if (n == 1) return 0;
      const int period = 2 * n - 2;
      int m = i % period;
      if (m < 0) m += period;
      return m < n ? m : period - m;
    }
    case Border::constant:
      return -1;
  }
  return -1;
}

/// The `border` parameter that every neighbourhood filter has.
template <class P>
Schema<P>& add_border(Schema<P>& schema, Border P::*member) {
  return schema.choice("border", member, {"replicate", "reflect", "reflect101", "wrap", "constant"},
                       "what stands beyond the picture's edge");
}

}  // namespace lensd
