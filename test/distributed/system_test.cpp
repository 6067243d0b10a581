// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Distributed systems of fields have the bits of a plan of one rank, whatever the cut.

#include "random.hpp"
#include "ranks.hpp"
#include "system_cases.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {
namespace {

using Bytes = std::vector<unsigned char>;

/// All levels of all fields, and the series, of the whole domain.
struct Values {
  std::vector<std::vector<Bytes>> fields;
  std::vector<Bytes> injected, recorded;
};

Bytes values_of(tessera_dtype dtype, std::int64_t count, Random& random) {
  return with_types(dtype, [&]<class T>(std::type_identity<T>) {
    Bytes bytes(std::size_t(count) * sizeof(T));
    for (std::int64_t i = 0; i < count; ++i) {
      const T value(Scalar<T>(0.75 + 0.25 * random.uniform()));  // what is divided by stays away from 0
      std::memcpy(&bytes[std::size_t(i) * sizeof(T)], &value, sizeof(T));
    }
    return bytes;
  });
}

/// A system with the C structs of it, which tell what it has.
class Trial {
 public:
  Trial(const SystemCase& c, Random& random) : case_(c), description_(case_.system, c.steps) {
    const tessera_system_desc& d = *description_.get();
    for (std::int64_t f = 0; f < d.field_count; ++f) {
      std::vector<Bytes>& levels = begin_.fields.emplace_back();
      for (std::size_t level = 0; level < levels_of(f); ++level)
        levels.push_back(values_of(dtype_of(f), points_of(f, nullptr), random));
    }
    for (std::int64_t i = 0; i < d.injection_count; ++i)
      begin_.injected.push_back(
          values_of(d.dtype, kFirstStep * d.injections[i].series_count + rows(d.injections[i]), random));
    for (std::int64_t i = 0; i < d.recording_count; ++i)
      begin_.recorded.push_back(
          values_of(d.dtype, kFirstStep * d.recordings[i].series_count + rows(d.recordings[i]), random));
  }
  Trial(const Trial&) = delete;

  const SystemCase& system() const { return case_; }
  bool is_packed() const {
    const tessera_system_desc& d = *description_.get();
    return std::all_of(d.fields, d.fields + d.field_count,
                       [](const tessera_field& f) { return f.strides[0] == TESSERA_PACKED; });
  }

  /// What a plan of one rank makes.
  Values alone(const Context& context, const PlanOptions& options) const {
    Values v = begin_;
    SystemPlan plan(context, case_.system, case_.steps, options);
    std::vector<std::vector<void*>> arrays;
    for (std::vector<Bytes>& levels : v.fields) {
      arrays.emplace_back();
      for (Bytes& level : levels) arrays.back().push_back(level.data());
    }
    plan.execute(lists(arrays), series(v));
    turn(v, [&](const SystemField& field, int level) { return plan.place_after(field, level); });
    return v;
  }

  /// What a rank makes; fields go to `root`.
  Values run(const Comm& comm, const Context& context, const Decomposition& cut, const PlanOptions& options,
             int root) const {
    DistributedSystemPlan plan(comm, context, case_.system, case_.steps, cut, options);
    const Block block = plan.block();
    Values v = begin_;
    std::vector<std::vector<Buffer<float>>> buffers;
    std::vector<std::vector<void*>> arrays;
    for (std::size_t f = 0; f < v.fields.size(); ++f) {
      buffers.emplace_back(), arrays.emplace_back();
      const std::int64_t bytes =
          points_of(std::int64_t(f), &block) * std::int64_t(size_of(DType(dtype_of(std::int64_t(f)))));
      for (const Bytes& level : v.fields[f]) {
        buffers.back().emplace_back(context, bytes / 4 + 1);
        buffers.back().back().upload(std::vector<float>(std::size_t(bytes / 4 + 1), -1e30f));
        arrays.back().push_back(buffers.back().back().data());
        plan.scatter(0, field(f), comm.rank() == 0 ? level.data() : nullptr, arrays.back().back());
      }
    }
    Buffers sent(context, v.injected), received(context, v.recorded);
    plan.execute(lists(arrays), {typed(sent.pointers()), typed(received.pointers()), kFirstStep});
    received.download(v.recorded);
    for (std::size_t f = 0; f < v.fields.size(); ++f)
      for (std::size_t level = 0;
           description_.get()->fields[f].kind != TESSERA_FIELD_PROFILE && level < v.fields[f].size(); ++level)
        plan.gather(root, field(f), arrays[f][std::size_t(plan.place_after(field(f), -int(level)))],
                    comm.rank() == root ? v.fields[f][level].data() : nullptr);
    return v;
  }

 private:
  static constexpr std::int64_t kFirstStep = 2;

  /// Series in memory of the context's device.
  struct Buffers {
    std::vector<Buffer<float>> list;
    Buffers(const Context& context, const std::vector<Bytes>& series) {
      for (const Bytes& one : series) {
        std::vector<float> values(one.size() / 4 + 1);
        std::memcpy(values.data(), one.data(), one.size());
        list.emplace_back(context, std::int64_t(values.size()));
        list.back().upload(values);
      }
    }
    void download(std::vector<Bytes>& series) {
      for (std::size_t i = 0; i < series.size(); ++i) {
        std::vector<float> values(series[i].size() / 4 + 1);
        list[i].download(values);
        std::memcpy(series[i].data(), values.data(), series[i].size());
      }
    }
    std::vector<void*> pointers() {
      std::vector<void*> all;
      for (Buffer<float>& buffer : list) all.push_back(buffer.data());
      return all;
    }
  };

  SystemField field(std::size_t f) const { return case_.system.field(description_.get()->fields[f].name); }
  std::size_t levels_of(std::int64_t f) const {
    const tessera_field& field = description_.get()->fields[f];
    return field.kind == TESSERA_FIELD_STATE ? std::size_t(field.levels) : 1;
  }
  tessera_dtype dtype_of(std::int64_t f) const {
    const tessera_dtype own = description_.get()->fields[f].dtype;
    return own != 0 ? own : description_.get()->dtype;
  }
  std::int64_t rows(const tessera_points& p) const { return case_.steps * p.series_count; }
  /// Of the domain, or of a rank's array.
  std::int64_t points_of(std::int64_t f, const Block* block) const {
    const tessera_system_desc& d = *description_.get();
    const auto axis = std::size_t(d.fields[f].axis);
    if (d.fields[f].kind == TESSERA_FIELD_PROFILE)
      return block == nullptr ? d.extents[axis] : block->low[axis] + block->extents[axis] + block->high[axis];
    if (block != nullptr) return block->elements;
    std::int64_t points = 1;
    for (int a = 0; a < d.rank; ++a) points *= d.extents[a];
    return points;
  }
  template <class T>
  static SystemArray as(void* data) {
    return SystemArray(static_cast<T*>(data));
  }
  static SystemArray typed(tessera_dtype dtype, void* data) {
    return with_types(dtype, [data]<class T>(std::type_identity<T>) { return as<T>(data); });
  }
  std::vector<SystemArray> typed(const std::vector<void*>& list) const {
    std::vector<SystemArray> arrays;
    for (void* data : list) arrays.push_back(typed(description_.get()->dtype, data));
    return arrays;
  }
  std::vector<FieldArrays> lists(const std::vector<std::vector<void*>>& arrays) const {
    std::vector<FieldArrays> fields;
    for (std::size_t f = 0; f < arrays.size(); ++f) {
      std::vector<SystemArray> levels;
      for (void* level : arrays[f]) levels.push_back(typed(dtype_of(std::int64_t(f)), level));
      fields.emplace_back(field(f), std::move(levels));
    }
    return fields;
  }
  SystemSeries series(Values& v) const {
    SystemSeries s;
    for (Bytes& one : v.injected) s.injected.push_back(typed(description_.get()->dtype, one.data()));
    for (Bytes& one : v.recorded) s.recorded.push_back(typed(description_.get()->dtype, one.data()));
    s.first_step = kFirstStep;
    return s;
  }
  /// Levels from where an execution leaves them, the newest first.
  template <class Place>
  void turn(Values& v, Place&& place) const {
    for (std::size_t f = 0; f < v.fields.size(); ++f) {
      if (description_.get()->fields[f].kind != TESSERA_FIELD_STATE) continue;
      const std::vector<Bytes> before = v.fields[f];
      for (std::size_t level = 0; level < before.size(); ++level)
        v.fields[f][level] = before[std::size_t(place(field(f), -int(level)))];
    }
  }

  SystemCase case_;
  StencilSystem::Description description_;
  Values begin_;
};

/// How many were compared with one rank, and why others were not.
struct Count {
  int run = 0, thin = 0, unsupported = 0;
};

/// False where the domain is too thin for so many ranks.
bool compare_with_one_rank(const std::string& backend, const std::string& algorithm, const Trial& trial,
                           const Decomposition& cut, int ranks, Count& count) {
  const PlanOptions options{.operands = Memory::device, .algorithm = algorithm};
  std::vector<Values> made(std::size_t(ranks), Values{});
  const std::vector<std::string> errors = on_ranks(ranks, [&](const Comm& comm) {
    made[std::size_t(comm.rank())] = trial.run(comm, context_of(backend, comm.rank()), cut, options, ranks - 1);
  });
  if (!errors[0].empty()) {
    INFO(errors[0]);
    for (const std::string& error : errors) CHECK_FALSE(error.empty());
    const auto says = [&](const char* text) { return errors[0].find(text) != std::string::npos; };
    const bool thin = says("halo") || says("cannot be cut") || says("a block has points");
    CHECK((thin || says(" takes ") || says(" makes ")));
    ++(thin ? count.thin : count.unsupported);
    return !thin;
  }
  for (const std::string& error : errors) CHECK(error.empty());
  const Values wanted = trial.alone(context_of(backend), {.operands = Memory::host, .algorithm = algorithm});
  for (std::size_t f = 0; f < wanted.fields.size(); ++f)
    for (std::size_t level = 0; level < wanted.fields[f].size(); ++level) {
      INFO("field " << f << ", level " << level);
      CHECK(std::memcmp(made.back().fields[f][level].data(), wanted.fields[f][level].data(),
                        wanted.fields[f][level].size()) == 0);
    }
  for (const Values& rank : made)
    for (std::size_t set = 0; set < wanted.recorded.size(); ++set)
      CHECK(std::memcmp(rank.recorded[set].data(), wanted.recorded[set].data(), wanted.recorded[set].size()) == 0);
  ++count.run;
  return true;
}

/// A state that changes in a corner alone, of which most ranks have nothing.
SystemCase in_a_corner() {
  StencilSystem system({60, 20});
  const auto u = system.state("u"), corner = system.state("corner");
  system.update(u) = 0.5 * u + 0.1 * u.at({1, 0}) + 0.1 * corner.at({-1, 1});
  system.update(corner, {.stage = 1, .low = {2, 3}, .high = {6, 9}}) = 0.9 * corner + 0.05 * u[+1].at({0, 1});
  system.record(u, {{}, {}, {}, 2}, 1);  // series of no points are 0
  return {"a state in a corner", std::move(system), 4};
}

/// Cases on domains that have room for some ranks, one after the other in styles of all kinds.
std::vector<SystemCase> cut_cases() {
  std::vector<SystemCase> cases;
  const auto add = [&](const Integers& extents, const SystemStyle& style, const std::string& suffix) {
    for (SystemCase& c : known_systems(extents, style, suffix)) cases.push_back(std::move(c));
  };
  constexpr auto f32 = DType::f32, f64 = DType::f64;
  add({301}, {}, ", 1D");
  add({64, 50}, {f64, f64, Boundary::periodic}, ", 2D f64 periodic");
  add({40, 30, 17}, {}, ", 3D");
  add({41, 12, 20}, {f32, f32, Boundary::mirror}, ", 3D mirror");
  add({33, 29, 12}, {f32, DType::bf16, Boundary::periodic}, ", 3D bf16 periodic");
  add({70, 41}, {f32, DType::f16, BoundarySide{Boundary::constant, 0.5}}, ", 2D f16 constant");
  cases.push_back(in_a_corner());
  for (SystemCase& c : special_systems(60)) cases.push_back(std::move(c));
  return cases;
}

}  // namespace

TEST_CASE("any number of ranks and any cut give the bits of one rank", "[system]") {
  Random random("distributed systems");
  const std::vector<SystemCase> cases = cut_cases();
  for (const std::string& backend : tested_backends()) {
    std::vector<std::pair<std::string, Count>> counts;
    for (const BackendInfo& info : backends())
      if (backend == info.name || backend == info.name + "-" + info.variant)
        for (const std::string& name : info.system_algorithms) counts.emplace_back(name, Count{});
    REQUIRE_FALSE(counts.empty());
    // The emulated device is slow: every fourth case.
    const std::size_t step = backend == "fake" ? 4 : 1;
    for (std::size_t i = std::size_t(random.integer(0, std::int64_t(step) - 1)); i < cases.size(); i += step) {
      const SystemCase& c = cases[i];
      const Trial trial(c, random);
      if (!trial.is_packed() || c.name.find(", in a box") != std::string::npos ||
          c.name.find("on some planes") != std::string::npos || c.name.find("pair in a box") != std::string::npos)
        continue;
      const bool one_each = devices_of(backend) > 1 && random.integer(0, 1) == 0;  // which messages can travel between
      const int ranks = one_each ? devices_of(backend) : int(random.integer(1, 8));
      Decomposition cut{.depth = int(random.integer(0, 3))};
      const std::int64_t way = random.integer(0, 3);
      if (way == 0) cut.ranks = {ranks};  // the first axis alone
      if (way == 1 && ranks % 2 == 0) cut.ranks = {2, ranks / 2}, cut.depth = int(random.integer(0, 1));
      if (one_each && random.integer(0, 3) == 0) cut.halos = HaloTransport::nccl;
      for (auto& [algorithm, count] : counts) {
        INFO(backend << ", " << algorithm << ", " << c.name << ", " << ranks << " ranks, depth " << cut.depth
                     << ", seed " << seed());
        if (!compare_with_one_rank(backend, algorithm, trial, cut, ranks, count))
          compare_with_one_rank(backend, algorithm, trial, {.depth = 1}, 2, count);
      }
    }
    for (const auto& [algorithm, count] : counts) {
      INFO(backend << ", " << algorithm << ": " << count.run << " run, " << count.thin << " too thin, "
                   << count.unsupported << " for other algorithms");
      CHECK(count.run >= 3);
    }
  }
}

}  // namespace tessera::test
