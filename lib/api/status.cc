#include <cstdio>

#include "api/guard.h"

namespace {
// A plain array: no allocation, no destructor at thread exit.
thread_local char last_message[1024] = "";
}  // namespace

namespace tritri::api {
void remember(const char *first, const char *second, const char *third) noexcept {
  std::snprintf(last_message, sizeof last_message, "%s%s%s", first, second, third);
}
}  // namespace tritri::api

extern "C" {

const char *tritri_last_error(void) { return last_message; }

const char *tritri_status_name(tritri_status status) {
  switch (static_cast<int>(status)) {
    case TRITRI_OK: return "TRITRI_OK";
    case TRITRI_INVALID_ARGUMENT: return "TRITRI_INVALID_ARGUMENT";
    case TRITRI_OUT_OF_MEMORY: return "TRITRI_OUT_OF_MEMORY";
    case TRITRI_NO_DEVICE: return "TRITRI_NO_DEVICE";
    case TRITRI_NOT_SUPPORTED: return "TRITRI_NOT_SUPPORTED";
    case TRITRI_DEVICE_ERROR: return "TRITRI_DEVICE_ERROR";
    case TRITRI_INTERNAL_ERROR: return "TRITRI_INTERNAL_ERROR";
  }
  return "TRITRI_UNKNOWN_STATUS";
}

int32_t tritri_version(void) { return TRITRI_VERSION; }

#define TRITRI_TEXT_OF(x) #x
#define TRITRI_TEXT(x) TRITRI_TEXT_OF(x)
const char *tritri_version_string(void) {
  return TRITRI_TEXT(TRITRI_VERSION_MAJOR) "." TRITRI_TEXT(TRITRI_VERSION_MINOR) "." TRITRI_TEXT(TRITRI_VERSION_PATCH);
}

}  // extern "C"
