// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "runner.hpp"

#include <sstream>

namespace tessera::test {

template <class T>
DeviceArray<T>::DeviceArray(Context& context, const GuardedArray<T>& array, std::int64_t shift)
    : first_(kZone + shift), buffer_(context, array.size() + 2 * kZone + shift) {
  std::vector<T> all(std::size_t(buffer_.size()));
  std::memset(all.data(), 0xff, all.size() * sizeof(T));
  zones_before_ = all;
  if (array.size() > 0) std::memcpy(all.data() + first_, array.data(), std::size_t(array.size()) * sizeof(T));
  buffer_.upload(all);
}

template <class T>
bool DeviceArray<T>::download(GuardedArray<T>& array) const {
  std::vector<T> all(std::size_t(buffer_.size()));
  buffer_.download(all);
  if (array.size() > 0) {
    std::memcpy(array.data(), all.data() + first_, std::size_t(array.size()) * sizeof(T));
    std::memset(all.data() + first_, 0xff, std::size_t(array.size()) * sizeof(T));
  }
  return std::memcmp(all.data(), zones_before_.data(), all.size() * sizeof(T)) == 0;
}

std::string what_runs(const std::string& name, const Plan& plan) {
  return "case " + name + ", " + plan.describe() + ", repeat with TESSERA_TEST_SEED=" + std::to_string(seed());
}

template <class T>
std::string disagreement(T computed, Wide<T> value, Wide<T> bound) {
  std::ostringstream text;
  text.precision(21);
  text << "computed " << wide(computed) << ", expected " << value << " +- " << bound;
  return text.str();
}

template class DeviceArray<float>;
template class DeviceArray<double>;
template class DeviceArray<float16>;
template class DeviceArray<bfloat16>;
template std::string disagreement<float>(float, Wide<float>, Wide<float>);
template std::string disagreement<double>(double, Wide<double>, Wide<double>);
template std::string disagreement<float16>(float16, Wide<float16>, Wide<float16>);
template std::string disagreement<bfloat16>(bfloat16, Wide<bfloat16>, Wide<bfloat16>);

}  // namespace tessera::test
