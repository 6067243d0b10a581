// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// No algorithm of a processor touches what lies beside its arrays: they end, or begin, where memory may not be read.
/// Who does ends the program by a signal, which stop.hpp reports with the plan.

#include "runner.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace tessera::test {
namespace {

/// Elements between two pages that may not be touched, as close as can be to the one behind or the one before.
template <class T>
class Fenced {
 public:
  Fenced(std::int64_t count, bool at_end) {
    const auto page = std::size_t(sysconf(_SC_PAGESIZE)), bytes = std::size_t(count) * sizeof(T);
    const std::size_t inside = (bytes + page - 1) / page * page;
    size_ = inside + 2 * page;
    pages_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (pages_ == MAP_FAILED || mprotect(pages_ + page, inside, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("no memory between fences");
    data_ = reinterpret_cast<T*>(pages_ + page + (at_end ? inside - bytes : 0));
  }
  ~Fenced() { munmap(pages_, size_); }
  Fenced(const Fenced&) = delete;
  T* data() const { return data_; }

 private:
  std::byte* pages_;
  std::size_t size_;
  T* data_;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("nothing beside the arrays is touched", "[fence]", ElementTypes) {
  Subject subject;
  const std::string backend = subject.context().backend();
  if (!backend.starts_with("cpu") && !backend.starts_with("kokkos-openmp"))
    SKIP("memory of a device has no such fences");
  const auto each = [&](const StencilDesc& desc, std::int64_t points) {
    for (const std::string& name : subject.tested(TESSERA_OP_STENCIL))
      for (const bool at_end : {false, true}) try {
          StencilPlan plan(subject.context(), desc, {.operands = Memory::device, .algorithm = name});
          const Fenced<TestType> in(points, at_end), out(points, at_end);
          for (std::int64_t i = 0; i < points; ++i) in.data()[i] = number<TestType>(double(i % 7));
          plan.execute(static_cast<const TestType*>(in.data()), out.data());
          CHECK_FALSE(std::isnan(wide(out.data()[points / 2])));
        } catch (const Error& error) {
          INFO(name << ": " << error.what());
          CHECK(error.code() == ErrorCode::unsupported);
        }
  };
  // In the farthest row a tap is on the near side, by more than a vector, or on the far side where rows are mapped:
  // vectors at the ends of rows reach farther.
  for (const int reach : {-17, -9, -5, -3, 3, 5, 9, 17})
    for (const int far : {-2, 2})
      for (const Boundary boundary : {Boundary::fixed, Boundary::constant, Boundary::periodic, Boundary::nearest,
                                      Boundary::reflect, Boundary::mirror}) {
        StencilDesc plane{.extents = {37, 43}, .taps = Taps(2), .boundary = boundary, .dtype = kDType<TestType>};
        plane.taps.add({0, 0, 0}, 0.5), plane.taps.add({far, reach, 0}, 0.25);
        each(plane, 37 * 43);
        StencilDesc volume{.extents = {9, 11, 43}, .taps = Taps(3), .boundary = boundary, .dtype = kDType<TestType>};
        volume.taps.add({0, 0, 0}, 0.5), volume.taps.add({far, far / 2, reach}, 0.25);
        each(volume, 9 * 11 * 43);
        const Offset first{(std::min)(far, 0), (std::min)(reach, 0), 0}, count{3, std::abs(reach) + 1, 1};
        plane.taps = product(2, first, count, Weights::contracting);
        each(plane, 37 * 43);
      }
}

}  // namespace tessera::test
