// Border rules as index maps for host and device. The names are OpenCV's.
#pragma once

#include "core/base/param.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Returns the index in [0, n) of the sample that the border rule assigns to position `i` of a row of n
/// samples. With Border::constant, returns −1 for positions outside. Positions may be at any distance:
/// reflections repeat.
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

/// Adds the `border` parameter of a neighbourhood filter to its schema.
template <class P>
Schema<P>& add_border(Schema<P>& schema, Border P::*member) {
  return schema.choice("border", member, {"replicate", "reflect", "reflect101", "wrap", "constant"},
                       "rule for pixels outside the picture");
}

}  // namespace lensd
