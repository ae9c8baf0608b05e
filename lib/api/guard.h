// The one place where exceptions become statuses, and this thread's message.
#pragma once
#include <exception>
#include <new>

#include "core/error.h"

namespace tritri::api {

void remember(const char *message) noexcept;

template <class Body>
tritri_status guard(const char *function, Body &&body) noexcept {
  try {
    body();
    return TRITRI_OK;
  } catch (const Error &error) {
    remember(error.what());
    return error.status();
  } catch (const std::bad_alloc &) {
    try {
      remember(text(function, ": memory: the host allocation must succeed, got std::bad_alloc").c_str());
    } catch (...) {
      remember("memory: a host allocation failed, and so did the one for its message");
    }
    return TRITRI_OUT_OF_MEMORY;
  } catch (const std::exception &error) {
    try {
      remember(text(function, ": internal: no exception may reach the boundary, got ", error.what()).c_str());
    } catch (...) {
      remember("internal: an exception reached the boundary, and there was no memory for its message");
    }
    return TRITRI_INTERNAL_ERROR;
  }
}

template <class T>
T *need(const char *function, const char *argument, T *pointer) {
  if (!pointer) fail(TRITRI_INVALID_ARGUMENT, function, ": ", argument, ": must not be NULL, got NULL");
  return pointer;
}

}  // namespace tritri::api
