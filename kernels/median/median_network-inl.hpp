// Minimum-maximum networks for the medians of 3×3, 5×5 and 7×7 windows. This file has no include guard,
// because it is included once for each SIMD target and once for CUDA. The enclosing namespace must declare
// net_min(a, b) and net_max(a, b) for the vector type. LENSD_NET is the qualifier of the functions.
//
// Columns are sorted first, since neighbours share them. The inner rows of two vertically adjacent windows
// are sorted once for both. Unused results are removed by the compiler.

template <class V>
LENSD_NET void exchange(V& a, V& b) {
  const V low = net_min(a, b);
  b = net_max(a, b);
  a = low;
}

template <class V>
LENSD_NET V median_of_3(V a, V b, V c) {
  return net_max(net_min(a, b), net_min(net_max(a, b), c));
}

template <class V>
struct Column3 {
  V low, middle, high;
};

/// Returns the sorted column of three, from a sorted pair and `x`.
template <class V>
LENSD_NET Column3<V> insert_3(V inner_low, V inner_high, V x) {
  return {net_min(inner_low, x), net_max(inner_low, net_min(inner_high, x)), net_max(inner_high, x)};
}

/// Returns the median of nine from three sorted columns: the median of the largest low, the median middle and
/// the smallest high (J. Smith, Implementing median filters in XC4000E FPGAs, 1996).
template <class V>
LENSD_NET V median_of_columns(const Column3<V>& a, const Column3<V>& b, const Column3<V>& c) {
  return median_of_3(net_max(net_max(a.low, b.low), c.low), median_of_3(a.middle, b.middle, c.middle),
                     net_min(net_min(a.high, b.high), c.high));
}

template <class V>
LENSD_NET void sort_4(V& a, V& b, V& c, V& d) {
  exchange(a, b), exchange(c, d), exchange(a, c), exchange(b, d), exchange(b, c);
}

template <class V>
struct Column5 {
  V v[5];
};

/// Returns the sorted column of five, from four sorted values and `x`.
template <class V>
LENSD_NET Column5<V> insert_5(V a, V b, V c, V d, V x) {
  return {{net_min(a, x), net_min(b, net_max(a, x)), net_min(c, net_max(b, x)), net_min(d, net_max(c, x)),
           net_max(d, x)}};
}

/// Four sorted columns whose rows were then sorted as well (row a holds the minima). Only the elements that
/// can be the median of 25 are kept; a2 is row a, column 2. In a sorted 5×5 matrix, at least (i + 1)(j + 1) −
/// 1 other elements are at or below element (i, j), and (5 − i)(5 − j) − 1 at or above it. That rules out
/// twelve of the 25.
template <class V>
struct Rows4 {
  V a2, a3, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, e0, e1;
};

template <class V>
LENSD_NET Rows4<V> rows_of_4(const Column5<V>& p, const Column5<V>& q, const Column5<V>& r,
                             const Column5<V>& s) {
  V a[4] = {p.v[0], q.v[0], r.v[0], s.v[0]}, b[4] = {p.v[1], q.v[1], r.v[1], s.v[1]};
  V c[4] = {p.v[2], q.v[2], r.v[2], s.v[2]}, d[4] = {p.v[3], q.v[3], r.v[3], s.v[3]};
  V e[4] = {p.v[4], q.v[4], r.v[4], s.v[4]};
  exchange(a[0], a[1]), exchange(a[2], a[3]);
  exchange(e[0], e[1]), exchange(e[2], e[3]);
  sort_4(b[0], b[1], b[2], b[3]), sort_4(c[0], c[1], c[2], c[3]), sort_4(d[0], d[1], d[2], d[3]);
  return {net_max(net_min(a[1], a[3]), net_max(a[0], a[2])),
          net_max(a[1], a[3]),
          b[1],
          b[2],
          b[3],
          c[0],
          c[1],
          c[2],
          c[3],
          d[0],
          d[1],
          d[2],
          net_min(e[0], e[2]),
          net_min(net_max(e[0], e[2]), net_min(e[1], e[3]))};
}

/// Returns the median of 25: inserts the fifth column into the rows of the other four, then applies a network
/// of 20 operations to the remaining thirteen elements. The network was found by search over the 162 zero-one
/// patterns that their partial order allows.
template <class V>
LENSD_NET V median_of_rows(const Rows4<V>& r, const Column5<V>& x) {
  const V* v = x.v;
  V w[13] = {net_max(r.a2, net_min(r.a3, v[0])),
             net_max(r.a3, v[0]),  // row a: the two largest
             net_max(r.b1, net_min(r.b2, v[1])),
             net_max(r.b2, net_min(r.b3, v[1])),
             net_max(r.b3, v[1]),
             net_min(r.c1, net_max(r.c0, v[2])),
             net_min(r.c2, net_max(r.c1, v[2])),
             net_min(r.c3, net_max(r.c2, v[2])),
             net_min(r.d0, v[3]),
             net_min(r.d1, net_max(r.d0, v[3])),
             net_min(r.d2, net_max(r.d1, v[3])),
             net_min(r.e0, v[4]),
             net_min(r.e1, net_max(r.e0, v[4]))};  // row e: the two smallest
  exchange(w[1], w[11]), exchange(w[4], w[12]), exchange(w[3], w[9]), exchange(w[0], w[8]);
  exchange(w[2], w[5]), exchange(w[7], w[10]), exchange(w[7], w[11]), exchange(w[7], w[9]);
  exchange(w[6], w[8]), exchange(w[1], w[5]), exchange(w[4], w[8]), exchange(w[4], w[7]);
  exchange(w[3], w[6]), exchange(w[5], w[6]), exchange(w[6], w[7]), exchange(w[4], w[6]);
  return w[6];
}

/// Sorts the six rows that two vertically adjacent columns of seven share.
template <class V>
LENSD_NET void sort_6(V (&v)[6]) {
  exchange(v[0], v[5]), exchange(v[1], v[3]), exchange(v[2], v[4]);
  exchange(v[1], v[2]), exchange(v[3], v[4]);
  exchange(v[0], v[3]), exchange(v[2], v[5]);
  exchange(v[0], v[1]), exchange(v[2], v[3]), exchange(v[4], v[5]);
  exchange(v[1], v[2]), exchange(v[3], v[4]);
}

template <size_t N, size_t M, class V, size_t... I>
LENSD_NET void exchange_all(V (&w)[N + M], std::index_sequence<I...>) {
  (exchange(w[kMerge<N, M>.exchanges[I].first], w[kMerge<N, M>.exchanges[I].second]), ...);
}

/// Merges w[0 … N) with w[N … N + M), both sorted; then rank k is w[kMerge<N, M>.order[k]].
template <size_t N, size_t M, class V>
LENSD_NET void merge_in_place(V (&w)[N + M]) {
  exchange_all<N, M>(w, std::make_index_sequence<kMerge<N, M>.count>());
}
