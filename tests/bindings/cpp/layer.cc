// What tritri.hpp adds to the C ABI: ownership, exceptions, extents, options, containers as spans.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.h"
#include "tritri/tritri.hpp"

namespace {

const double quiet = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> upper_values{1, 2, quiet, 3}, lower_values{4, quiet, 5, 6}, product{14, 12, 15, 18};

template <class Call>
tritri::Error failure_of(Call call) {
  try {
    call();
  } catch (const tritri::Error &error) {
    return error;
  }
  FAIL("the call was expected to throw");
  throw 0;
}

}  // namespace

TEST_CASE("the five steps, in every order of destruction") {
  for (const bool context_first : {true, false}) {
    auto context = std::make_unique<tritri::Context>(TRITRI_DEVICE_CPU);
    auto u = std::make_unique<tritri::Matrix<double>>(context->upload(tritri::upper<double>(2, 2), upper_values));
    auto l = context->upload(tritri::lower<double>(2, 2), lower_values);
    auto c = context->matrix(tritri::full<double>(2, 2));
    context->multiply(*u, l, c);
    std::vector<double> out(4, quiet);
    context->download(c, out);
    CHECK(out == product);
    CHECK(context->verify(*u, l, c) < 1e-14);
    if (context_first) context.reset();
    u.reset();
  }
}

TEST_CASE("host arrays: vectors, arrays, pointer and extent") {
  tritri::Context context(TRITRI_DEVICE_CPU);
  const std::array<double, 4> u{1, 2, quiet, 3};
  double c[4] = {quiet, quiet, quiet, quiet};
  context.multiply_host(tritri::upper<double>(2, 2), u, tritri::lower<double>(2, 2), lower_values, tritri::full<double>(2, 2), tritri::Span<double>(c, 4));
  CHECK(std::vector<double>(c, c + 4) == product);
}

TEST_CASE("options: ops, alpha, beta, mode and route reach the library") {
  tritri::Context context(TRITRI_DEVICE_CPU);
  const auto layout = tritri::upper<double>(2, 2);
  std::vector<double> c{2, 4, 6, 8};
  context.multiply_host(layout, upper_values, tritri::lower<double>(2, 2), lower_values, tritri::full<double>(2, 2), c, tritri::MultiplyOptions().scale(2, 0.5));
  CHECK(c == std::vector<double>{29, 26, 33, 40});
  context.multiply_host(layout, upper_values, layout, upper_values, tritri::full<double>(2, 2), c,
                        tritri::MultiplyOptions().ops(TRITRI_OP_NONE, TRITRI_OP_TRANSPOSE));
  CHECK(c == std::vector<double>{5, 6, 6, 9});
  CHECK(failure_of([&] {
          context.multiply_host(layout, upper_values, layout, upper_values, tritri::full<double>(2, 2), c, tritri::MultiplyOptions().route(TRITRI_ALGORITHM_CUBLAS));
        }).status() == TRITRI_NOT_SUPPORTED);
  CHECK(failure_of([&] {
          context.multiply_host(layout, upper_values, layout, upper_values, tritri::full<double>(2, 2), c, tritri::MultiplyOptions().mode(TRITRI_COMPUTE_TF32));
        }).status() == TRITRI_INVALID_ARGUMENT);
  CHECK(c == std::vector<double>{5, 6, 6, 9});
}

TEST_CASE("complex elements and options") {
  using complex = std::complex<double>;
  tritri::Context context(TRITRI_DEVICE_CPU);
  const auto one = tritri::full<complex>(1, 1);
  const std::vector<complex> a{{1, 2}}, b{{1, 1}};
  std::vector<complex> c(1);
  context.multiply_host(one, a, one, b, one, c, tritri::MultiplyOptions().ops(TRITRI_OP_NONE, TRITRI_OP_CONJ_TRANSPOSE).scale({0, 1}));
  CHECK(c[0] == complex(-1, 3));
}

TEST_CASE("a layout's extent is what the library may touch") {
  CHECK(tritri::full<float>(3, 5).extent() == 15);
  CHECK(tritri::full<float>(3, 5).leading_dimension(7).extent() == 19);
  CHECK(tritri::full<float>(3, 5).column_major().leading_dimension(7).extent() == 31);
  CHECK(tritri::lower<float>(4, 4).packed().extent() == 10);
  CHECK(tritri::lower<float>(3, 5).packed().extent() == 6);
  CHECK(tritri::lower<float>(5, 3).packed().extent() == 12);
  CHECK(tritri::upper<float>(3, 5).packed().extent() == 12);
  CHECK(tritri::upper<float>(5, 3).packed().extent() == 6);
  CHECK(tritri::lower<float>(5, 3).packed().column_major().extent() == 12);
  CHECK(tritri::upper<float>(5, 3).packed().column_major().extent() == 6);
  CHECK(tritri::full<float>(2, 2).batch(3, 10).extent() == 24);
  CHECK(tritri::full<float>(0, 7).extent() == 0);
}

TEST_CASE("short host memory is refused before the library is asked") {
  tritri::Context context(TRITRI_DEVICE_CPU);
  auto u = context.upload(tritri::upper<double>(2, 2), upper_values);
  std::vector<double> small(3, 777);
  const tritri::Error error = failure_of([&] { context.download(u, small); });
  CHECK(error.status() == TRITRI_INVALID_ARGUMENT);
  CHECK(std::string(error.what()) == "tritri::Context::download: host: must hold 4 elements, got 3");
  CHECK(small == std::vector<double>(3, 777));
  CHECK_THROWS_AS(context.upload(tritri::upper<double>(2, 2), small), tritri::Error);
  CHECK_THROWS_AS(context.upload_into(u, tritri::upper<double>(2, 2), small), tritri::Error);
}

TEST_CASE("the library's sentence and status arrive") {
  tritri::Context context(TRITRI_DEVICE_CPU);
  const tritri::Error error = failure_of([&] { context.matrix(tritri::full<float>(-3, 2)); });
  CHECK(error.status() == TRITRI_INVALID_ARGUMENT);
  CHECK(std::string(error.what()) == "tritri_matrix_create: desc: rows must be at least 0, got -3");
}

TEST_CASE("wrapped memory, packed and batched, refilled and read back") {
  tritri::Context context(TRITRI_DEVICE_CPU);
  const auto packed = tritri::lower<float>(2, 2).packed().batch(2, 3);
  std::vector<float> memory{1, 2, 3, 4, 5, 6}, out(6);
  auto matrix = context.wrap(packed, memory.data());
  CHECK(matrix.device_data() == memory.data());
  CHECK(matrix.desc().batch_count == 2);
  context.download(matrix, out);
  CHECK(out == memory);
  context.upload_into(matrix, packed, std::vector<float>{6, 5, 4, 3, 2, 1});
  CHECK(memory == std::vector<float>{6, 5, 4, 3, 2, 1});
}

TEST_CASE("a context tells its device and takes no stream on the CPU") {
  tritri::Context context(TRITRI_DEVICE_CPU);
  CHECK(context.device_info().kind == TRITRI_DEVICE_CPU);
  int not_a_stream = 0;
  CHECK(failure_of([&] { context.set_stream(&not_a_stream); }).status() == TRITRI_INVALID_ARGUMENT);
  context.set_stream(nullptr);
  context.synchronize();
}

TEST_CASE("memory of the library's own goes where a span goes and may outlive its context") {
  auto early = std::make_unique<tritri::Context>(TRITRI_DEVICE_CPU);
  auto host = early->host_memory<double>(4);
  early.reset();
  REQUIRE(host.size() == 4);
  std::copy(upper_values.begin(), upper_values.end(), host.begin());
  tritri::Context context(TRITRI_DEVICE_CPU);
  const auto layout = tritri::upper<double>(2, 2);
  auto u = context.upload(layout, host);
  auto moved = std::move(host);
  moved[0] = 0;
  context.download(u, moved);
  CHECK(moved[0] == upper_values[0]);
  context.multiply_host(layout, moved, layout, moved, layout, moved);
  CHECK(moved[0] == upper_values[0] * upper_values[0]);
  CHECK(context.host_memory<float>(0).size() == 0);
  CHECK(failure_of([&] { context.host_memory<double>(SIZE_MAX / 4); }).status() == TRITRI_OUT_OF_MEMORY);
  CHECK(failure_of([&] { context.host_memory<char>(SIZE_MAX / 2); }).status() == TRITRI_OUT_OF_MEMORY);
}

static_assert(!std::is_copy_constructible_v<tritri::Context> && std::is_nothrow_move_constructible_v<tritri::Context>, "one owner");
