// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/context.hpp"

#include "check.hpp"

#include <algorithm>
#include <vector>

namespace tessera::core {

Context::Context(Backend& backend, int device, void* native_stream, bool wrap_stream, int threads, bool high_priority)
    : backend_(backend), table_(*backend.table()), name_(backend.full_name()), device_(device), threads_(threads) {
  const tessera_backend_context_desc desc{sizeof desc, native_stream, wrap_stream, device, threads, high_priority};
  call(table_.context_create, &desc, &handle_);
}

Context::~Context() {
  if (handle_ != nullptr) table_.context_destroy(handle_);
}

void Context::settle() noexcept {
  if (!dead()) table_.synchronize(handle_, nullptr);
}

void Context::wait_for(Context& earlier) {
  const auto entry = optional(&tessera_backend::wait_for);
  if (entry == nullptr || &earlier.table_ != &table_) return earlier.synchronize();
  if (earlier.dead()) earlier.throw_dead();
  call(entry, handle_, earlier.handle_);
}

void* Context::native_stream() {
  const auto entry = optional(&tessera_backend::native_stream);
  if (entry == nullptr) throw Error(TESSERA_UNSUPPORTED, backend_.name() + " has no native stream");
  void* stream = nullptr;
  call(entry, handle_, &stream);
  return stream;
}

void Context::fail(tessera_status status, const tessera_error& error, const char* message) {
  if ((error.flags & TESSERA_ERROR_CONTEXT_DEAD) != 0) {
    const std::lock_guard lock(death_mutex_);
    // Dead first: there may be no memory for the cause.
    if (!dead_.exchange(true)) cause_of_death_ = message;
  }
  throw Error(status, message[0] == '\0' ? backend_.name() + " gave no reason" : message, error.flags);
}

void Context::throw_dead() {
  const std::lock_guard lock(death_mutex_);
  throw Error(TESSERA_DEVICE_ERROR,
              "this context of " + name_ + ":" + std::to_string(device_) +
                  " can do no more work, destroy what belongs to it; it died of: " + cause_of_death_,
              TESSERA_ERROR_CONTEXT_DEAD);
}

DeviceMemory::DeviceMemory(std::shared_ptr<Context> context, std::int64_t bytes)
    : context_(std::move(context)), bytes_(bytes) {
  at_least("bytes", bytes, 0);
  context_->call(context_->table().buffer_allocate, context_->handle(), std::uint64_t(bytes), &data_);
}

DeviceMemory::~DeviceMemory() {
  context_->settle();
  context_->table().buffer_free(context_->handle(), data_);
}

void DeviceMemory::check(std::int64_t offset, const void* host, std::int64_t bytes) const {
  if (offset < 0 || bytes < 0 || offset > bytes_ || bytes > bytes_ - offset)
    invalid("offset_bytes", std::to_string(offset) + " with bytes = " + std::to_string(bytes),
            "must lie inside the buffer of " + std::to_string(bytes_) + " bytes");
  if (host == nullptr && bytes > 0)
    invalid("host pointer", "null", "must point to " + std::to_string(bytes) + " bytes");
}

void DeviceMemory::upload(std::int64_t offset, const void* source, std::int64_t bytes) {
  check(offset, source, bytes);
  const tessera_copy copy{
      sizeof copy, TESSERA_COPY_TO_DEVICE, 1, 1, static_cast<char*>(data_) + offset, source, {bytes}, {1}, {1}};
  if (bytes > 0) context_->call(context_->table().copy, context_->handle(), &copy);
}

void DeviceMemory::download(std::int64_t offset, void* target, std::int64_t bytes) const {
  check(offset, target, bytes);
  const tessera_copy copy{
      sizeof copy, TESSERA_COPY_TO_HOST, 1, 1, target, static_cast<const char*>(data_) + offset, {bytes}, {1}, {1}};
  if (bytes > 0) context_->call(context_->table().copy, context_->handle(), &copy);
}

void DeviceMemory::repeat(std::int64_t block) {
  if (block < 1) invalid("block", block, "must be at least 1");
  check(0, data_, block);
  if (const auto entry = context_->optional(&tessera_backend::buffer_repeat); entry != nullptr && bytes_ > block) {
    context_->call(entry, context_->handle(), data_, std::uint64_t(block), std::uint64_t(bytes_));
    return;
  }
  std::vector<unsigned char> first(static_cast<std::size_t>(block));
  download(0, first.data(), block);
  for (std::int64_t at = block; at < bytes_; at += block) upload(at, first.data(), std::min(block, bytes_ - at));
}

}  // namespace tessera::core
