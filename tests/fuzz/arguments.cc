#include "fuzz/arguments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/api.h"
#include "support/check.h"

namespace fuzz {

using namespace support;

namespace {

class Source {
 public:
  Source(const uint8_t *bytes, size_t size) : bytes_(bytes), size_(size) {}
  uint32_t below(uint32_t count) { return byte() % count; }
  bool rarely() { return byte() >= 251; }
  template <class T, size_t n> T pick(const T (&choices)[n]) { return choices[below(static_cast<uint32_t>(n))]; }

 private:
  uint32_t byte() { return at_ < size_ ? bytes_[at_++] : 0; }
  const uint8_t *bytes_;
  size_t size_, at_ = 0;
};

constexpr int64_t huge[] = {-1, INT64_MIN, INT64_MAX, (int64_t{1} << 31) + 1, int64_t{1} << 32, int64_t{1} << 62, -(int64_t{1} << 31)};
constexpr int32_t wrong_enums[] = {-1, 3, 4, 6, 99, 1000, INT32_MIN, INT32_MAX};
constexpr int64_t arena_elements = 6000;
uint64_t products = 0;

[[noreturn]] void broken(const std::string &what) { throw std::runtime_error(what); }

int32_t enumerator(Source &s, int32_t count) { return s.rarely() ? s.pick(wrong_enums) : static_cast<int32_t>(s.below(static_cast<uint32_t>(count))); }

// What the library takes a struct for whose struct_size says how much of it there is.
template <class Struct> Struct seen(const Struct &given, Struct defaults) {
  std::memcpy(&defaults, &given, std::min(given.struct_size, sizeof(Struct)));
  return defaults;
}

tritri_matrix_desc draw_desc(Source &s, int32_t dtype, int64_t rows, int64_t cols, int64_t batch = 0) {
  tritri_matrix_desc d = describe(s.rarely() ? enumerator(s, 6) : dtype, enumerator(s, 3), rows, cols, enumerator(s, 2));
  d.diag = s.below(4) == 0 ? enumerator(s, 2) : TRITRI_DIAG_NON_UNIT;
  d.storage = s.below(4) == 0 ? enumerator(s, 2) : TRITRI_STORAGE_STRIDED;
  if (s.rarely()) d.rows = s.rarely() ? s.pick(huge) : static_cast<int64_t>(s.below(12));
  if (s.rarely()) d.cols = s.rarely() ? s.pick(huge) : static_cast<int64_t>(s.below(12));
  if (s.below(3) == 0) d.ld = s.rarely() ? s.pick(huge) : std::max(rows, cols) + (s.rarely() ? -1 : static_cast<int64_t>(s.below(4)));
  d.batch_count = s.rarely() ? s.pick(huge) : s.rarely() ? static_cast<int64_t>(s.below(4)) : batch;
  d.batch_stride = s.rarely() ? s.pick(huge) : static_cast<int64_t>(s.below(250)) - 40;
  if (s.rarely()) d.struct_size = s.below(100);
  return d;
}

tritri_multiply_options draw_options(Source &s) {
  const double scalars[] = {1, 1, 0, -1, 0.5, 2, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300, -0.0};
  tritri_multiply_options o = TRITRI_MULTIPLY_OPTIONS_INIT;
  o.op_a = enumerator(s, 4);
  o.op_b = enumerator(s, 4);
  if (s.below(3) == 0) o.alpha_re = s.pick(scalars);
  if (s.below(3) == 0) o.beta_re = s.pick(scalars);
  if (s.rarely()) o.alpha_im = s.pick(scalars);
  if (s.rarely()) o.beta_im = s.pick(scalars);
  if (s.rarely()) o.compute = enumerator(s, 3);
  if (s.rarely()) o.algorithm = enumerator(s, 3);
  if (s.rarely()) o.struct_size = s.below(80);
  return o;
}

// Elements between the first and the last that a descriptor may touch, in [low, high); false where that is no sensible question.
bool span(const tritri_matrix_desc &d, __int128 &low, __int128 &high) {
  if (d.rows <= 0 || d.cols <= 0) return low = high = 0, d.rows >= 0 && d.cols >= 0;
  const __int128 length = d.order == TRITRI_ORDER_ROW ? d.cols : d.rows, lines = d.order == TRITRI_ORDER_ROW ? d.rows : d.cols;
  const __int128 ld = d.storage == TRITRI_STORAGE_PACKED || d.ld <= 0 ? length : d.ld, reach = d.batch_count > 1 ? __int128(d.batch_count - 1) * d.batch_stride : 0;
  low = reach < 0 ? reach : 0;
  high = (reach > 0 ? reach : 0) + (lines - 1) * ld + length;
  return true;
}

// A place in the arena where the matrix fits, NULL if there is none.
bool place(Source &s, const tritri_matrix_desc &d, int64_t &origin) {
  __int128 low = 0, high = 0;
  if (!span(d, low, high) || high - low > arena_elements / 4) return false;
  origin = static_cast<int64_t>(-low) + static_cast<int64_t>(s.below(12)) * (arena_elements / 12) + (s.below(3) == 0 ? static_cast<int64_t>(s.below(30)) : 0);
  return origin + static_cast<int64_t>(high) <= arena_elements;
}

void check_message(tritri_status status) {
  const std::string message = tritri_last_error();
  const size_t first = message.find(": "), second = first == std::string::npos ? first : message.find(": ", first + 2);
  if (status < TRITRI_OK || status > TRITRI_DEVICE_ERROR) broken(std::string("the status is ") + tritri_status_name(status) + ": " + message);
  if (second == std::string::npos || message.compare(0, 6, "tritri") != 0 || second + 2 >= message.size())
    broken("the message must read \"function: argument: rule\", got \"" + message + "\"");
}

// The three operands of one product in one arena, so that they overlap in every way.
struct Scene {
  tritri_matrix_desc descs[3], taken[3];  // as given, and as the library takes them
  int64_t origins[3] = {};
  bool placed[3];
  std::shared_ptr<Buffer> arena;

  explicit Scene(Source &s) {
    const int32_t dtype = static_cast<int32_t>(s.below(6));
    const int64_t n = static_cast<int64_t>(s.below(12));
    const bool square = s.below(3) != 0;
    const int64_t m = square ? n : static_cast<int64_t>(s.below(12)), k = square ? n : static_cast<int64_t>(s.below(12));
    const int64_t batch = s.below(3) == 0 ? static_cast<int64_t>(s.below(4)) : 0;
    const int64_t shapes[3][2] = {{m, k}, {k, n}, {m, n}};
    const tritri_matrix_desc defaults = TRITRI_MATRIX_DESC_INIT;
    for (int i = 0; i < 3; ++i) {
      descs[i] = draw_desc(s, dtype, shapes[i][0], shapes[i][1], batch);
      if (i == 2 && !s.rarely()) descs[i].diag = TRITRI_DIAG_NON_UNIT;
      taken[i] = descs[i].struct_size < sizeof(size_t) ? defaults : seen(descs[i], defaults);
      placed[i] = place(s, taken[i], origins[i]) && taken[i].dtype == dtype;
    }
    if (s.below(6) == 0) origins[2] = origins[0], descs[2] = descs[0], taken[2] = taken[0], placed[2] = placed[0];  // in place
    arena = std::make_shared<Buffer>(dtype, arena_elements);
    for (int64_t index = 0; index < arena_elements; ++index) arena->set(index, static_cast<long double>(static_cast<int>(s.below(7)) - 3));
  }
  // NULL for what does not fit, and for matrices of another dtype than the arena's.
  void *data(int i) const { return placed[i] ? arena->at(origins[i]) : nullptr; }
};

Product product_of(const Scene &scene, const tritri_multiply_options &options) {
  Product p;
  p.options = options;
  Operand *const operands[] = {&p.a, &p.b, &p.c};
  for (int i = 0; i < 3; ++i) {
    operands[i]->layout = Layout(scene.taken[i]);
    operands[i]->buffer = scene.arena;
    operands[i]->origin = scene.origins[i];
  }
  return p;
}

tritri_context *context_of(Source &s) {
  static const Context one = make_context(TRITRI_DEVICE_CPU, 1), several = make_context(TRITRI_DEVICE_CPU, 3);
  return s.below(2) == 0 ? one : several;
}

// An accepted product must be right, in whatever way its operands lie over each other.
void check_product(const Scene &scene, const tritri_multiply_options &given, const Buffer &before) {
  tritri_multiply_options options = seen(given, TRITRI_MULTIPLY_OPTIONS_INIT);
  if (!std::isfinite(static_cast<float>(options.alpha_re)) || !std::isfinite(static_cast<float>(options.beta_re)) || !std::isfinite(static_cast<float>(options.alpha_im)) ||
      !std::isfinite(static_cast<float>(options.beta_im)))
    return;
  const Buffer after = *scene.arena;
  *scene.arena = before;
  const Product p = product_of(scene, options);
  const std::vector<Expected> want = expected(p);
  *scene.arena = after;
  const Verdict verdict = check(p, before, want, Accuracy::rounding);
  if (!verdict.fault.empty()) broken("an accepted product is wrong: " + verdict.fault);
  ++products;
}

void multiply_host(Source &s) {
  const Scene scene(s);
  tritri_context *const context = context_of(s);
  const tritri_multiply_options options = draw_options(s);
  const Buffer before = *scene.arena;
  const tritri_matrix_desc *descs[3];
  for (int i = 0; i < 3; ++i) descs[i] = s.rarely() ? nullptr : &scene.descs[i];
  const tritri_status status = tritri_multiply_host(s.rarely() ? nullptr : context, &options, descs[0], scene.data(0), descs[1], scene.data(1), descs[2], scene.data(2));
  if (status == TRITRI_OK) return check_product(scene, options, before);
  check_message(status);
  if (!(*scene.arena == before)) broken(std::string("a refusal changed memory: ") + tritri_last_error());
}

void multiply_handles(Source &s) {
  const Scene scene(s);
  tritri_context *const context = context_of(s);
  const tritri_multiply_options options = draw_options(s);
  const Buffer before = *scene.arena;
  Matrix matrices[3];
  for (int i = 0; i < 3; ++i) {
    const tritri_status status = tritri_matrix_wrap(context, &scene.descs[i], scene.data(i), matrices[i].out());
    if (status == TRITRI_OK) continue;
    check_message(status);
    if (matrices[i]) broken("a refused wrap wrote its output");
  }
  size_t bytes = 77;
  double residual = -77;
  char text[64] = "kept";
  const tritri_status planned = tritri_plan_describe(context, &options, matrices[0], matrices[1], matrices[2], text, s.below(64));
  if (planned != TRITRI_OK) {
    check_message(planned);
    if (std::string(text) != "kept") broken("a refused plan wrote its text");
  }
  const tritri_status sized = tritri_workspace_size(context, &options, matrices[0], matrices[1], matrices[2], &bytes);
  if (sized != TRITRI_OK && bytes != 77) broken("a refused workspace_size wrote its output");
  const tritri_status verified = tritri_verify(context, &options, matrices[0], matrices[1], matrices[2], static_cast<int32_t>(s.below(6)), &residual);
  if (verified != TRITRI_OK) {
    check_message(verified);
    if (residual != -77) broken("a refused verify wrote its output");
  } else if (residual < 0) {
    broken("a residual is below 0");
  }
  if (!(*scene.arena == before)) broken("a query changed memory");
  const tritri_status status = tritri_multiply(context, &options, matrices[0], matrices[1], matrices[2]);
  if (status == TRITRI_OK) {
    if (sized != TRITRI_OK) broken("a product is accepted whose workspace_size is refused");
    return check_product(scene, options, before);
  }
  check_message(status);
  if (!(*scene.arena == before)) broken(std::string("a refusal changed memory: ") + tritri_last_error());
}

void transfer(Source &s) {
  const Scene scene(s);
  tritri_context *const context = context_of(s);
  const Buffer before = *scene.arena;
  Matrix matrix;
  const tritri_status uploaded = tritri_upload(context, &scene.descs[0], scene.data(0), matrix.out());
  if (uploaded != TRITRI_OK) {
    check_message(uploaded);
    if (matrix) broken("a refused upload wrote its output");
  }
  if (!(*scene.arena == before)) broken("an upload changed its source");
  const tritri_status refilled = tritri_upload_into(context, matrix, &scene.descs[1], scene.data(1));
  if (refilled != TRITRI_OK) check_message(refilled);
  const tritri_status fetched = tritri_download(context, matrix, &scene.descs[2], scene.data(2));
  if (fetched != TRITRI_OK) {
    check_message(fetched);
    if (!(*scene.arena == before)) broken("a refused download changed memory");
    return;
  }
  const tritri_matrix_desc &source_desc = refilled == TRITRI_OK ? scene.taken[1] : scene.taken[0];
  Operand from(source_desc, Operand()), to(scene.taken[2], Operand());
  from.buffer = std::make_shared<Buffer>(before);
  to.buffer = scene.arena;
  from.origin = scene.origins[refilled == TRITRI_OK ? 1 : 0];
  to.origin = scene.origins[2];
  // Matrices that share memory with each other are whatever was written last.
  if (to.layout.batches() > 1) return;
  to.each(false, [&](int64_t batch, int64_t i, int64_t j) {
    if (to.value(batch, i, j) != from.value(batch, i, j)) broken("a download differs from what was uploaded");
  });
}

void create(Source &s) {
  tritri_matrix_desc desc = draw_desc(s, static_cast<int32_t>(s.below(6)), static_cast<int64_t>(s.below(12)), static_cast<int64_t>(s.below(12)), static_cast<int64_t>(s.below(4)));
  Matrix matrix;
  const tritri_status status = tritri_matrix_create(context_of(s), &desc, matrix.out());
  if ((status == TRITRI_OK) != (matrix != nullptr)) broken("matrix_create answers with status and handle apart");
  if (status != TRITRI_OK) return check_message(status);
  tritri_matrix_desc got = TRITRI_MATRIX_DESC_INIT;
  call(tritri_matrix_desc_get(matrix, &got));
  const tritri_matrix_desc want = seen(desc, TRITRI_MATRIX_DESC_INIT);
  if (got.rows != want.rows || got.cols != want.cols || got.dtype != want.dtype || got.fill != want.fill) broken("desc_get differs from what was asked for");
}

void contexts(Source &s) {
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = s.below(3) == 0 ? enumerator(s, 2) : TRITRI_DEVICE_CPU;
  if (options.device == TRITRI_DEVICE_AUTO) options.device = TRITRI_DEVICE_CPU;
  if (s.rarely()) options.device_index = static_cast<int32_t>(s.pick(huge));
  if (s.below(2) == 0) options.threads = s.rarely() ? s.pick(wrong_enums) : static_cast<int32_t>(s.below(5));
  if (s.rarely()) options.stream = &options;
  if (s.rarely()) options.workspace_bytes = static_cast<size_t>(s.pick(huge));
  if (s.rarely()) options.struct_size = s.below(60);
  if (options.struct_size < 12) options.struct_size = s.below(8);  // too short to say which device: must be refused, not steered
  Context context;
  const tritri_status status = tritri_context_create(&options, context.out());
  if ((status == TRITRI_OK) != (context != nullptr)) broken("context_create answers with status and handle apart");
  if (status != TRITRI_OK) return check_message(status);
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  info.struct_size = s.below(250);
  const tritri_status described = tritri_context_device_info(context, &info);
  if (described != TRITRI_OK) check_message(described);
}

}  // namespace

uint64_t accepted_products() { return products; }

void run(const uint8_t *bytes, size_t size) {
  Source s(bytes, size);
  switch (s.below(8)) {
    case 0: case 1: case 2: return multiply_host(s);
    case 3: case 4: return multiply_handles(s);
    case 5: return transfer(s);
    case 6: return create(s);
    default: return contexts(s);
  }
}

}  // namespace fuzz
