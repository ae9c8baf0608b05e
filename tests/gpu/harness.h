// A list of named tests, each a function that throws to fail and Skip to be skipped. Prints one line per test and "N passed, N failed" last.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/api.h"

namespace gpu {

struct Skip : std::runtime_error { using std::runtime_error::runtime_error; };

struct Test {
  const char *name;
  std::function<void()> body;
};

inline void expect(bool holds, const std::string &what) {
  if (!holds) throw std::runtime_error(what);
}

inline void cuda(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA in the test itself: ") + cudaGetErrorString(error));
}

// Device memory of the test's own.
class Memory {
 public:
  explicit Memory(size_t bytes) { cuda(cudaMalloc(&data_, bytes)); }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  void *get() const { return data_; }

 private:
  void *data_ = nullptr;
};

class Stream {
 public:
  Stream() { cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

tritri_matrix_desc describe(int64_t rows, int64_t cols, int32_t fill, int32_t dtype = TRITRI_FLOAT32);
support::Context make_context(void *stream = nullptr, size_t workspace_bytes = 0);

// n x n float32 with small integers inside the fill (so that products are exact) and NaN outside, tight rows.
std::vector<float> integers(int64_t n, int32_t fill, unsigned seed);
// A B for such matrices, full, by three loops over what exists.
std::vector<float> product(int64_t n, const std::vector<float> &a, int32_t a_fill, const std::vector<float> &b, int32_t b_fill);
std::vector<float> download(tritri_context *context, tritri_matrix *matrix, int64_t elements);
void expect_equal(const std::vector<float> &got, const std::vector<float> &want, const std::string &what);

// Runs this executable again with `--only name` and gives its exit code, so that a test can be a process's first act or its last.
int run_alone(const std::string &name, const std::string &environment = "");

// `alone`: tests that only run_alone() starts.
int run(int argc, char **argv, const std::vector<Test> &tests, const std::vector<Test> &alone = {});

}  // namespace gpu
