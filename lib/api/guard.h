// The one place where exceptions become statuses, and this thread's message.
#pragma once
#include <exception>
#include <new>

#include "core/error.h"

namespace tritri::api {

// The message is the three texts in a row. Allocates nothing, since it may be about memory.
void remember(const char *first, const char *second = "", const char *third = "") noexcept;

template <class Body>
tritri_status guard(const char *function, Body &&body) noexcept {
  try {
    body();
    return TRITRI_OK;
  } catch (const Error &error) {
    remember(*error.what() == ':' ? function : "", error.what());  // fail_below
    return error.status();
  } catch (const std::bad_alloc &) {
    remember(function, ": memory: the host allocation must succeed, got std::bad_alloc");
    return TRITRI_OUT_OF_MEMORY;
  } catch (const std::exception &error) {
    remember(function, ": internal: no exception may reach the boundary, got ", error.what());
    return TRITRI_INTERNAL_ERROR;
  }
}

template <class T>
T *need(const char *function, const char *argument, T *pointer) {
  if (!pointer) fail(TRITRI_INVALID_ARGUMENT, function, ": ", argument, ": must not be NULL, got NULL");
  return pointer;
}

}  // namespace tritri::api
