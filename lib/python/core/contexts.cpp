// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "contexts.hpp"

#include "arguments.hpp"

#include <list>
#include <mutex>

namespace tessera::python {
namespace {

struct Kept {
  std::string backend;
  std::optional<void*> stream;
  std::shared_ptr<Context> context;
};

/// The same context for the same backend and stream, of the 32 that were used last.
std::shared_ptr<Context> kept_context(const std::string& backend, std::optional<void*> stream) {
  constexpr std::size_t kMost = 32;
  static std::list<Kept>* const kept = new std::list<Kept>;  // lives on: a plugin may be gone at the end of a process
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (auto it = kept->begin(); it != kept->end(); ++it)
    if (it->backend == backend && it->stream == stream) {
      kept->splice(kept->begin(), *kept, it);
      return kept->front().context;
    }
  ContextOptions options;
  options.native_stream = stream;
  const auto made = backend.empty() ? std::make_shared<Context>(options) : std::make_shared<Context>(backend, options);
  kept->push_front({backend, stream, made});
  if (kept->size() > kMost) kept->pop_back();
  return made;
}

std::string backend_text(nb::handle backend) {
  if (backend.is_none()) return {};
  return text_argument(backend, "backend");
}

std::string memory_text(const Array& array) {
  return array.on_device() ? "memory of cuda:" + std::to_string(array.device) : "the host's memory";
}

}  // namespace

Place place_of(const Array& array, nb::handle backend, nb::handle stream) {
  std::string name = backend_text(backend);
  if (!array.on_device()) {
    if (!stream.is_none()) refuse_value("stream", stream, "None: the arrays are in the host's memory");
    return {name.empty() ? nullptr : kept_context(name, {}), Memory::host};
  }
  const std::string device = std::to_string(array.device);
  if (name.empty() || name == "auto") name = "cuda";
  if (name.find("cuda") == std::string::npos)
    throw nb::value_error(("backend = '" + name + "': the arrays are in memory of cuda:" + device +
                           ", which it does not reach; must be left out, or the arrays copied to the host")
                              .c_str());
  if (name.find(':') == std::string::npos) name += ":" + device;
  return {kept_context(name, stream.is_none() ? current_stream(array) : stream_of(stream)), Memory::device};
}

Place place_named(nb::handle backend, nb::handle stream, bool on_device) {
  const std::string name = backend_text(backend);
  if (!stream.is_none() && !on_device) refuse_value("stream", stream, "None unless memory = 'device'");
  if (name.empty() && !on_device) return {nullptr, Memory::host};
  const std::optional<void*> native = stream.is_none() ? std::optional<void*>() : stream_of(stream);
  return {kept_context(name, native), on_device ? Memory::device : Memory::host};
}

Place place_on_stream(const std::string& device, void* stream) {
  return {kept_context(device, stream), Memory::device};
}

void require_same_memory(const Array& a, const char* name_a, const Array& b, const char* name_b) {
  if (a.device == b.device) return;
  throw nb::value_error((std::string(name_b) + " is in " + memory_text(b) + ", " + name_a + " in " + memory_text(a) +
                         ": all arrays of a call must be in one")
                            .c_str());
}

}  // namespace tessera::python
