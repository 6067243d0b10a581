// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "misuse.hpp"

#include "guarded.hpp"
#include "reference.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <vector>

namespace tessera::test {

namespace {

/// A status with its message.
struct Report {
  std::array<char, 2048> text{};
  tessera_error error{sizeof error, TESSERA_OK, 0, text.data(), text.size()};

  void check(tessera_status status) const {
    if (status == TESSERA_OK) return;
    require(status == error.status, "the status is not that of the error");
    require(text[0] != '\0', "a refusal without a message");
    require(status != TESSERA_INTERNAL && status != TESSERA_DEVICE_ERROR, "a defect:", text.data());
  }
};

/// The struct in memory of its own, so that a read beyond its size is seen.
std::vector<unsigned char> altered(Bytes& bytes, const void* c, std::size_t size, std::size_t first_pointer,
                                   std::size_t behind_pointer) {
  std::vector<unsigned char> memory(size);
  std::memcpy(memory.data(), c, size);
  const std::int64_t kind = bytes.below(3);
  if (kind == 0) memory.resize(8 + std::size_t(bytes.byte()) % (size + 64), 0);
  if (kind == 1) memory.resize(size + std::size_t(bytes.byte()), bytes.below(2) == 0 ? 0 : bytes.byte());
  const std::uint64_t given = memory.size();
  std::memcpy(memory.data(), &given, sizeof given);
  for (std::int64_t count = bytes.below(3); count > 0; --count) {
    const std::size_t at = sizeof given + std::size_t(bytes.byte()) % memory.size();
    // An address or a count that lies is nothing that a library could notice.
    if (at < memory.size() && (at < first_pointer || at >= behind_pointer)) memory[at] = bytes.byte();
  }
  return memory;
}

void create(Context& context, const std::vector<unsigned char>& desc) {
  Report report;
  tessera_plan* plan = nullptr;
  report.check(tessera_plan_create(context.get(), reinterpret_cast<const tessera_desc*>(desc.data()), nullptr, &plan,
                                   &report.error));
  tessera_plan_destroy(plan);
}

tessera_dtype type_of(const Plan& plan) {
  for (const DType dtype : WideTypes::kDTypes)
    if (plan.describe().find(std::string(" ") + name_of(dtype)) != std::string::npos) return tessera_dtype(dtype);
  throw std::logic_error("a plan that names no type: " + plan.describe());
}

/// Operands of the right sizes and types, all zero, and scalars; then one thing that is wrong.
class Arguments {
 public:
  explicit Arguments(Plan& plan) : dtype_(type_of(plan)) {
    const std::int64_t size = std::int64_t(size_of(dtype_));
    const bool gemm = plan.describe().find("gemm") != std::string::npos;
    using enum Role;
    for (const Role role : gemm ? std::vector{a, b, c} : std::vector{in, out}) {
      const auto [first, last] = plan.operand_range(role);
      memories_.emplace_back(std::size_t((last - first) * size), GuardedBytes::Against::begin);
      std::memset(memories_.back().data(), 0, memories_.back().size());
      operands_.push_back({memories_.back().data() - first * size, dtype_, tessera_role(role)});
    }
    if (gemm) scalars_ = {{dtype_, 0, 1.0, 0.0}, {dtype_, 0, 0.5, 0.0}};
    operand_count_ = operands_.size();
  }

  void spoil(Bytes& bytes) {
    tessera_operand& operand = bytes.pick(operands_);
    switch (bytes.below(scalars_.empty() ? 7 : 9)) {
      case 0:
        operand.data = nullptr;
        break;
      case 1:
        operand.data = static_cast<char*>(operand.data) + 1 + bytes.below(3);
        break;
      case 2:
        operand.dtype = bytes.byte();
        break;
      case 3:
        operand.role = bytes.byte();
        break;
      case 4:
        operand_count_ = std::uint64_t(bytes.below(std::int64_t(operands_.size()) + 1));
        break;
      case 5:
        workspace_bytes_ = bytes.byte();
        break;
      case 6:
        operand_size_ = std::uint64_t(bytes.byte()) % sizeof(tessera_operand);
        break;
      case 7:
        bytes.pick(scalars_).dtype = bytes.byte();
        break;
      default:
        bytes.pick(scalars_).imaginary = double(bytes.byte());
    }
  }

  tessera_execution execution() const {
    return {sizeof(tessera_execution), operands_.data(), operand_size_, operand_count_,  scalars_.data(),
            sizeof(tessera_scalar),    scalars_.size(),  nullptr,       workspace_bytes_};
  }

 private:
  tessera_dtype dtype_;
  std::vector<GuardedBytes> memories_;
  std::vector<tessera_operand> operands_;
  std::vector<tessera_scalar> scalars_;
  std::uint64_t operand_count_ = 0, operand_size_ = sizeof(tessera_operand), workspace_bytes_ = 0;
};

/// Strided places, one by one, from the operand's pointer.
template <class Visit>
void visit(const MatrixLayout& x, Visit&& place) {
  for (std::int64_t l = 0; l < x.batch; ++l)
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t j = 0; j < x.columns; ++j) place(x.at(l, i, j));
}

template <class Visit>
void visit(const StencilLayout& x, bool input, Visit&& place) {
  if (x.points() == 0) return;
  std::array<std::int64_t, TESSERA_MAX_RANK> low{}, high{};
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    low[axis] = input ? -x.halo[axis][0] : 0;
    high[axis] = x.extents[axis] + (input ? x.halo[axis][1] : 0);
  }
  const auto& strides = input ? x.in_strides : x.out_strides;
  for (std::int64_t i = low[0]; i < high[0]; ++i)
    for (std::int64_t j = low[1]; j < high[1]; ++j)
      for (std::int64_t l = low[2]; l < high[2]; ++l) place(i * strides[0] + j * strides[1] + l * strides[2]);
}

/// One array that holds an input at 0 and the output `distance` elements behind it.
template <class T>
struct Shared {
  std::set<std::int64_t> read, written;
  std::int64_t first = 0, last = 0;
  std::vector<T> values;
  bool share = false;

  void lay_out(std::int64_t distance) {
    std::set<std::int64_t> moved;
    for (const std::int64_t place : written) moved.insert(place + distance);
    written = std::move(moved);
    for (const std::set<std::int64_t>* places : {&read, &written}) {
      if (places->empty()) continue;
      first = std::min(first, *places->begin());
      last = std::max(last, *places->rbegin());
    }
    share = std::any_of(written.begin(), written.end(), [&](std::int64_t place) { return read.contains(place); });
    first = std::min(first, distance), last = std::max(last, distance);
    for (std::int64_t i = first; i <= last; ++i) values.push_back(T((i * 37 % 101) - 50) / T(64));
  }
  T* at(std::int64_t place) { return values.data() + (place - first); }
};

/// Near enough for the two to touch, or anywhere.
std::int64_t draw_distance(Bytes& bytes, std::int64_t reach) {
  const std::int64_t far = bytes.number() % (2 * reach + 3);
  return bytes.below(2) == 0 ? bytes.below(128) - 64 : far;
}

template <class T>
void compare(Shared<T>& shared, const Expected<T>& expected, const std::vector<T>& before,
             const std::vector<std::int64_t>& places) {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (expected.untouched.empty() || !expected.untouched[i])
      require(acceptable<T>(*shared.at(places[i]), expected.value[i], expected.bound[i]), "wrong in one array");
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!shared.written.contains(std::int64_t(i) + shared.first))
      require(std::memcmp(&before[i], &shared.values[i], sizeof(T)) == 0, "a gap was written in one array");
}

/// True when it was executed; checks that it is refused exactly where an element is shared.
template <class Execute>
bool runs(bool share, bool output_is_empty, Execute&& execute) {
  try {
    execute();
  } catch (const Error& error) {
    require(share, "apart, but refused:", error.what());
    require(error.code() == ErrorCode::invalid_argument, "refused for another reason:", error.what());
    return false;
  }
  require(!share || output_is_empty, "executed, though in and out share an element");
  return true;
}

template <class T>
void in_one_array(Bytes& bytes, const GemmDesc& desc, GemmPlan& plan) {
  const GemmLayout layout = layout_of(desc);
  Shared<T> shared;
  visit(layout.a, [&](std::int64_t place) { shared.read.insert(place); });
  visit(layout.c, [&](std::int64_t place) { shared.written.insert(place); });
  const std::int64_t distance = draw_distance(bytes, layout.a.span() + layout.c.span());
  shared.lay_out(distance);
  std::vector<T> b(std::size_t(layout.b.span()) + 1, T(0.5));
  const std::vector<T> before = shared.values;
  const auto expected =
      gemm_reference<T>(desc, T(1), shared.at(0), b.data(), T(0.5), shared.at(distance), /*exact=*/false);
  if (!runs(shared.share, shared.written.empty(),
            [&] { plan.execute(T(1), shared.at(0), b.data(), T(0.5), shared.at(distance)); }))
    return;
  std::vector<std::int64_t> places;
  visit(layout.c, [&](std::int64_t place) { places.push_back(place + distance); });
  compare(shared, expected, before, places);
}

template <class T>
void in_one_array(Bytes& bytes, const StencilDesc& desc, StencilPlan& plan) {
  const StencilLayout layout = layout_of(desc);
  Shared<T> shared;
  visit(layout, true, [&](std::int64_t place) { shared.read.insert(place); });
  visit(layout, false, [&](std::int64_t place) { shared.written.insert(place); });
  const std::int64_t distance = draw_distance(bytes, layout.in_span + layout.out_span);
  shared.lay_out(distance);
  const std::vector<T> before = shared.values;
  const auto expected = stencil_reference<T>(desc, shared.at(0), /*exact=*/false);
  if (!runs(shared.share, shared.written.empty(), [&] { plan.execute(shared.at(0), shared.at(distance)); })) return;
  std::vector<std::int64_t> places;
  visit(layout, false, [&](std::int64_t place) { places.push_back(place + distance); });
  compare(shared, expected, before, places);
}

template <class Desc, class P>
void in_one_array_of_type(Bytes& bytes, const Desc& desc, P& plan, Memory memory) {
  if (memory == Memory::device && plan.backend() == "fake") return;  // its memory is not the host's
  with_types<WideTypes>(desc.dtype, [&]<class T>(std::type_identity<T>) { in_one_array<T>(bytes, desc, plan); });
}

}  // namespace

void create_from_altered_bytes(Bytes& bytes, Context& context, const GemmDesc& d) {
  tessera_gemm_desc c = tessera_packed_gemm(tessera_dtype(d.dtype), d.m, d.n, d.k);
  c.compute = tessera_compute(d.compute);
  c.order = tessera_order(d.order);
  c.trans_a = tessera_transpose(d.trans_a), c.trans_b = tessera_transpose(d.trans_b);
  c.lda = d.lda, c.ldb = d.ldb, c.ldc = d.ldc;
  c.batch = d.batch, c.stride_a = d.stride_a, c.stride_b = d.stride_b, c.stride_c = d.stride_c;
  create(context, altered(bytes, &c, sizeof c, 0, 0));
}

void create_from_altered_bytes(Bytes& bytes, Context& context, const StencilDesc& d) {
  tessera_stencil_desc c{};
  c.struct_size = sizeof c;
  c.op = TESSERA_OP_STENCIL;
  c.dtype = tessera_dtype(d.dtype);
  c.rank = std::int32_t(d.extents.size());
  for (std::size_t axis = 0; axis < d.extents.size(); ++axis) {
    c.extents[axis] = d.extents[axis];
    c.in_strides[axis] = d.in_strides.empty() ? kPacked : d.in_strides[axis];
    c.out_strides[axis] = d.out_strides.empty() ? kPacked : d.out_strides[axis];
    c.boundary[axis][0] = tessera_boundary(d.boundary[axis].low.mode);
    c.boundary[axis][1] = tessera_boundary(d.boundary[axis].high.mode);
  }
  c.taps = reinterpret_cast<const tessera_tap*>(d.taps.data());
  c.tap_size = sizeof(Tap);
  c.tap_count = std::int64_t(d.taps.size());
  c.steps = d.steps;
  create(context,
         altered(bytes, &c, sizeof c, offsetof(tessera_stencil_desc, taps), offsetof(tessera_stencil_desc, boundary)));
}

void execute_wrongly(Bytes& bytes, Plan& plan, Memory memory) {
  if (memory == Memory::device && plan.backend() == "fake") return;  // its memory is not the host's
  Arguments arguments(plan);
  arguments.spoil(bytes);
  const tessera_execution e = arguments.execution();
  Report report;
  report.check(tessera_plan_execute(plan.get(), &e, &report.error));
}

void execute_in_one_array(Bytes& bytes, const GemmDesc& desc, GemmPlan& plan, Memory memory) {
  in_one_array_of_type(bytes, desc, plan, memory);
}
void execute_in_one_array(Bytes& bytes, const StencilDesc& desc, StencilPlan& plan, Memory memory) {
  in_one_array_of_type(bytes, desc, plan, memory);
}

}  // namespace tessera::test
