#include "cpu/blocked.h"

#include <cmath>
#include <cstring>

#include "core/error.h"
#include "cpu/blocking.h"
#include "cpu/pack.h"
#include "cpu/small.h"
#include "cpu/team.h"
#include "cpu/tile.h"

namespace tritri::cpu {
namespace {

// About how long one matrix takes one thread; the plan's exact count of flops takes O(m), and small products cannot wait for it.
double rough_seconds(const Problem &p) {
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const bool triangles = p.a.fill != Fill::full || p.b.fill != Fill::full || p.c.fill != Fill::full;
  const bool wide = p.dtype == Dtype::f64 || p.dtype == Dtype::c128;
  const double arithmetic = m * n * k * (is_complex(p.dtype) ? 4 : 1) * (triangles ? 1.0 / 3 : 1.0) / (wide ? 4e10 : 8e10);
  const double memory = (m * k + k * n + m * n) * static_cast<double>(element_bytes(p.dtype)) / 4e10;
  return 3e-8 + arithmetic + memory;
}

// Least time: work / threads + threads * waking, since the caller wakes one after the other.
int worthwhile_threads(double seconds, const BlockedSettings &settings) {
  return static_cast<int>(std::clamp(std::sqrt(seconds / settings.seconds_to_wake), 1.0, static_cast<double>(settings.threads)));
}

template <class T>
class Product {
 public:
  using W = typename Accumulator<T>::type;
  using R = typename RealOf<W>::type;

  Product(const Problem &problem, const BlockedSettings &settings, int threads)
      : p_(problem), kernel_(settings.kernels->of<W>()),
        blocking_(choose_blocking(p_, {kernel_.mr, kernel_.nr, int64_t{sizeof(W)}}, settings.pack_bytes, threads)), steps_(steps(p_, blocking_)),
        pack_a_(p_.a, kernel_.mr, p_.compute == TRITRI_COMPUTE_TF32, settings.kernels->small<W>()),
        pack_b_(transposed(p_.b), kernel_.nr, p_.compute == TRITRI_COMPUTE_TF32, settings.kernels->small<W>()),
        tiles_(p_, kernel_, settings.kernels->small<W>().half, blocking_.kc) {
    bool chunks = false;
    for (const Step &step : steps_) {
      chunks = chunks || !step.last;
      work_.push_back(work_of(step));
    }
    const auto aligned = [](int64_t numbers) { return (numbers + 15) / 16 * 16; };
    const int64_t block = blocking_.block_m * blocking_.block_n * kernel_.planes;
    const auto packed = [&](int64_t size, int64_t width) { return aligned(size / width * (width * kernel_.planes * blocking_.chunk + pad)); };
    a_numbers_ = packed(blocking_.block_m, kernel_.mr);
    b_numbers_ = packed(blocking_.block_n, kernel_.nr);
    total_numbers_ = chunks ? aligned(block) : 0;
    sum_numbers_ = aligned(blocking_.tile_m * blocking_.tile_n * kernel_.planes);
  }

  const Blocking &blocking() const { return blocking_; }

  // Blocks of C that are written while another still needs the inputs.
  bool several_blocks() const { return !steps_.empty() && (steps_.front().rows.size() < p_.m || steps_.front().cols.size() < p_.n); }

  // Numbers of workspace for a team of `threads`.
  int64_t numbers(int threads) const { return a_numbers_ + b_numbers_ + total_numbers_ + threads * sum_numbers_; }

  // One matrix, by a team.
  void together(Team &team, int threads, const T *a, const T *b, T *c, R *workspace) const {
    std::vector<Phase> phases(2 * steps_.size());
    team.run(threads, [&](int index) {
      const Scratch scratch = slice(workspace, index);
      for (size_t s = 0; s < steps_.size(); ++s) {
        phases[2 * s].work(work_[s].pack_a + work_[s].pack_b, [&](int64_t task) { pack(s, task, a, b, scratch); });
        const bool stay = index == 0 || s + 1 < steps_.size();
        phases[2 * s + 1].work(work_[s].down * work_[s].across, [&](int64_t task) { tile(s, task, c, scratch); }, stay);
      }
    });
  }

  // One matrix, by this thread.
  void alone(const T *a, const T *b, T *c, R *workspace) const {
    const Scratch scratch = slice(workspace, 0);
    for (size_t s = 0; s < steps_.size(); ++s) {
      for (int64_t task = 0; task < work_[s].pack_a + work_[s].pack_b; ++task) pack(s, task, a, b, scratch);
      for (int64_t task = 0; task < work_[s].down * work_[s].across; ++task) tile(s, task, c, scratch);
    }
  }

 private:
  static constexpr int64_t group = 64, stretch = 32;  // packed by one task: rows or columns, where lines run along k, or k
  static constexpr int64_t pad = 64 / sizeof(R);  // behind each panel, so that those of a k that is a power of 2 do not share sets of a cache
  struct Scratch { R *a, *b, *totals, *sums; };
  struct Work {
    int64_t pack_a, pack_b;  // groups of panels
    int64_t down, across;    // tiles
  };

  Scratch slice(R *workspace, int index) const {
    R *b = workspace + a_numbers_, *totals = b + b_numbers_;
    return {workspace, b, totals, totals + total_numbers_ + index * sum_numbers_};
  }

  static int64_t count(Range range, int64_t size) { return (range.size() + size - 1) / size; }
  static int64_t group_of(int64_t width) { return std::max<int64_t>(group / width, 1) * width; }

  Work work_of(const Step &step) const {
    const bool product = !step.k.empty();
    const auto tasks = [&](const Packer<T> &packer, Range all, int64_t width) { return packer.lines_along_k() ? count(all, group_of(width)) : count(step.k, stretch); };
    return {product ? tasks(pack_a_, step.rows, kernel_.mr) : 0, product ? tasks(pack_b_, step.cols, kernel_.nr) : 0, count(step.rows, blocking_.tile_m),
            count(step.cols, blocking_.tile_n)};
  }

  // From panel number `panel` of a block on.
  Panels<R> panels(const Step &step, const R *data, int64_t panel, int64_t width) const {
    const int64_t numbers = width * kernel_.planes, stride = numbers * step.k.size() + pad;
    return {data + panel * stride, numbers, stride, step.k.begin};
  }

  void pack(size_t s, int64_t task, const T *a, const T *b, const Scratch &scratch) const {
    const Step &step = steps_[s];
    const int64_t rest = task - work_[s].pack_a;
    if (rest < 0) pack_task(pack_a_, step, step.rows, kernel_.mr, task, a, scratch.a);
    else pack_task(pack_b_, step, step.cols, kernel_.nr, rest, b, scratch.b);
  }

  // Whole lines, or long pieces of them: some neighbouring panels where lines run along k, otherwise a stretch of k for all panels.
  void pack_task(const Packer<T> &packer, const Step &step, Range all, int64_t width, int64_t task, const T *data, R *to) const {
    const Panels<R> target = panels(step, to, 0, width);
    if (!packer.lines_along_k()) {
      const int64_t k = step.k.begin + task * stretch;
      return packer.panels(data, all, {k, std::min(k + stretch, step.k.end)}, const_cast<R *>(target.at(0, k)), target.stride);
    }
    const int64_t begin = all.begin + task * group_of(width), end = std::min(begin + group_of(width), all.end);
    for (int64_t p = begin; p < end; p += width) {
      const Range k = cut(packer.held(p), step.k);
      if (!k.empty()) packer.panel(data, p, k, const_cast<R *>(target.at((p - all.begin) / width, k.begin)));
    }
  }

  // Long sums first, so that the last tiles are short ones: rows from the bottom where A is lower, columns from the right where B is upper.
  void tile(size_t s, int64_t task, T *c, const Scratch &scratch) const {
    const Step &step = steps_[s];
    const int64_t down = work_[s].down, across = work_[s].across;
    const int64_t row = p_.a.fill == Fill::lower ? down - 1 - task / across : task / across;
    const int64_t col = p_.b.fill == Fill::upper ? across - 1 - task % across : task % across;
    const int64_t i = step.rows.begin + row * blocking_.tile_m, j = step.cols.begin + col * blocking_.tile_n;
    const Range rows{i, std::min(i + blocking_.tile_m, step.rows.end)}, cols{j, std::min(j + blocking_.tile_n, step.cols.end)};
    if (!touches(p_.c.fill, rows, cols)) return;
    const R *result = scratch.sums;
    if (!step.k.empty()) {
      tiles_.multiply(step, rows, cols, panels(step, scratch.a, row * blocking_.tile_m / kernel_.mr, kernel_.mr),
                      panels(step, scratch.b, col * blocking_.tile_n / kernel_.nr, kernel_.nr), scratch.sums, c);
    }
    if (!step.first || !step.last) {
      // Every tile has its place in the block's totals: strips of tile columns, tiles from the top within a strip.
      const int64_t width = (cols.size() + kernel_.nr - 1) / kernel_.nr * kernel_.nr;
      R *totals = scratch.totals + (col * blocking_.tile_n * blocking_.block_m + row * blocking_.tile_m * width) * kernel_.planes;
      tiles_.add(step, rows, cols, scratch.sums, totals);
      result = totals;
    }
    if (step.last) tiles_.store(step, rows, cols, result, c);
  }

  const Problem &p_;
  const Kernel<W> &kernel_;
  Blocking blocking_;
  std::vector<Step> steps_;
  std::vector<Work> work_;  // of each step
  Packer<T> pack_a_, pack_b_;
  TileMaker<T> tiles_;
  int64_t a_numbers_, b_numbers_, total_numbers_, sum_numbers_;
};

// What beta makes of C where there is no product.
template <class T>
void scale(const Problem &p, T *c) {
  for (int64_t i = 0; i < p.m; ++i) {
    const Range held = row_held(p.c.fill, i, p.n);
    if (held.empty()) continue;
    T *line = c + p.c.offset(i, held.begin) - held.begin;
    for (int64_t j = held.begin; j < held.end; ++j) line[j] = scaled<typename Accumulator<T>::type>(p.beta, line[j]);
  }
}

// The elements inside a fill, in tight lines. `view` is turned to the copy.
template <class T>
std::vector<T> snapshot(View &view, const T *data) {
  const Lines from = view.lines();
  if (!from.packed) view.ld = from.length;
  const Lines to = view.lines();
  std::vector<T> copy(static_cast<size_t>(to.extent()));
  for (int64_t line = 0; line < from.count; ++line) {
    const Range held = from.held(line);
    if (!held.empty()) std::memcpy(static_cast<void *>(&copy[static_cast<size_t>(to.offset(line, held.begin))]), data + from.offset(line, held.begin), static_cast<size_t>(held.size()) * sizeof(T));
  }
  return copy;
}

template <class T>
void run(const Problem &p, const BlockedSettings &settings, Workspace &workspace) {
  using R = typename Product<T>::R;
  const auto a_of = [&](int64_t batch) { return static_cast<const T *>(p.a.data) + batch * p.a.batch_stride; };
  const auto b_of = [&](int64_t batch) { return static_cast<const T *>(p.b.data) + batch * p.b.batch_stride; };
  const auto c_of = [&](int64_t batch) { return static_cast<T *>(p.c_data()) + batch * p.c.batch_stride; };
  if (p.m == 0 || p.n == 0) return;
  if (!p.reads_inputs()) {
    for (int64_t batch = 0; batch < p.batch; ++batch) scale(p, c_of(batch));
    return;
  }
  const auto numbers = [&](int64_t count) { return static_cast<R *>(workspace.reserve(static_cast<size_t>(count) * sizeof(R))); };
  const double seconds = rough_seconds(p);
  const int threads = worthwhile_threads(seconds, settings);
  // `pieces` of each matrix, some at a time, to whoever is free.
  const auto share = [&](int64_t pieces, int64_t product_numbers, const auto &multiply, const auto &settle) {
    const int64_t tasks = p.batch * pieces, apart = (product_numbers + 63) / 64 * 64;
    const int team = static_cast<int>(std::min<int64_t>(worthwhile_threads(seconds * static_cast<double>(p.batch), settings), tasks));
    const int64_t handful = std::max<int64_t>(1, std::min<int64_t>(static_cast<int64_t>(2.5 * settings.seconds_to_wake / seconds), tasks / (int64_t{4} * team)));
    R *const memory = numbers(team * apart);
    Phase phase;
    workspace.team().run(team, [&](int index) {
      phase.work((tasks + handful - 1) / handful, [&](int64_t task) {
        for (int64_t t = task * handful; t < std::min((task + 1) * handful, tasks); ++t) {
          if (pieces == 1) multiply(t, 0, memory + index * apart);
          else multiply(t / pieces, t % pieces, memory + index * apart);
        }
        settle();
      }, index == 0);
    });
  };
  // Matrices of a few milliseconds gain nothing from a thread each, which would need a workspace each.
  const bool many = p.batch >= int64_t{4} * settings.threads && seconds < 600 * settings.seconds_to_wake;
  if (SmallProduct<T>::fits(p, settings.small)) {
    const bool far = many && (p.m * p.k + p.k * p.n + p.m * p.n) * p.batch * int64_t{sizeof(T)} >= settings.far_bytes;
    const SmallProduct<T> product(p, *settings.kernels, far);
    const Ahead ahead = product.ahead();
    const int64_t pieces = many ? 1 : product.pieces(threads);
    const auto multiply = [&](int64_t batch, int64_t piece, R *memory) {
      if (!product.far() || batch + 1 == p.batch) return product.multiply(piece, pieces, a_of(batch), b_of(batch), c_of(batch), memory);
      Ahead next = ahead;
      next.start(a_of(batch + 1), b_of(batch + 1));
      product.multiply(piece, pieces, a_of(batch), b_of(batch), c_of(batch), memory, &next);
    };
    if (!many && threads > 1 && product.for_team()) {
      const int64_t apart = (product.own_numbers() + 63) / 64 * 64;
      R *const own = numbers(threads * apart + product.b_numbers()), *const packed_b = own + threads * apart;
      const int64_t apiece = 2 * product.blocks();
      std::vector<Phase> phases(static_cast<size_t>(apiece * p.batch));
      return workspace.team().run(threads, [&](int index) {
        for (int64_t batch = 0; batch < p.batch; ++batch) {
          product.multiply(&phases[static_cast<size_t>(apiece * batch)], index == 0 || batch + 1 < p.batch, a_of(batch), b_of(batch), c_of(batch), packed_b, own + index * apart);
        }
      });
    }
    return share(pieces, product.numbers(), multiply, [&] { product.settle(); });
  }
  if (p.batch > 1 && (threads == 1 || many)) {
    const Product<T> product(p, settings, 1);
    if (!product.several_blocks()) return share(1, product.numbers(1), [&](int64_t batch, int64_t, R *memory) { product.alone(a_of(batch), b_of(batch), c_of(batch), memory); }, [] {});
  }
  const Product<T> product(p, settings, threads);
  R *const memory = numbers(product.numbers(threads));
  if (!(product.several_blocks() && (p.c_is_a || p.c_is_b))) {
    for (int64_t batch = 0; batch < p.batch; ++batch) {
      if (threads == 1) product.alone(a_of(batch), b_of(batch), c_of(batch), memory);
      else product.together(workspace.team(), threads, a_of(batch), b_of(batch), c_of(batch), memory);
    }
    return;
  }
  // In place, and later blocks need what earlier ones overwrite: the input is read from a copy.
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    Problem apart = p;
    const std::vector<T> a = p.c_is_a ? snapshot(apart.a, a_of(batch)) : std::vector<T>(), b = p.c_is_b ? snapshot(apart.b, b_of(batch)) : std::vector<T>();
    Product<T>(apart, settings, threads).together(workspace.team(), threads, p.c_is_a ? a.data() : a_of(batch), p.c_is_b ? b.data() : b_of(batch), c_of(batch), memory);
  }
}

}  // namespace

void blocked(const Problem &problem, const BlockedSettings &settings, Workspace &workspace) {
  visit(problem.dtype, [&](auto type) { run<typename decltype(type)::type>(problem, settings, workspace); });
}

Plan blocked_plan(const Problem &p, const BlockedSettings &settings) {
  Plan plan;
  plan.kernel_name = settings.kernels->name;
  plan.flops = useful_flops(p);
  if (p.m == 0 || p.n == 0 || !p.reads_inputs()) {
    plan.kernel_name = "scale";
    plan.reason = "there is no product to compute, only beta times C";
    return plan;
  }
  visit(p.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const int threads = worthwhile_threads(rough_seconds(p), settings);
    if (SmallProduct<T>::fits(p, settings.small)) {
      const auto &kernel = settings.kernels->small<typename Accumulator<T>::type>();
      plan.tile_m = kernel.mr;
      plan.tile_n = kernel.nr;
      plan.tile_k = p.k;
      plan.reason = "the operands fit the caches nearest to a core: no more is packed than must be";
      return;
    }
    const Product<T> product(p, settings, threads);
    plan.tile_m = product.blocking().tile_m;
    plan.tile_n = product.blocking().tile_n;
    plan.tile_k = product.blocking().kc;
    plan.pieces = (p.k + product.blocking().chunk - 1) / product.blocking().chunk;
    plan.reason = text("the fastest kernels of this processor, ", threads, threads == 1 ? " thread" : " threads", " for each matrix");
  });
  return plan;
}

}  // namespace tritri::cpu
