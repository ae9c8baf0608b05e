// A libcublas.so.13 that has the names and nothing else: it says that it is version 13.1.0.
extern "C" {
int cublasGetProperty(int which, int *value) {
  *value = which == 0 ? 13 : which == 1 ? 1 : 0;
  return 0;
}
#define NAME(function) \
  int function() { return 1; }
NAME(cublasCreate_v2) NAME(cublasDestroy_v2) NAME(cublasSetStream_v2) NAME(cublasSetWorkspace_v2) NAME(cublasSetMathMode) NAME(cublasGetStatusString)
NAME(cublasGemmEx_64) NAME(cublasGemmStridedBatchedEx_64) NAME(cublasStrmm_v2_64) NAME(cublasDtrmm_v2_64) NAME(cublasCtrmm_v2_64) NAME(cublasZtrmm_v2_64)
}
