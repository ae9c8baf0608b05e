#include "unit/cpu/sample.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/visit.h"

namespace tritri::test {
namespace {

bool transposes(int32_t op) { return op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE; }

void shape(Layout &x, const Wish &wish, int64_t rows, int64_t cols, bool broadcast) {
  x.dtype = wish.dtype;
  x.rows = rows;
  x.cols = cols;
  x.batch = wish.batch;
  const int64_t length = x.order == Order::row ? cols : rows;
  x.ld = x.storage == Storage::packed ? 0 : std::max<int64_t>(length, 1) + wish.padding;
  x.batch_stride = broadcast ? 0 : std::max<int64_t>(x.lines().extent(), 1) + wish.padding;
}

template <class T>
void fill(std::vector<unsigned char> &memory, const Layout &x, std::mt19937_64 &random, int special, bool everywhere) {
  const int64_t matrices = x.batch_stride == 0 ? 1 : x.batch, one = x.lines().extent();
  std::vector<T> values(static_cast<size_t>((matrices - 1) * x.batch_stride + one));
  const auto number = [&] { return static_cast<double>(random() % 7) - 3; };
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto make = [&](double re, double im) {
    if constexpr (is_complex_type<T>::value) return T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
    else return convert<T>(re);
  };
  for (T &value : values) value = everywhere ? make(number(), number()) : make(nan, nan);
  const Lines lines = x.lines();
  for (int64_t matrix = 0; matrix < matrices; ++matrix) {
    std::vector<T *> held;
    for (int64_t line = 0; line < lines.count; ++line) {
      const Range range = lines.held(line);
      for (int64_t p = range.begin; p < range.end; ++p) {
        if (x.unit && p == line) continue;
        held.push_back(&values[static_cast<size_t>(matrix * x.batch_stride + lines.offset(line, p))]);
        *held.back() = make(number(), number());
      }
    }
    for (int s = 0; s < special && !held.empty(); ++s) *held[random() % held.size()] = make(random() % 4 ? (random() % 2 ? inf : -inf) : nan, number());
  }
  memory.resize(values.size() * sizeof(T));
  if (!memory.empty()) std::memcpy(memory.data(), values.data(), memory.size());
}

}  // namespace

std::string Wish::text() const {
  const auto operand = [](const Layout &x) {
    return tritri::text(name(x.fill), x.unit ? " unit" : "", x.order == Order::row ? " row" : " column", x.storage == Storage::packed ? " packed" : "");
  };
  return tritri::text(name(dtype), " ", m, "x", k, "x", n, " batch ", batch, " a ", operand(a), " op ", op_a, " b ", operand(b), " op ", op_b, " c ", operand(c), " alpha ",
                      alpha, " beta ", beta, " padding ", padding, " broadcast ", broadcast_a, broadcast_b, " in place ", in_place, " compute ", compute);
}

Sample::Sample(const Wish &wish, uint64_t seed, int special) : options_(TRITRI_MULTIPLY_OPTIONS_INIT), in_place_(wish.in_place) {
  Layout a = wish.a, b = wish.b, c = wish.c;
  const bool ta = transposes(wish.op_a), tb = transposes(wish.op_b);
  shape(a, wish, ta ? wish.k : wish.m, ta ? wish.m : wish.k, wish.broadcast_a);
  shape(b, wish, tb ? wish.n : wish.k, tb ? wish.k : wish.n, wish.broadcast_b);
  shape(c, wish, wish.m, wish.n, false);
  std::mt19937_64 random(seed);
  visit(wish.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    fill<T>(a_, a, random, special, in_place_ == 1);
    fill<T>(b_, b, random, special, in_place_ == 2);
    fill<T>(c_, c, random, 0, wish.beta != 0);
  });
  options_.op_a = wish.op_a;
  options_.op_b = wish.op_b;
  options_.alpha_re = wish.alpha;
  options_.beta_re = wish.beta;
  options_.compute = wish.compute;
  operands_ = {a, b, c, nullptr, nullptr, nullptr};
}

Problem Sample::problem() {
  operands_.a_data = a_.data();
  operands_.b_data = b_.data();
  operands_.c_data = in_place_ == 1 ? a_.data() : in_place_ == 2 ? b_.data() : c_.data();
  return canonical(options_, operands_);
}

std::string difference(Dtype dtype, const std::vector<unsigned char> &got, const std::vector<unsigned char> &want) {
  if (got.size() != want.size()) return text("sizes ", got.size(), " and ", want.size());
  return visit(dtype, [&](auto type) -> std::string {
    using T = typename decltype(type)::type;
    const auto same = [](double x, double y) { return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y)); };
    for (size_t at = 0; at < got.size(); at += sizeof(T)) {
      T x, y;
      std::memcpy(&x, &got[at], sizeof x);
      std::memcpy(&y, &want[at], sizeof y);
      if constexpr (is_complex_type<T>::value) {
        if (!same(x.real(), y.real()) || !same(x.imag(), y.imag())) return text("element ", at / sizeof(T), ": got ", x, ", want ", y);
      } else {
        if (!same(convert<double>(x), convert<double>(y))) return text("element ", at / sizeof(T), ": got ", convert<double>(x), ", want ", convert<double>(y));
      }
    }
    return "";
  });
}

Wish random_wish(std::mt19937_64 &random, int64_t largest) {
  const auto pick = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  Wish w;
  w.dtype = static_cast<Dtype>(pick(6));
  w.m = pick(largest + 1);
  w.n = pick(3) ? pick(largest + 1) : w.m;
  w.k = pick(3) ? pick(largest + 1) : w.m;
  w.batch = pick(4) ? 1 : 1 + pick(4);
  w.op_a = static_cast<int32_t>(pick(4));
  w.op_b = static_cast<int32_t>(pick(4));
  const double factors[] = {1, 0, 2, -1, 0.5};
  w.alpha = factors[pick(3) ? 0 : pick(5)];
  w.beta = factors[pick(2) ? 1 : pick(5)];
  w.padding = pick(2) ? 0 : pick(9);
  for (Layout *x : {&w.a, &w.b, &w.c}) {
    x->fill = static_cast<Fill>(pick(3));
    x->order = static_cast<Order>(pick(2));
    x->storage = x->fill != Fill::full && pick(4) == 0 ? Storage::packed : Storage::strided;
    x->unit = x != &w.c && pick(3) == 0;
  }
  w.broadcast_a = w.batch > 1 && pick(3) == 0;
  w.broadcast_b = w.batch > 1 && pick(3) == 0;
  w.in_place = static_cast<int>(pick(3) ? 0 : 1 + pick(2));
  if (w.in_place) {
    Layout &x = w.in_place == 1 ? w.a : w.b;
    (w.in_place == 1 ? w.broadcast_a : w.broadcast_b) = false;
    if (transposes(w.in_place == 1 ? w.op_a : w.op_b)) w.m = w.n = w.k;
    else if (w.in_place == 1) w.k = w.n;
    else w.k = w.m;
    x.unit = false;
    w.c = x;
  }
  if (w.dtype == Dtype::f32) w.compute = static_cast<int32_t>(pick(3));
  return w;
}

}  // namespace tritri::test
