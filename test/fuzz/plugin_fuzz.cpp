// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Plugin files and tables from arbitrary bytes. The first byte chooses: an ELF file (the rest is the file), or a table
/// whose functions answer with the rest. Where the library accepts a file or a table, what it relies on is checked
/// again.

#include "dispatch/elf_check.hpp"
#include "dispatch/examine.hpp"

#include <tessera/plugin/error.hpp>

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <stdexcept>

namespace {

using namespace tessera::core;

/// The rest of the input, eaten piece by piece; zeros and empty strings behind its end.
struct Input {
  std::span<const std::uint8_t> bytes;

  template <class T>
  T take() {
    T value{};
    const std::size_t size = std::min(sizeof value, bytes.size());
    std::memcpy(&value, bytes.data(), size);
    bytes = bytes.subspan(size);
    return value;
  }
};

Input input;
char text[4 * kMostTextLength];

/// Null, or up to the size of `text` in characters.
const char* take_text() {
  const auto length = std::min<std::size_t>(input.take<std::uint16_t>(), sizeof text - 1);
  if (length % 8 == 7) return nullptr;
  std::memset(text, 'x', length);
  std::memcpy(text, input.bytes.data(), std::min(length, input.bytes.size()));
  input.bytes = input.bytes.subspan(std::min(length, input.bytes.size()));
  text[length] = '\0';
  return text;
}

/// What a small byte says: throws something, or returns.
void may_throw() {
  switch (input.take<std::uint8_t>()) {
    case 251:
      throw 1;
    case 252:
      throw std::bad_alloc();
    case 253:
      throw std::runtime_error("thrown");
    case 254:
      throw tessera::plugin::Error(TESSERA_UNSUPPORTED, "thrown");
  }
}

tessera_status report(tessera_error* error) {
  const auto status = input.take<std::int8_t>();
  if (status != TESSERA_OK && error != nullptr) {
    // Without an end now and then: as a plugin that takes no care would.
    std::memset(error->message, input.take<std::uint8_t>(), error->message_capacity);
    error->status = status;
  }
  return status;
}

std::uint64_t few_or_many() {
  const auto count = input.take<std::uint8_t>();
  return count < 250 ? count : input.take<std::uint64_t>();
}

tessera_backend table_of_input() {
  tessera_backend t{};
  t.struct_size = input.take<std::uint8_t>() == 0 ? input.take<std::uint64_t>() : sizeof t;
  t.abi_version = input.take<std::uint8_t>() == 0 ? input.take<std::uint32_t>() : TESSERA_BACKEND_ABI_VERSION;
  t.name = input.take<std::uint8_t>() == 0 ? nullptr : "fuzz";
  t.build_info = input.take<std::uint8_t>() == 0 ? nullptr : "fuzz";
  t.available = [](tessera_error* error) { return may_throw(), report(error); };
  t.device_count = [] { return may_throw(), std::int32_t(few_or_many()); };
  t.device_info = [](std::int32_t, tessera_device_info* info, tessera_error* error) {
    may_throw();
    info->name = take_text();
    info->memory_bytes = input.take<std::uint64_t>();
    return report(error);
  };
  t.algorithm_count = [](tessera_op) { return may_throw(), few_or_many(); };
  t.algorithm_name = [](tessera_op, std::uint64_t) { return may_throw(), take_text(); };
  // Not called when a table is examined.
  t.algorithm_supports = [](tessera_op, std::uint64_t, std::int32_t, const tessera_desc*,
                            tessera_error*) -> tessera_status { __builtin_trap(); };
  t.context_destroy = [](tessera_backend_context*) { __builtin_trap(); };
  t.buffer_free = [](tessera_backend_context*, void*) { __builtin_trap(); };
  t.plan_destroy = [](tessera_backend_plan*) { __builtin_trap(); };
  const auto uncalled = [](void** function) {
    void (*const trap)() = [] { __builtin_trap(); };
    std::memcpy(function, &trap, sizeof trap);
  };
  uncalled(reinterpret_cast<void**>(&t.plan_offers));
  uncalled(reinterpret_cast<void**>(&t.context_create));
  uncalled(reinterpret_cast<void**>(&t.synchronize));
  uncalled(reinterpret_cast<void**>(&t.buffer_allocate));
  uncalled(reinterpret_cast<void**>(&t.copy));
  uncalled(reinterpret_cast<void**>(&t.plan_create));
  uncalled(reinterpret_cast<void**>(&t.plan_execute));
  if (const std::size_t hole = input.take<std::uint8_t>(); hole < 16)
    std::memset(reinterpret_cast<char*>(&t) + offsetof(tessera_backend, available) + hole * sizeof(void*), 0,
                sizeof(void*));
  return t;
}

void require(bool held) {
  if (!held) __builtin_trap();
}

void examine_table() {
  const tessera_backend table = table_of_input();
  const Examined found = examine(&table, "fuzz");
  require(found.sound || !found.reason.empty());
  require(found.reason.empty() == !found.devices.empty());
  require(found.devices.size() <= std::size_t(kMostDevices));
  for (const auto& names : found.algorithms) {
    require(names.size() <= kMostAlgorithms);
    require(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    for (const std::string& name : names) require(!name.empty() && name.size() <= kMostNameLength);
  }
  require(std::uncaught_exceptions() == 0);
}

void check_file() {
  const std::span<const std::uint8_t> file = input.bytes;
  const auto read = [&](std::uint64_t offset, void* target, std::size_t bytes) {
    require(offset <= file.size() && bytes <= file.size() - offset);  // asks for nothing behind the end
    if (bytes > 0) std::memcpy(target, file.data() + offset, bytes);
    return true;
  };
  if (!elf_problem(file.size(), read).empty()) return;
  ElfW(Ehdr) header{};
  std::memcpy(&header, file.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    std::memcpy(&segment, file.data() + header.e_phoff + std::size_t(i) * sizeof segment, sizeof segment);
    if (segment.p_type == PT_NULL) continue;
    require(segment.p_offset <= file.size() && segment.p_filesz <= file.size() - segment.p_offset);
    require(segment.p_vaddr + segment.p_memsz >= segment.p_vaddr);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input.bytes = {data, size};
  if (input.take<std::uint8_t>() % 2 == 0)
    check_file();
  else
    examine_table();
  return 0;
}
