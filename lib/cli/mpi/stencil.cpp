// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "mpi_commands.hpp"
#include "named_value.hpp"
#include "place.hpp"
#include "stencil_job.hpp"

#include <tessera/mpi.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::cli {
namespace {

struct Arguments : StencilArguments {
  Choice choice;
  std::optional<std::string> ranks;
  std::int64_t depth = 0;
  HaloTransport halos = HaloTransport::automatic;
};

/// What the command line alone determines.
struct Parsed : ParsedStencilArguments {
  Decomposition cut;
};

Parsed parse_all(const Arguments& arguments) {
  Parsed parsed{parse(arguments), {}};
  parsed.cut.halos = arguments.halos;
  usage([&] {
    if (arguments.ranks) parsed.cut.ranks = Integers(parse_counts(*arguments.ranks, "--ranks", 1, TESSERA_MAX_RANK));
    parsed.cut.depth = short_count(arguments.depth, "--depth");
    return 0;
  });
  return parsed;
}

/// What all ranks must know of the problem.
struct Problem {
  StencilDesc desc;
  std::int64_t fields;
};

std::vector<std::int64_t> numbers_of(const StencilJob& job) {
  const StencilDesc& desc = job.desc();
  std::vector<std::int64_t> numbers{job.input().computed(), std::int64_t(desc.extents.size()), desc.steps,
                                    std::int64_t(desc.dtype), std::int64_t(desc.sums)};
  for (std::size_t axis = 0; axis < desc.extents.size(); ++axis) {
    numbers.push_back(desc.extents[axis]);
    for (const BoundarySide& side : {desc.boundary[axis].low, desc.boundary[axis].high})
      numbers.push_back(std::int64_t(side.mode)), numbers.push_back(bits_of(side.value));
  }
  numbers.push_back(std::int64_t(desc.taps.size()));
  for (const Tap& tap : desc.taps) {
    numbers.insert(numbers.end(), tap.offset.begin(), tap.offset.end());
    numbers.push_back(bits_of(tap.coefficient));
  }
  return numbers;
}

Problem problem_of(Numbers numbers) {
  Problem problem{{}, numbers.whole()};
  StencilDesc& desc = problem.desc;
  const std::int64_t axes = numbers.whole();
  desc.steps = numbers.whole();
  desc.dtype = numbers.named<DType>(), desc.sums = numbers.named<Sums>();
  std::vector<BoundaryAxis> sides(static_cast<std::size_t>(axes));
  for (BoundaryAxis& axis : sides) {
    desc.extents.push_back(numbers.whole());
    for (BoundarySide* const side : {&axis.low, &axis.high})
      side->mode = numbers.named<Boundary>(), side->value = numbers.real();
  }
  desc.boundary = Boundaries(sides);
  desc.taps = Taps(int(axes));
  for (std::int64_t left = numbers.whole(); left > 0; --left) {
    std::array<std::int64_t, TESSERA_MAX_RANK> offset{};
    for (std::int64_t& along : offset) along = numbers.whole();
    desc.taps.add(offset, numbers.real());
  }
  return problem;
}

/// The elements of all fields in C order: themselves, or a copy in `room`.
template <Element T>
const T* in_c_order(const Fields& input, std::vector<T>& room) {
  const T* const data = input.array.data<T>();
  if (!input.array.fortran_order) return data;
  std::array<std::int64_t, TESSERA_MAX_RANK> shape{1, 1, 1}, strides{};
  std::ranges::copy_backward(input.shape(), shape.end());
  std::ranges::copy_backward(input.strides(), strides.end());
  room.reserve(std::size_t(input.size()));
  for (std::int64_t i = 0; i < shape[0]; ++i)
    for (std::int64_t j = 0; j < shape[1]; ++j)
      for (std::int64_t k = 0; k < shape[2]; ++k)
        room.push_back(data[i * strides[0] + j * strides[1] + k * strides[2]]);
  return room.data();
}

/// One rank's blocks, two of each field. Functions are collective unless they are said to be this rank's own.
template <Element T>
class Blocks {
 public:
  Blocks(const Comm& comm, const Context& context, const Problem& problem, const Decomposition& cut,
         const PlanOptions& options)
      : context_(context), problem_(problem), plan_(comm, context, problem.desc, cut, options) {}

  /// Own.
  void allocate() {
    for (std::int64_t field = 0; field < problem_.fields; ++field)
      for (auto* const buffers : {&in_, &out_}) buffers->emplace_back(context_, plan_.block().elements);
  }
  /// Fields of rank 0 that lie so many elements apart; null on the others.
  void scatter(const T* fields, std::int64_t apart) {
    for (Buffer<T>& block : in_) {
      plan_.scatter(0, fields, block.data());
      if (fields != nullptr) fields += apart;
    }
  }
  void gather(T* fields, std::int64_t apart) {
    for (Buffer<T>& block : out_) {
      plan_.gather(0, block.data(), fields);
      if (fields != nullptr) fields += apart;
    }
  }
  void execute() {
    for (std::size_t field = 0; field < in_.size(); ++field) plan_.execute(in_[field].data(), out_[field].data());
  }
  std::string describe() const { return plan_.describe(); }

 private:
  const Context& context_;
  const Problem& problem_;
  DistributedStencilPlan plan_;
  std::vector<Buffer<T>> in_, out_;
};

/// `job` is rank 0's.
template <Element T>
void apply(const Arguments& arguments, const Decomposition& cut, const Ranks& ranks, const Problem& problem,
           StencilJob* job) {
  std::optional<Context> context;
  std::optional<Comm> comm;
  std::optional<Blocks<T>> blocks;
  std::vector<T> room, results;
  const T* source = nullptr;
  const std::int64_t apart = job == nullptr ? 0 : job->input().size();
  ranks.together([&] {
    context.emplace(context_of(arguments.choice, ranks));
    if (job != nullptr) source = in_c_order(job->input(), room), results = job->results<T>();
  });
  ranks.together([&] { comm.emplace(mpi::comm(MPI_COMM_WORLD)); });
  const PlanOptions options{.operands = Memory::device, .algorithm = arguments.choice.algorithm};
  ranks.together([&] { blocks.emplace(*comm, *context, problem, cut, options); });
  ranks.together([&] { blocks->allocate(); });
  ranks.together([&] { blocks->scatter(source, apart); });
  const auto execute = [&] {
    ranks.together([&] { blocks->execute(); });
    ranks.together([&] { context->synchronize(); });
  };
  const Timing timing = measure([] {}, execute, [&](double seconds) { return ranks.largest(seconds); });
  ranks.together([&] { blocks->gather(job == nullptr ? nullptr : results.data(), apart); });
  ranks.together([&] {
    if (job != nullptr) job->finish(results, blocks->describe(), timing);
  });
}

void run_stencil(const Arguments& arguments, const Parsed& parsed, const Ranks& ranks) {
  std::optional<StencilJob> job;
  ranks.together([&] {
    if (!ranks.is_first()) return;
    job.emplace(arguments, parsed);
    const std::size_t axes = job->desc().extents.size(), named = parsed.cut.ranks.size();
    if (named != 0 && named != axes)
      throw npy::Error(arguments.input,
                       "holds " + job->input().describe() + ", but --ranks names those along " + npy::axes_text(named));
  });
  const Problem problem = problem_of(Numbers(ranks.from_first(job ? numbers_of(*job) : std::vector<std::int64_t>())));
  with_types(problem.desc.dtype, [&]<class T>(std::type_identity<T>) {
    apply<T>(arguments, parsed.cut, ranks, problem, job ? &*job : nullptr);
  });
}

}  // namespace

void add_mpi_stencil(CLI::App& app, Run& run, const Ranks& ranks) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = add_stencil_command(app, *arguments);
  command
      ->add_option("--ranks", arguments->ranks,
                   "along each axis, whose product is the number of ranks; 0: chosen here (default: all are)")
      ->type_name("N[xN[xN]]");
  add_count(*command, "--depth", arguments->depth, "steps between two exchanges of halos (default: 0, chosen here)");
  add_named_value<HaloTransport>(*command, "--halos", arguments->halos,
                                 {{"host", HaloTransport::host}, {"nccl", HaloTransport::nccl}},
                                 "what carries halos: MPI through the host's memory, or NCCL (default: NCCL where "
                                 "ranks have devices of their own and halos are contiguous)");
  add_place(*command, arguments->choice);
  command->callback([arguments, &run, &ranks] {
    run = [arguments, &ranks, parsed = parse_all(*arguments)] { run_stencil(*arguments, parsed, ranks); };
  });
}

}  // namespace tessera::cli
