// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The backend with the emulated device once more, whose functions fail when the program says so.

#define tessera_backend_v1 tessera_sound_backend_v1
#include "../plugins/fake.cpp"
#undef tessera_backend_v1

#include <tuple>

/// The program's (system.cpp). Weak, since a plugin must not need anything else.
extern "C" __attribute__((weak)) bool tessera_test_device_fails();

namespace {

tessera_status failed(tessera_error* error, tessera_status status) {
  return report(error, status, "the emulated device was told to fail");
}

bool told_to_fail() { return tessera_test_device_fails != nullptr && tessera_test_device_fails(); }

/// Stands for the function `member` of the table, whose last argument is the error.
template <auto member, tessera_status status>
struct Failing;
template <class... Arguments, tessera_status (*tessera_backend::*member)(Arguments...), tessera_status status>
struct Failing<member, status> {
  static tessera_status call(Arguments... arguments) {
    if (told_to_fail()) return failed(std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...)), status);
    return (tessera_sound_backend_v1()->*member)(arguments...);
  }
};

template <auto member, tessera_status status>
void replace(tessera_backend& table) {
  table.*member = Failing<member, status>::call;
}

/// The failure of queued work is told when the work is over.
tessera_status synchronize(tessera_backend_context* context, tessera_error* error) {
  const tessera_status status = tessera_sound_backend_v1()->synchronize(context, error);
  return told_to_fail() ? failed(error, TESSERA_DEVICE_ERROR) : status;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const tessera_backend* tessera_backend_v1(void) {
  static const tessera_backend table = [] {
    tessera_backend t = *tessera_sound_backend_v1();
    replace<&tessera_backend::algorithm_supports, TESSERA_OUT_OF_MEMORY>(t);
    replace<&tessera_backend::plan_offers, TESSERA_OUT_OF_MEMORY>(t);
    replace<&tessera_backend::context_create, TESSERA_DEVICE_ERROR>(t);
    t.synchronize = synchronize;
    replace<&tessera_backend::buffer_allocate, TESSERA_OUT_OF_MEMORY>(t);
    replace<&tessera_backend::copy, TESSERA_DEVICE_ERROR>(t);
    replace<&tessera_backend::plan_create, TESSERA_OUT_OF_MEMORY>(t);
    replace<&tessera_backend::plan_execute, TESSERA_DEVICE_ERROR>(t);
    replace<&tessera_backend::native_stream, TESSERA_DEVICE_ERROR>(t);
    return t;
  }();
  return &table;
}
