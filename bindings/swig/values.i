// Shared by the typemaps of Java and C#: structs cross as arrays of 64-bit integers, so that no native object has to be freed and one
// call moves a whole struct. The fields stand in the header's order without struct_size, doubles as their bits:
//   tritri_matrix_desc       dtype fill diag order storage rows cols ld batch_count batch_stride
//   tritri_multiply_options  op_a op_b alpha_re alpha_im beta_re beta_im compute algorithm
//   tritri_context_options   device device_index stream threads workspace_bytes
//   tritri_device_info       kind index memory_total memory_free compute_major compute_minor multiprocessors driver_version
//                            runtime_version blas_version, then the bytes of name and of details

%{
#include <string.h>

namespace {

constexpr int desc_values = 10, multiply_values = 8, context_values = 5, info_numbers = 10;
constexpr int info_values = info_numbers + (sizeof(tritri_device_info::name) + sizeof(tritri_device_info::details)) / sizeof(int64_t);

double from_bits(int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void from_values(const int64_t *v, tritri_matrix_desc &desc) {
  desc = TRITRI_MATRIX_DESC_INIT;
  desc.dtype = static_cast<int32_t>(v[0]);
  desc.fill = static_cast<int32_t>(v[1]);
  desc.diag = static_cast<int32_t>(v[2]);
  desc.order = static_cast<int32_t>(v[3]);
  desc.storage = static_cast<int32_t>(v[4]);
  desc.rows = v[5];
  desc.cols = v[6];
  desc.ld = v[7];
  desc.batch_count = v[8];
  desc.batch_stride = v[9];
}

void to_values(const tritri_matrix_desc &desc, int64_t *v) {
  const int64_t fields[desc_values] = {desc.dtype, desc.fill, desc.diag, desc.order, desc.storage, desc.rows, desc.cols, desc.ld, desc.batch_count,
                                       desc.batch_stride};
  memcpy(v, fields, sizeof fields);
}

void from_values(const int64_t *v, tritri_multiply_options &options) {
  options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.op_a = static_cast<int32_t>(v[0]);
  options.op_b = static_cast<int32_t>(v[1]);
  options.alpha_re = from_bits(v[2]);
  options.alpha_im = from_bits(v[3]);
  options.beta_re = from_bits(v[4]);
  options.beta_im = from_bits(v[5]);
  options.compute = static_cast<int32_t>(v[6]);
  options.algorithm = static_cast<int32_t>(v[7]);
}

void from_values(const int64_t *v, tritri_context_options &options) {
  options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = static_cast<int32_t>(v[0]);
  options.device_index = static_cast<int32_t>(v[1]);
  options.stream = reinterpret_cast<void *>(static_cast<intptr_t>(v[2]));
  options.threads = static_cast<int32_t>(v[3]);
  options.workspace_bytes = static_cast<size_t>(v[4]);
}

void to_values(const tritri_device_info &info, int64_t *v) {
  const int64_t numbers[info_numbers] = {info.kind, info.index, info.memory_total, info.memory_free, info.compute_major, info.compute_minor,
                                         info.multiprocessors, info.driver_version, info.runtime_version, info.blas_version};
  memcpy(v, numbers, sizeof numbers);
  memcpy(v + info_numbers, info.name, sizeof info.name);
  memcpy(reinterpret_cast<char *>(v + info_numbers) + sizeof info.name, info.details, sizeof info.details);
}

}  // namespace
%}
