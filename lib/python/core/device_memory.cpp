// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "device_memory.hpp"

#include <memory>
#include <vector>

namespace tessera::python {
namespace {

/// What a capsule holds until its consumer deletes it.
struct Exported {
  dlpack::Managed managed;
  std::vector<std::int64_t> shape;
  std::shared_ptr<Context> context;
  std::shared_ptr<Buffer<double>> buffer;
};

std::int64_t doubles(std::span<const std::int64_t> shape, DType dtype) {
  std::int64_t bytes = std::int64_t(size_of(dtype));
  for (const std::int64_t extent : shape) bytes *= extent;
  return (bytes + std::int64_t(sizeof(double)) - 1) / std::int64_t(sizeof(double));
}

}  // namespace

DeviceMemory::DeviceMemory(std::shared_ptr<Context> context, std::span<const std::int64_t> shape, DType dtype,
                           int device)
    : context_(std::move(context)),
      buffer_(std::make_shared<Buffer<double>>(*context_, doubles(shape, dtype))),
      shape_(shape.begin(), shape.end()),
      dtype_(dtype),
      device_(device) {}

nb::capsule DeviceMemory::capsule() const {
  auto exported = std::make_unique<Exported>(Exported{{}, shape_, context_, buffer_});
  exported->managed = {{buffer_->data(),
                        {dlpack::kCuda, device_},
                        int(shape_.size()),
                        dlpack_type(dtype_),
                        exported->shape.data(),
                        nullptr,
                        0},
                       exported.get(),
                       [](dlpack::Managed* self) { delete static_cast<Exported*>(self->manager); }};
  const auto forget = [](PyObject* capsule) {  // one that nobody took
    if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;
    auto* const managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"));
    managed->deleter(managed);
  };
  PyObject* const made = PyCapsule_New(&exported->managed, "dltensor", forget);
  if (made == nullptr) throw nb::python_error();
  exported.release();
  return nb::steal<nb::capsule>(made);
}

void define_device_memory(nb::module_& module) {
  nb::class_<DeviceMemory>(module, "_DeviceMemory", "Memory of a device that a consumer of DLPack may take.")
      .def("__dlpack__", [](const DeviceMemory& self, nb::kwargs) { return self.capsule(); })
      .def("__dlpack_device__", &DeviceMemory::device);
}

}  // namespace tessera::python
