#include "cuda/runtime/warm_up.h"

#include <cstdlib>
#include <iterator>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "cuda/cublas/route.h"
#include "cuda/heuristics.h"
#include "cuda/kernels/kernel.h"
#include "cuda/kernels/table.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/resource.h"

namespace tritri::cuda {
namespace {

constexpr size_t operand_align = 256;
constexpr size_t helper_bytes = size_t{128} << 20;  // enough for every product below, with what cuBLAS wants for itself

struct Type { Dtype dtype; int32_t compute; };
// What takes cuBLAS longest comes first.
constexpr Type types[] = {{Dtype::f16, TRITRI_COMPUTE_DEFAULT}, {Dtype::bf16, TRITRI_COMPUTE_DEFAULT}, {Dtype::f32, TRITRI_COMPUTE_DEFAULT}, {Dtype::c128, TRITRI_COMPUTE_DEFAULT},
                          {Dtype::f64, TRITRI_COMPUTE_DEFAULT}, {Dtype::f32, TRITRI_COMPUTE_TF32}, {Dtype::c64, TRITRI_COMPUTE_DEFAULT}, {Dtype::f32, TRITRI_COMPUTE_PEDANTIC}};

struct Shape { int64_t edge, k, batch; };
struct Fills { Fill a, b, c; };

// The operands stand at the end of `memory`, as zeros and out of the product's way; false where they do not fit. `room`: what is left.
bool place(Problem *p, Type type, Shape shape, Fills fills, void *memory, size_t bytes, size_t *room, cudaStream_t stream) {
  *room = bytes / operand_align * operand_align;
  p->dtype = type.dtype;
  p->compute = type.compute;
  p->m = p->n = shape.edge;
  p->k = shape.k;
  p->batch = shape.batch;
  const auto one = [&](View &x, int64_t rows, int64_t cols, Fill fill) {
    x.rows = rows;
    x.cols = x.ld = cols;
    x.batch_stride = shape.batch > 1 ? rows * cols : 0;
    x.fill = fill;
    const size_t size = static_cast<size_t>(rows * cols * shape.batch * element_bytes(type.dtype));
    if (size > *room) return false;
    *room -= size;
    x.data = static_cast<char *>(memory) + *room;
    TRITRI_CUDA_CHECK(cudaMemsetAsync(const_cast<void *>(x.data), 0, size, stream));
    return true;
  };
  return one(p->a, p->m, p->k, fills.a) && one(p->b, p->k, p->n, fills.b) && one(p->c, p->m, p->n, fills.c);
}

constexpr CublasForm forms[] = {CublasForm::masked, CublasForm::blocked, CublasForm::trmm, CublasForm::gemm};

}  // namespace

bool wants_warm_up() {
  const char *wish = std::getenv("TRITRI_WARM_UP");
  return !wish || std::string_view(wish) != "0";
}

void launch_every_kernel(const GpuTraits &traits, void *memory, size_t bytes, cudaStream_t stream) {
  GpuTraits without_cublas = traits;
  without_cublas.cublas_version = 0;
  for (const Type &type : types)
    for (const Shape &shape : {Shape{32, 32, 64}, Shape{128, 128, 1}, Shape{256, 256, 1}, Shape{512, 512, 1}, Shape{1024, 1024, 1}, Shape{2048, 64, 1}})  // the last one: many tiles
      for (const Fills &fills : {Fills{Fill::lower, Fill::lower, Fill::full}, Fills{Fill::lower, Fill::full, Fill::full}, Fills{Fill::lower, Fill::lower, Fill::lower}}) {
        Problem p;
        size_t room;
        if (!place(&p, type, shape, fills, memory, bytes, &room, stream)) continue;
        for (const Choice &choice : every_choice(p, without_cublas, room))
          if (choice.workspace() <= room) kernels()[static_cast<size_t>(choice.plan.kernel)]->launch(p, choice.plan, memory, traits, stream);
      }
}

CublasWarmUp::CublasWarmUp(int device, const GpuTraits &traits, int threads) : device_(device), traits_(traits) {
  for (int i = 0; i < threads; ++i) {
    try {
      helpers_.push_back(std::async(std::launch::async, [this] { help(); }));
    } catch (const std::system_error &) {
      return;
    }
  }
}

void CublasWarmUp::finish(Cublas &blas, void *memory, size_t bytes, cudaStream_t stream) {
  work(blas, memory, bytes, stream);
  for (std::future<void> &helper : helpers_) helper.get();
}

void CublasWarmUp::help() {
  try {
    TRITRI_CUDA_CHECK(cudaSetDevice(device_));
    const DeviceMemory memory = allocate_device(helper_bytes);
    const Stream stream = make_stream();
    Cublas blas;
    work(blas, memory.get(), helper_bytes, stream.get());
    TRITRI_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  } catch (const Error &error) {
    if (error.status() != TRITRI_OUT_OF_MEMORY) throw;
  }
}

void CublasWarmUp::work(Cublas &blas, void *memory, size_t bytes, cudaStream_t stream) {
  constexpr int jobs = static_cast<int>(std::size(forms) * std::size(types));
  for (int job; (job = next_++) < jobs;) {
    const Type type = types[static_cast<size_t>(job) % std::size(types)];
    const CublasForm form = forms[static_cast<size_t>(job) / std::size(types)];
    for (const Shape &shape : {Shape{32, 32, 64}, Shape{512, 512, 1}, Shape{1024, 1024, 1}})
      for (const Fills &fills : {Fills{Fill::lower, Fill::lower, Fill::full}, Fills{Fill::lower, Fill::full, Fill::full}, Fills{Fill::full, Fill::full, Fill::full}}) {
        Problem p;
        size_t room;
        if (!place(&p, type, shape, fills, memory, bytes, &room, stream)) continue;
        for (const CublasPlan &plan : cublas_candidates(p, traits_, room))
          if (plan.form == form && plan.bytes <= room) run_cublas(blas, p, plan, memory, stream);
      }
  }
}

}  // namespace tritri::cuda
