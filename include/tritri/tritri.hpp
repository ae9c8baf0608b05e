// libtritri for C++17: RAII handles, exceptions and typed host arrays over tritri.h, in this one file. SPDX-License-Identifier: Apache-2.0
//
//   tritri::Context context;                                             // the best device
//   auto a = context.upload(tritri::lower<float>(n, n), a_host);         // std::vector<float>, or a pointer and an extent
//   auto b = context.upload(tritri::lower<float>(n, n), b_host);
//   auto c = context.matrix(tritri::full<float>(n, n));
//   context.multiply(a, b, c);                                           // C := A B
//   context.download(c, c_host);
//
// Every failure is thrown as tritri::Error with the library's sentence and status. Threads, ordering, ownership: as tritri.h says.
#ifndef TRITRI_TRITRI_HPP
#define TRITRI_TRITRI_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tritri/tritri.h"

namespace tritri {

class Error : public std::runtime_error {
 public:
  Error(tritri_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
  tritri_status status() const noexcept { return status_; }

 private:
  tritri_status status_;
};

// Throws if `status` is a failure.
inline void check(tritri_status status) {
  if (status == TRITRI_OK) return;
  const char *message = tritri_last_error();
  throw Error(status, *message ? message : tritri_status_name(status));
}

// 16-bit elements as their bits, for hosts without such types.
struct half_bits { std::uint16_t bits; };
struct bfloat16_bits { std::uint16_t bits; };

template <class T> struct dtype_of;
template <> struct dtype_of<float> { static constexpr tritri_dtype value = TRITRI_FLOAT32; };
template <> struct dtype_of<double> { static constexpr tritri_dtype value = TRITRI_FLOAT64; };
template <> struct dtype_of<std::complex<float>> { static constexpr tritri_dtype value = TRITRI_COMPLEX64; };
template <> struct dtype_of<std::complex<double>> { static constexpr tritri_dtype value = TRITRI_COMPLEX128; };
template <> struct dtype_of<half_bits> { static constexpr tritri_dtype value = TRITRI_FLOAT16; };
template <> struct dtype_of<bfloat16_bits> { static constexpr tritri_dtype value = TRITRI_BFLOAT16; };

// A tritri_matrix_desc whose dtype is T's. The setters return a changed copy.
template <class T>
class Layout {
 public:
  Layout(tritri_fill fill, std::int64_t rows, std::int64_t cols) {
    desc_.dtype = dtype_of<T>::value;
    desc_.fill = fill;
    desc_.rows = rows;
    desc_.cols = cols;
  }
  Layout unit_diagonal() const { return with([](auto &d) { d.diag = TRITRI_DIAG_UNIT; }); }
  Layout column_major() const { return with([](auto &d) { d.order = TRITRI_ORDER_COLUMN; }); }
  Layout packed() const { return with([](auto &d) { d.storage = TRITRI_STORAGE_PACKED; }); }
  Layout leading_dimension(std::int64_t ld) const { return with([ld](auto &d) { d.ld = ld; }); }
  Layout batch(std::int64_t count, std::int64_t stride) const {
    return with([=](auto &d) { d.batch_count = count, d.batch_stride = stride; });
  }
  const tritri_matrix_desc &desc() const noexcept { return desc_; }

  // Elements from the first to one past the last that the layout may touch (batch stride >= 0).
  std::int64_t extent() const noexcept {
    const std::int64_t lines = desc_.order == TRITRI_ORDER_ROW ? desc_.rows : desc_.cols;
    const std::int64_t length = desc_.order == TRITRI_ORDER_ROW ? desc_.cols : desc_.rows;
    if (lines <= 0 || length <= 0) return 0;
    std::int64_t one = (lines - 1) * (desc_.ld == 0 ? length : desc_.ld) + length;
    if (desc_.storage == TRITRI_STORAGE_PACKED) {
      const std::int64_t cut = lines < length ? lines : length;
      const bool grows = (desc_.fill == TRITRI_FILL_LOWER) == (desc_.order == TRITRI_ORDER_ROW);  // line l holds l + 1 elements
      one = grows ? cut * (cut + 1) / 2 + (lines - cut) * length : cut * length - cut * (cut - 1) / 2;
    }
    return (desc_.batch_count > 1 ? (desc_.batch_count - 1) * desc_.batch_stride : 0) + one;
  }

 private:
  template <class Change>
  Layout with(Change change) const {
    Layout copy = *this;
    change(copy.desc_);
    return copy;
  }
  tritri_matrix_desc desc_ = TRITRI_MATRIX_DESC_INIT;
};

template <class T> Layout<T> full(std::int64_t rows, std::int64_t cols) { return {TRITRI_FILL_FULL, rows, cols}; }
template <class T> Layout<T> lower(std::int64_t rows, std::int64_t cols) { return {TRITRI_FILL_LOWER, rows, cols}; }
template <class T> Layout<T> upper(std::int64_t rows, std::int64_t cols) { return {TRITRI_FILL_UPPER, rows, cols}; }

// Keeps an argument out of template deduction, so that containers convert to spans.
template <class T> struct identity { using type = T; };
template <class T> using Identity = typename identity<T>::type;

// Host elements by pointer and extent; converts from anything with data() and size().
template <class T>
class Span {
 public:
  Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class Container, class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<Container &>().data()), T *>>>
  Span(Container &&container) noexcept : data_(container.data()), size_(container.size()) {}  // NOLINT: meant to convert, for one call
  T *data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  T *data_;
  std::size_t size_;
};

struct MultiplyOptions : tritri_multiply_options {
  MultiplyOptions() : tritri_multiply_options(TRITRI_MULTIPLY_OPTIONS_INIT) {}
  MultiplyOptions &ops(tritri_op a, tritri_op b) { return op_a = a, op_b = b, *this; }
  MultiplyOptions &scale(std::complex<double> alpha, std::complex<double> beta = 0) {
    alpha_re = alpha.real(), alpha_im = alpha.imag(), beta_re = beta.real(), beta_im = beta.imag();
    return *this;
  }
  MultiplyOptions &mode(tritri_compute value) { return compute = value, *this; }
  MultiplyOptions &route(tritri_algorithm value) { return algorithm = value, *this; }
};

// Owns a tritri_matrix of elements T.
template <class T>
class Matrix {
 public:
  explicit Matrix(tritri_matrix *adopted) noexcept : handle_(adopted, tritri_matrix_destroy) {}
  tritri_matrix *get() const noexcept { return handle_.get(); }
  tritri_matrix_desc desc() const {
    tritri_matrix_desc out = TRITRI_MATRIX_DESC_INIT;
    check(tritri_matrix_desc_get(get(), &out));
    return out;
  }
  T *device_data() const {
    void *data = nullptr;
    check(tritri_matrix_data(get(), &data));
    return static_cast<T *>(data);
  }

 private:
  std::unique_ptr<tritri_matrix, void (*)(tritri_matrix *)> handle_;
};

// Owns memory of tritri_host_allocate for elements T, from which and to which transfers run fastest; their values are unspecified. Goes where a span goes. It keeps
// its context's handle, whose device frees it.
template <class T>
class HostMemory {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>, "host memory holds plain elements");
  HostMemory(std::shared_ptr<tritri_context> context, std::size_t size) : size_(size), memory_(nullptr, Free{std::move(context)}) {
    if (size > SIZE_MAX / sizeof(T)) throw Error(TRITRI_OUT_OF_MEMORY, "tritri::HostMemory: size: must fit in memory, got " + std::to_string(size));
    void *allocated = nullptr;
    check(tritri_host_allocate(memory_.get_deleter().context.get(), size * sizeof(T), &allocated));
    memory_.reset(static_cast<T *>(allocated));
  }
  T *data() const noexcept { return memory_.get(); }
  std::size_t size() const noexcept { return size_; }
  T *begin() const noexcept { return data(); }
  T *end() const noexcept { return data() + size_; }
  T &operator[](std::size_t i) const noexcept { return data()[i]; }

 private:
  struct Free {
    std::shared_ptr<tritri_context> context;
    void operator()(T *memory) const noexcept { tritri_host_free(context.get(), memory); }
  };
  std::size_t size_;
  std::unique_ptr<T, Free> memory_;
};

// Owns a tritri_context. Matrices and host memory may outlive it.
class Context {
 public:
  Context(Context &&) noexcept = default;
  Context &operator=(Context &&) noexcept = default;
  explicit Context(tritri_device device = TRITRI_DEVICE_AUTO) : Context([device] {
    tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
    options.device = device;
    return options;
  }()) {}
  explicit Context(const tritri_context_options &options) {
    tritri_context *created = nullptr;
    check(tritri_context_create(&options, &created));
    handle_.reset(created, tritri_context_destroy);
  }
  tritri_context *get() const noexcept { return handle_.get(); }

  void synchronize() { check(tritri_context_synchronize(get())); }
  void set_stream(void *cuda_stream) { check(tritri_context_set_stream(get(), cuda_stream)); }
  tritri_device_info device_info() const {
    tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
    check(tritri_context_device_info(get(), &info));
    return info;
  }

  template <class T>
  HostMemory<T> host_memory(std::size_t size) {
    return HostMemory<T>(handle_, size);
  }
  template <class T>
  Matrix<T> matrix(const Layout<T> &layout) {
    return make<T>([&](tritri_matrix **out) { return tritri_matrix_create(get(), &layout.desc(), out); });
  }
  template <class T>
  Matrix<T> wrap(const Layout<T> &layout, T *device_memory) {
    return make<T>([&](tritri_matrix **out) { return tritri_matrix_wrap(get(), &layout.desc(), device_memory, out); });
  }
  template <class T>
  Matrix<T> upload(const Layout<T> &layout, Identity<Span<const T>> host) {
    need("tritri::Context::upload: host", layout, host.size());
    return make<T>([&](tritri_matrix **out) { return tritri_upload(get(), &layout.desc(), host.data(), out); });
  }
  template <class T>
  void upload_into(Matrix<T> &matrix, const Layout<T> &layout, Identity<Span<const T>> host) {
    need("tritri::Context::upload_into: host", layout, host.size());
    check(tritri_upload_into(get(), matrix.get(), &layout.desc(), host.data()));
  }
  template <class T>
  void download(const Matrix<T> &matrix, const Layout<T> &layout, Identity<Span<T>> host) {
    need("tritri::Context::download: host", layout, host.size());
    check(tritri_download(get(), matrix.get(), &layout.desc(), host.data()));
  }
  // Into tight host memory of the matrix's own order, storage and batch.
  template <class T>
  void download(const Matrix<T> &matrix, Identity<Span<T>> host) {
    const tritri_matrix_desc d = matrix.desc();
    Layout<T> layout(static_cast<tritri_fill>(d.fill), d.rows, d.cols);
    if (d.order == TRITRI_ORDER_COLUMN) layout = layout.column_major();
    if (d.storage == TRITRI_STORAGE_PACKED) layout = layout.packed();
    const std::int64_t one = d.storage == TRITRI_STORAGE_PACKED ? layout.extent() : d.rows * d.cols;
    if (d.batch_count > 1) layout = layout.batch(d.batch_count, one);
    download(matrix, layout, host);
  }

  template <class T>
  void multiply(const Matrix<T> &a, const Matrix<T> &b, Matrix<T> &c, const MultiplyOptions &options = {}) {
    check(tritri_multiply(get(), &options, a.get(), b.get(), c.get()));
  }
  template <class T>
  void multiply_host(const Layout<T> &a_layout, Identity<Span<const T>> a, const Layout<T> &b_layout, Identity<Span<const T>> b, const Layout<T> &c_layout,
                     Identity<Span<T>> c, const MultiplyOptions &options = {}) {
    need("tritri::Context::multiply_host: a", a_layout, a.size());
    need("tritri::Context::multiply_host: b", b_layout, b.size());
    need("tritri::Context::multiply_host: c", c_layout, c.size());
    check(tritri_multiply_host(get(), &options, &a_layout.desc(), a.data(), &b_layout.desc(), b.data(), &c_layout.desc(), c.data()));
  }
  template <class T>
  double verify(const Matrix<T> &a, const Matrix<T> &b, const Matrix<T> &c, const MultiplyOptions &options = {}, std::int32_t probes = 8) {
    double residual = 0;
    check(tritri_verify(get(), &options, a.get(), b.get(), c.get(), probes, &residual));
    return residual;
  }

 private:
  template <class T, class Create>
  static Matrix<T> make(Create create) {
    tritri_matrix *created = nullptr;
    check(create(&created));
    return Matrix<T>(created);
  }
  template <class T>
  static void need(const char *what, const Layout<T> &layout, std::size_t size) {
    if (layout.extent() > 0 && static_cast<std::uint64_t>(layout.extent()) > size)
      throw Error(TRITRI_INVALID_ARGUMENT, std::string(what) + ": must hold " + std::to_string(layout.extent()) + " elements, got " + std::to_string(size));
  }
  std::shared_ptr<tritri_context> handle_;  // shared with host memory only
};

}  // namespace tritri

#endif  // TRITRI_TRITRI_HPP
