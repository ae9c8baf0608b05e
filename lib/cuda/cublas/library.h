// cuBLAS, looked up at run time: never linked, so that the library loads where there is none.
#pragma once
#include <cublas_v2.h>

#include <string>

namespace tritri::cuda {

struct CublasLibrary {
  int version = 0;     // as CUDA counts, such as 130100; 0: not found, and every pointer below is null
  std::string path;    // the file it came from
  std::string report;  // one sentence: what was found, or everything that was tried

  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  decltype(&cublasGetStatusString) status_string = nullptr;
  decltype(&cublasGemmEx_64) gemm = nullptr;
  decltype(&cublasGemmStridedBatchedEx_64) gemm_batched = nullptr;
  decltype(&cublasStrmm_v2_64) strmm = nullptr;
  decltype(&cublasDtrmm_v2_64) dtrmm = nullptr;
  decltype(&cublasCtrmm_v2_64) ctrmm = nullptr;
  decltype(&cublasZtrmm_v2_64) ztrmm = nullptr;
};

// Looked for once per process: TRITRI_CUBLAS (a file or folder), a cuBLAS that the process has loaded already, the loader's own search
// (LD_LIBRARY_PATH, ldconfig), the pip packages beside this library, the toolkit's folder; version 13 before 12. It stays loaded.
const CublasLibrary &cublas_library();

}  // namespace tritri::cuda
