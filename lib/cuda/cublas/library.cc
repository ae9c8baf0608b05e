#include "cuda/cublas/library.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <vector>

#include "core/error.h"

namespace tritri::cuda {
namespace {

const int majors[] = {13, 12};

std::string version_text(int version) { return text(version / 10000, ".", version / 100 % 100, ".", version % 100); }

std::string folder_of(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

bool is_file(const std::string &path) {
  struct stat entry;
  return stat(path.c_str(), &entry) == 0 && S_ISREG(entry.st_mode);
}

std::string file_of(void *symbol) {
  Dl_info info;
  return dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : "an unnamed file";
}

// The loader's message, without the parts that repeat the file's name.
std::string loader_error() {
  const char *message = dlerror();
  return message ? message : "no message";
}

template <class F>
bool find(void *handle, const char *name, F *function) {
  *function = reinterpret_cast<F>(dlsym(handle, name));
  return *function != nullptr;
}

// Reads the functions out of a loaded libcublas; says in `report` why it is not good enough.
bool bind(void *handle, int major, CublasLibrary *library, std::string *why) {
  CublasLibrary l;
  decltype(&cublasGetProperty) property = nullptr;
  const bool complete = find(handle, "cublasGetProperty", &property) && find(handle, "cublasCreate_v2", &l.create) && find(handle, "cublasDestroy_v2", &l.destroy) &&
                        find(handle, "cublasSetStream_v2", &l.set_stream) && find(handle, "cublasSetWorkspace_v2", &l.set_workspace) &&
                        find(handle, "cublasSetMathMode", &l.set_math_mode) && find(handle, "cublasGetStatusString", &l.status_string) &&
                        find(handle, "cublasGemmEx_64", &l.gemm) && find(handle, "cublasGemmStridedBatchedEx_64", &l.gemm_batched) &&
                        find(handle, "cublasStrmm_v2_64", &l.strmm) && find(handle, "cublasDtrmm_v2_64", &l.dtrmm) &&
                        find(handle, "cublasCtrmm_v2_64", &l.ctrmm) && find(handle, "cublasZtrmm_v2_64", &l.ztrmm);
  if (!complete) {
    *why = "lacks a function that tritri needs";
    return false;
  }
  int parts[3] = {0, 0, 0};
  property(MAJOR_VERSION, &parts[0]);
  property(MINOR_VERSION, &parts[1]);
  property(PATCH_LEVEL, &parts[2]);
  l.version = parts[0] * 10000 + parts[1] * 100 + parts[2];
  l.path = file_of(reinterpret_cast<void *>(l.create));
  // cuBLAS does its work in cublasLt, which the loader finds separately: another version there fails in odd ways later.
  if (void *light = dlopen(text("libcublasLt.so.", major).c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
    size_t (*light_version)() = nullptr;
    if (find(light, "cublasLtGetVersion", &light_version) && static_cast<int>(light_version()) != l.version) {
      *why = text("is cuBLAS ", version_text(l.version), " but would work with cublasLt ", version_text(static_cast<int>(light_version())), " (",
                  file_of(reinterpret_cast<void *>(light_version)), "); the two must be of one version");
      dlclose(light);
      return false;
    }
    dlclose(light);
  }
  l.report = text("cuBLAS ", version_text(l.version), " from ", l.path);
  *library = l;
  return true;
}

class Search {
 public:
  explicit Search(CublasLibrary *library) : library_(library) {}

  // `file` as dlopen takes it; its cublasLt is loaded first where it lies in the same folder, so that the two belong together.
  bool open(const std::string &file, int major, int flags = 0) {
    if (file.find('/') != std::string::npos) {
      const std::string light = text(folder_of(file), "/libcublasLt.so.", major);
      if (is_file(light)) dlopen(light.c_str(), RTLD_LAZY | RTLD_LOCAL);
    }
    void *handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL | flags);
    if (!handle) {
      if (!(flags & RTLD_NOLOAD)) note(file, loader_error());
      return false;
    }
    std::string why;
    if (bind(handle, major, library_, &why)) return true;  // the handle is kept for the life of the process
    note(file_of(dlsym(handle, "cublasCreate_v2")), why);
    dlclose(handle);
    return false;
  }

  bool open_in(const std::string &folder, bool must_exist) {
    for (const int major : majors) {
      const std::string file = text(folder, "/libcublas.so.", major);
      if (is_file(file)) {
        if (open(file, major)) return true;
      } else if (must_exist) {
        note(file, "no such file");
      }
    }
    return false;
  }

  const std::string &tried() const { return tried_; }

 private:
  void note(const std::string &file, const std::string &why) {
    // The loader often begins with the file's own name.
    const bool repeats = why.rfind(file + ": ", 0) == 0;
    tried_ += text(tried_.empty() ? "" : "; ", file, ": ", repeats ? why.substr(file.size() + 2) : why);
  }

  CublasLibrary *library_;
  std::string tried_;
};

bool search(Search &search) {
  if (const char *wish = std::getenv("TRITRI_CUBLAS"); wish && *wish) {
    if (!is_file(wish)) return search.open_in(wish, true);  // asked for this one: no other will do
    const std::string file(wish);
    return search.open(file, file.find(".so.12") != std::string::npos ? 12 : 13);
  }
  for (const int major : majors)
    if (search.open(text("libcublas.so.", major), major, RTLD_NOLOAD)) return true;
  for (const int major : majors)
    if (search.open(text("libcublas.so.", major), major)) return true;
  // <site-packages>/tritri/.../libtritri.so has its neighbours at <site-packages>/nvidia.
  std::string folder = folder_of(file_of(reinterpret_cast<void *>(&cublas_library)));
  for (int up = 0; up < 4 && folder != "." && !folder.empty(); ++up, folder = folder_of(folder)) {
    for (const char *package : {"/nvidia/cu13/lib", "/nvidia/cublas/lib"})
      if (search.open_in(folder + package, false)) return true;
  }
  for (const char *toolkit : {"/usr/local/cuda/lib64", "/opt/cuda/lib64"})
    if (search.open_in(toolkit, false)) return true;
  return false;
}

}  // namespace

const CublasLibrary &cublas_library() {
  static const CublasLibrary library = [] {
    CublasLibrary found;
    Search lookup(&found);
    if (!search(lookup)) {
      found = CublasLibrary();
      found.report = text("no cuBLAS, tried ", lookup.tried(), "; TRITRI_CUBLAS may name the file or its folder");
    }
    return found;
  }();
  return library;
}

}  // namespace tritri::cuda
