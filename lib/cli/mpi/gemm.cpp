// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "gemm_job.hpp"
#include "mpi_commands.hpp"
#include "place.hpp"

#include <tessera/mpi.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::cli {
namespace {

struct Arguments : GemmArguments {
  Choice choice;
  std::optional<std::string> layout, block;
};

/// What the command line alone determines.
struct Parsed : ParsedGemmArguments {
  std::vector<std::int64_t> grid{0, 0}, block{0, 0, 0};
};

Parsed parse_all(const Arguments& arguments) {
  Parsed parsed{parse(arguments)};
  usage([&] {
    if (arguments.layout) parsed.grid = parse_counts(*arguments.layout, "--layout", 2, 2);
    if (arguments.block) parsed.block = parse_counts(*arguments.block, "--block", 3, 3);
    return 0;
  });
  return parsed;
}

/// What all ranks must know of the problem.
struct Problem {
  GemmDesc desc;
  double alpha, beta;
};

std::vector<std::int64_t> numbers_of(const GemmJob& job) {
  const GemmDesc& desc = job.desc();
  return {desc.m,
          desc.n,
          desc.k,
          std::int64_t(desc.dtype),
          std::int64_t(*desc.dtype_d),
          std::int64_t(desc.trans_a),
          std::int64_t(desc.trans_b),
          std::int64_t(desc.compute),
          bits_of(job.alpha()),
          bits_of(job.beta())};
}

Problem problem_of(Numbers numbers) {
  Problem problem{};
  GemmDesc& desc = problem.desc;
  desc.m = numbers.whole(), desc.n = numbers.whole(), desc.k = numbers.whole();
  desc.dtype = numbers.named<DType>(), desc.dtype_d = numbers.named<DType>();
  desc.trans_a = numbers.named<Transpose>(), desc.trans_b = numbers.named<Transpose>();
  desc.compute = numbers.named<Compute>();
  problem.alpha = numbers.real(), problem.beta = numbers.real();
  return problem;
}

/// Of a matrix whose blocks have that many rows and columns before it is transposed.
Layout layout_of(const Parsed& parsed, std::int64_t rows, std::int64_t columns, Transpose transposed) {
  Layout layout{.grid_rows = int(parsed.grid[0]), .grid_columns = int(parsed.grid[1])};
  const bool as_it_is = transposed == Transpose::no;
  layout.block_rows = as_it_is ? rows : columns, layout.block_columns = as_it_is ? columns : rows;
  return layout;
}

/// One rank's matrices. Functions are collective unless they are said to be this rank's own.
template <Element T, Element D>
class Product {
 public:
  Product(const Comm& comm, const Context& context, const Problem& problem, const Parsed& parsed,
          const PlanOptions& options)
      : problem_(problem),
        context_(context),
        plan_(comm, context, problem.desc, layout_of(parsed, parsed.block[0], parsed.block[2], problem.desc.trans_a),
              layout_of(parsed, parsed.block[2], parsed.block[1], problem.desc.trans_b),
              layout_of(parsed, parsed.block[0], parsed.block[1], Transpose::no), options) {}

  /// Own.
  void allocate() {
    a_.emplace(context_, plan_.local(Role::a).elements), b_.emplace(context_, plan_.local(Role::b).elements);
    c_.emplace(context_, plan_.local(Role::c).elements);
    if (problem_.beta != 0.0) c0_.resize(std::size_t(c_->size()));
  }
  /// Null but on rank 0.
  void scatter(const T* a, const T* b, const D* c0) {
    plan_.scatter(Role::a, 0, a, a_->data()), plan_.scatter(Role::b, 0, b, b_->data());
    if (problem_.beta != 0.0) plan_.scatter(Role::c, 0, c0, c_->data());
  }
  /// Own: C0 is kept here, since an execution writes to C.
  void keep() { c_->download(c0_); }
  /// Own.
  void restore() { c_->upload(c0_); }
  void execute() { plan_.execute(problem_.alpha, a_->data(), b_->data(), problem_.beta, c_->data()); }
  void gather(D* d) { plan_.gather(Role::c, 0, c_->data(), d); }
  std::string describe() const { return plan_.describe(); }

 private:
  const Problem& problem_;
  const Context& context_;
  DistributedGemmPlan plan_;
  std::optional<Buffer<T>> a_, b_;
  std::optional<Buffer<D>> c_;
  std::vector<D> c0_;
};

/// A and B of type T, C0 and the output of type D. `job` is rank 0's.
template <Element T, Element D>
void multiply(const Arguments& arguments, const Parsed& parsed, const Ranks& ranks, const Problem& problem,
              GemmJob* job) {
  std::optional<Context> context;
  std::optional<Comm> comm;
  std::optional<Product<T, D>> product;
  std::vector<D> c0, d;
  ranks.together([&] {
    context.emplace(context_of(arguments.choice, ranks));
    if (job == nullptr) return;
    c0 = job->c0<D>();
    d.resize(std::size_t(problem.desc.m) * std::size_t(problem.desc.n));
  });
  ranks.together([&] { comm.emplace(mpi::comm(MPI_COMM_WORLD)); });
  const PlanOptions options{.operands = Memory::device, .algorithm = arguments.choice.algorithm};
  ranks.together([&] { product.emplace(*comm, *context, problem, parsed, options); });
  ranks.together([&] { product->allocate(); });
  ranks.together([&] {
    const bool is_root = job != nullptr;
    product->scatter(is_root ? job->operands().a.template data<T>() : nullptr,
                     is_root ? job->operands().b.template data<T>() : nullptr, c0.data());
  });
  ranks.together([&] { product->keep(); });
  const auto prepare = [&] { ranks.together([&] { product->restore(); }); };
  const auto execute = [&] {
    ranks.together([&] { product->execute(); });
    ranks.together([&] { context->synchronize(); });
  };
  const Timing timing = measure(prepare, execute, [&](double seconds) { return ranks.largest(seconds); });
  ranks.together([&] { product->gather(d.data()); });
  ranks.together([&] {
    if (job != nullptr) job->finish(d, product->describe(), timing);
  });
}

void run_gemm(const Arguments& arguments, const Parsed& parsed, const Ranks& ranks) {
  std::optional<GemmJob> job;
  ranks.together([&] {
    if (ranks.is_first()) job.emplace(arguments, parsed);
  });
  const Problem problem = problem_of(Numbers(ranks.from_first(job ? numbers_of(*job) : std::vector<std::int64_t>())));
  with_types(problem.desc.dtype, [&]<class T>(std::type_identity<T>) {
    const auto run = [&](auto multiply_as) { multiply_as(arguments, parsed, ranks, problem, job ? &*job : nullptr); };
    problem.desc.dtype_d == kDType<T> ? run(multiply<T, T>) : run(multiply<T, Scalar<T>>);
  });
}

}  // namespace

void add_mpi_gemm(CLI::App& app, Run& run, const Ranks& ranks) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* const command =
      add_gemm_command(app, "D <- alpha op(A) op(B) + beta C0, on matrices in .npy files.", *arguments);
  command
      ->add_option("--layout", arguments->layout,
                   "rows and columns of the grid of ranks, whose product is the number of ranks; 0: chosen here "
                   "(default: both are)")
      ->type_name("PxQ");
  command
      ->add_option("--block", arguments->block,
                   "elements of a block along m, n and k: matrices are dealt to the grid block by block, in turn; 0: "
                   "one block a rank (default: 0x0x0)")
      ->type_name("MxNxK");
  add_place(*command, arguments->choice);
  command->callback([arguments, &run, &ranks] {
    run = [arguments, &ranks, parsed = parse_all(*arguments)] { run_gemm(*arguments, parsed, ranks); };
  });
}

}  // namespace tessera::cli
