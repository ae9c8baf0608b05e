// A libcublasLt.so.13 of another version than its cuBLAS.
#include <cstddef>
extern "C" size_t cublasLtGetVersion() { return 130002; }
