// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Ordered sums of products: a row of D has the same bits whatever other rows there are, where it stands, how operands
/// lie, and what algorithm computes it with what parameters.

#include "element_numbers.hpp"
#include "runner.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

namespace tessera::test {

namespace {

/// What the order of the sums may follow, and what is done to them.
struct Sum {
  std::int64_t n, k;
  bool trans_a, trans_b;
  double alpha, beta;
  Bias bias;
  Activation activation;
  Compute compute;
  bool tiny = false;
};

std::string text(const Sum& s) {
  return "n=" + std::to_string(s.n) + " k=" + std::to_string(s.k) + (s.trans_a ? " T" : " N") +
         (s.trans_b ? "T" : "N") + " alpha=" + std::to_string(s.alpha) + " beta=" + std::to_string(s.beta) + " bias " +
         std::to_string(int(s.bias)) + " activation " + std::to_string(int(s.activation)) + " compute " +
         std::to_string(int(s.compute));
}

/// What it must not follow: which rows of the whole there are, and how they lie.
struct Way {
  std::int64_t first, rows;
  std::int64_t batch = 1;
  std::int64_t padding = 0;  ///< between the rows or columns of each matrix, and before its first element
  Order order = Order::row_major;
  bool in_place = false;
  std::string algorithm = {};
  int sm_limit = 0;
  std::int64_t prepared_for = 0;  ///< op(B) is prepared for so many rows; 0: it is not

  /// The first row of a matrix of the batch, of so many of the whole.
  std::int64_t first_of(std::int64_t item, std::int64_t all) const { return (first + item) % (all - rows + 1); }
};

std::string text(const Way& w) {
  return "rows " + std::to_string(w.first) + " to " + std::to_string(w.first + w.rows - 1) + ", batch of " +
         std::to_string(w.batch) + ", padding " + std::to_string(w.padding) +
         (w.order == Order::row_major ? ", row-major" : ", column-major") + (w.in_place ? ", in place" : "") + ", '" +
         w.algorithm + "'" + (w.prepared_for > 0 ? ", prepared for " + std::to_string(w.prepared_for) : "");
}

/// A matrix without gaps, by rows.
template <class T>
struct Whole {
  std::int64_t rows, columns;
  std::vector<T> values;

  /// With `tiny` each third row has numbers whose products are subnormal in f32.
  Whole(std::int64_t r, std::int64_t c, Random& random, bool tiny = false) : rows(r), columns(c) {
    for (std::int64_t i = 0; i < r; ++i) {
      const int scale = tiny && random.bits() % 3 == 0 ? -66 : 0;
      for (std::int64_t j = 0; j < c; ++j)
        values.push_back(number<T>(std::ldexp(random.uniform(), scale + int(random.integer(-6, 6)))));
    }
  }
  T at(std::int64_t i, std::int64_t j) const { return values[std::size_t(i * columns + j)]; }
};

/// A part of a Whole in the memory of a device, another one for each matrix of a batch; all of it in each where it has
/// as many rows.
template <class T>
class Stored {
 public:
  /// `transposed`: as stored, against what the product sees.
  Stored(Context& context, const Way& way, const Whole<T>& whole, std::int64_t rows, bool transposed)
      : by_rows_((way.order == Order::row_major) != transposed),
        rows_(rows),
        columns_(whole.columns),
        ld_(std::max<std::int64_t>(1, (by_rows_ ? columns_ : rows_) + way.padding)),
        before_(way.padding),
        stride_((by_rows_ ? rows_ : columns_) * ld_),
        values_(std::size_t(before_ + way.batch * stride_), number<T>(std::nan(""))),
        buffer_(context, std::int64_t(values_.size())) {
    for (std::int64_t item = 0; item < way.batch; ++item)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns_; ++j)
          values_[place(item, i, j)] = whole.at(i + (rows == whole.rows ? 0 : way.first_of(item, whole.rows)), j);
    buffer_.upload(values_);
  }
  T* data() { return buffer_.data() + before_; }
  /// The rows of one matrix of the batch, one after the other.
  std::vector<T> download(std::int64_t item) {
    buffer_.download(values_);
    std::vector<T> rows;
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < columns_; ++j) rows.push_back(values_[place(item, i, j)]);
    return rows;
  }

 private:
  std::size_t place(std::int64_t item, std::int64_t i, std::int64_t j) const {
    return std::size_t(before_ + item * stride_ + (by_rows_ ? i * ld_ + j : j * ld_ + i));
  }

  bool by_rows_;
  std::int64_t rows_, columns_, ld_, before_, stride_;
  std::vector<T> values_;
  Buffer<T> buffer_;
};

/// The rows of a product, and their bits as an automatic plan of all of them finds them.
template <class T, class D, class U>
class OrderedProduct {
  using S = Scalar<D>;

 public:
  OrderedProduct(Subject& subject, const Sum& sum, std::int64_t rows, Random& random)
      : subject_(subject),
        sum_(sum),
        a_(rows, sum.k, random, sum.tiny),
        b_(sum.k, sum.n, random, sum.tiny),
        c_(rows, sum.n, random),
        bias_(1, sum.bias == Bias::per_row ? rows : sum.n, random),
        rows_(rows) {
    can_ = find(Order::row_major);
  }

  /// Whether there is a plan: a backend that is not complete may refuse.
  bool can() const { return can_; }

  const std::string& algorithm() const { return automatic_; }

  /// Compares with the bits of the whole. An algorithm may refuse.
  void run(const Way& way, Tally& tally) {
    auto plan = plan_of(way);
    if (!plan && way.algorithm.empty()) FAIL_CHECK(text(sum_) << ": " << text(way) << " has no plan, all rows have");
    if (!plan) {
      ++tally.refused["refused"];
      return;
    }
    ++tally.run;
    if (!bits_.contains(way.order)) find(way.order);
    std::int64_t item = 0;
    for (const std::vector<D>& rows : execute(*plan, way)) {
      const auto* expected = bits_.at(way.order).data() + way.first_of(item++, rows_) * sum_.n;
      std::size_t different = 0, last = 0;
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (std::memcmp(&rows[i], expected + i, sizeof(D)) != 0) ++different, last = i;
      if (different == 0) continue;
      ++tally.failed;
      FAIL_CHECK(text(sum_) << ": " << text(way) << " by " << plan->algorithm() << ": " << different << " of "
                            << rows.size() << " elements have other bits than in " << rows_ << " rows by " << automatic_
                            << "; element " << last << " has " << double(wide(rows[last])) << " for "
                            << double(wide(expected[last])));
      return;
    }
  }

  /// By tiles of which a cluster, where one has slices, takes several; and with a limit.
  void run_in_clusters(Tally& tally) {
    for (const int limit : {0, 6})
      run({.first = 0, .rows = rows_, .algorithm = "warpgroup:tile_m=8,tile_n=64", .sm_limit = limit}, tally);
  }

  /// A bias and an activation at the end, of sums in the type of D.
  void check_epilogue() {
    if constexpr (std::is_same_v<D, S>) {
      const Sum bare_sum = sum_;
      const std::vector<D>& bare = bits_.at(Order::row_major);
      sum_.bias = Bias::per_column, sum_.activation = Activation::relu;
      const Way all{0, rows_};
      auto plan = plan_of(all);
      REQUIRE(plan);
      const std::vector<D> fused = execute(*plan, all).front();
      std::size_t different = 0;
      for (std::size_t i = 0; i < bare.size(); ++i)
        different += fused[i] != std::max(D(0), bare[i] + bias_.at(0, std::int64_t(i) % sum_.n));
      CHECK(different == 0);
      sum_ = bare_sum;
    }
  }

 private:
  /// The bits of all rows.
  bool find(Order order) {
    const Way all{.first = 0, .rows = rows_, .order = order};
    auto plan = plan_of(all);
    if (!plan && !subject_.is_complete()) return false;
    REQUIRE(plan);
    bits_[order] = execute(*plan, all).front();
    return true;
  }

  GemmDesc desc_of(const Way& way) const {
    const std::int64_t m = way.rows;
    GemmDesc d{.m = m,
               .n = sum_.n,
               .k = sum_.k,
               .dtype = kDType<T>,
               .order = way.order,
               .batch = way.batch,
               .compute = sum_.compute,
               .dtype_b = kDType<U>,
               .dtype_d = kDType<D>,
               .bias = sum_.bias,
               .activation = sum_.activation,
               .sums = Sums::ordered};
    d.trans_a = sum_.trans_a ? Transpose::yes : Transpose::no;
    d.trans_b = sum_.trans_b ? Transpose::yes : Transpose::no;
    const auto ld = [&](std::int64_t rows, std::int64_t columns, bool transposed) {
      return std::max<std::int64_t>(1, ((way.order == Order::row_major) != transposed ? columns : rows) + way.padding);
    };
    if (sum_.bias == Bias::per_row) d.bias_stride = m;
    d.lda = ld(m, sum_.k, sum_.trans_a), d.ldb = ld(sum_.k, sum_.n, sum_.trans_b), d.ldc = ld(m, sum_.n, false);
    return d;
  }

  std::optional<GemmPlan> plan_of(const Way& way) {
    PlanOptions options{.operands = Memory::device, .algorithm = way.algorithm, .sm_limit = way.sm_limit};
    try {
      std::optional<PreparedOperand> prepared;
      if (way.prepared_for > 0) {
        GemmDesc desc = desc_of(way);
        desc.m = way.prepared_for, desc.lda = desc.ldc = kPacked;
        Stored<U> b(subject_.context(), way, b_, sum_.k, sum_.trans_b);
        prepared = prepare(subject_.context(), desc, b.data(), options);
        options.prepared = &*prepared;
      }
      GemmPlan plan(subject_.context(), desc_of(way), options);
      if (!way.algorithm.empty())
        subject_.check_forced(plan, way.algorithm.substr(0, way.algorithm.find(':')));
      else if (automatic_.empty())
        automatic_ = plan.algorithm();
      return plan;
    } catch (const Error& error) {
      const bool guessed = way.algorithm.find(':') != std::string::npos;
      if (error.code() != ErrorCode::unsupported && !(guessed && error.code() == ErrorCode::invalid_argument)) throw;
      return {};
    }
  }

  std::vector<std::vector<D>> execute(GemmPlan& plan, const Way& way) {
    Context& context = subject_.context();
    Stored<T> a(context, way, a_, way.rows, sum_.trans_a);
    Stored<U> stored_b(context, way, b_, sum_.k, sum_.trans_b);
    U* const b = way.prepared_for > 0 ? nullptr : stored_b.data();
    Stored<D> c(context, way, c_, way.rows, false), d(context, way, c_, way.rows, false);
    std::vector<D> values = bias_.values;
    if (sum_.bias == Bias::per_row) {
      values.clear();
      for (std::int64_t item = 0; item < way.batch; ++item) {
        const auto from = bias_.values.begin() + way.first_of(item, rows_);
        values.insert(values.end(), from, from + way.rows);
      }
    }
    Buffer<D> bias_values(context, std::int64_t(values.size()));
    bias_values.upload(values);
    const S alpha = S(sum_.alpha), beta = S(sum_.beta);
    const auto run = [&](auto&&... bias) {
      if (way.in_place)
        plan.execute(alpha, a.data(), b, beta, d.data(), bias...);
      else
        plan.execute(alpha, a.data(), b, beta, c.data(), d.data(), bias...);
    };
    if (sum_.bias == Bias::none)
      run();
    else
      run(bias(bias_values.data()));
    std::vector<std::vector<D>> results;
    for (std::int64_t item = 0; item < way.batch; ++item) results.push_back(d.download(item));
    return results;
  }

  Subject& subject_;
  Sum sum_;
  Whole<T> a_;
  Whole<U> b_;
  Whole<D> c_, bias_;
  std::int64_t rows_;
  bool can_;
  std::string automatic_;
  std::map<Order, std::vector<D>> bits_;
};

/// Mostly short, as slices and blocks of k are; some long.
std::int64_t length(Random& random, std::int64_t most) {
  return std::int64_t(std::exp(std::log(double(most)) * (1.0 + random.uniform()) / 2.0));
}

/// The number-th one: the first few have something of their own.
Sum draw_sum(Random& random, Compute compute, int number) {
  const double factors[] = {1.0, 0.0, -0.75};
  Sum s{length(random, 400),
        length(random, 5000),
        random.bits() % 2 == 0,
        random.bits() % 2 == 0,
        random.bits() % 2 ? 1 : 1.5,
        factors[random.bits() % 3],
        Bias::none,
        Activation::none,
        compute};
  if (random.bits() % 4 == 0) s.bias = random.bits() % 2 == 0 ? Bias::per_row : Bias::per_column;
  if (random.bits() % 4 == 0) s.activation = Activation::gelu;
  if (number == 0) s.alpha = 1.0, s.beta = 0.0, s.bias = Bias::none, s.activation = Activation::none;
  if (number == 1) s.n = 2100 + s.n, s.k = 1100;  // columns that count as many everywhere, and slices of f64
  if (number % 4 == 2) s.tiny = true, s.k += 100;
  if (number == 2) s.n = 1 + s.n / 2, s.k += 4100;  // slices of warpgroup
  if (number == 3) (random.bits() % 2 == 0 ? s.alpha : s.beta) = 0.0, s.k *= std::int64_t(random.bits() % 2);
  return s;
}

std::vector<Way> draw_ways(Random& random, std::int64_t rows) {
  std::vector<Way> ways;
  for (const std::int64_t most : {std::int64_t(1), std::int64_t(4), std::int64_t(16), std::int64_t(64), rows}) {
    const std::int64_t count = random.integer(1, std::min(most, rows));
    Way way{random.integer(0, rows - count), count};
    way.batch = random.bits() % 3 == 0 ? 3 : 1, way.padding = random.bits() % 2 == 0 ? 0 : random.integer(1, 9);
    way.order = random.bits() % 3 == 0 ? Order::column_major : Order::row_major, way.in_place = random.bits() % 2 == 0;
    way.prepared_for = random.bits() % 3 == 0 ? random.integer(1, 300) : 0;
    ways.push_back(way);
  }
  return ways;
}

template <class T, class D, class U = T>
void run_products(Compute compute, int products) {
  Subject subject;
  const auto names = subject.tested(TESSERA_OP_GEMM);
  const std::string what = std::string(name_of(kDType<T>)) + "*" + name_of(kDType<U>) + "->" + name_of(kDType<D>) +
                           " " + std::to_string(int(compute)) + " ordered";
  Random random("products of ordered sums " + what);
  std::vector<Tally> tallies(names.size());
  Tally automatic;
  INFO("repeat with TESSERA_TEST_SEED=" << seed());
  for (int i = 0; i < products; ++i) {
    const Sum sum = draw_sum(random, compute, i);
    const std::int64_t rows = i == 2 ? 300 : random.integer(1, 300);
    OrderedProduct<T, D, U> product(subject, sum, rows, random);
    if (!product.can()) {
      ++automatic.refused["refused"];
      for (Tally& tally : tallies) ++tally.refused["refused"];
      continue;
    }
    if (sum.alpha == 1.0 && sum.beta == 0.0 && sum.bias == Bias::none && sum.activation == Activation::none)
      product.check_epilogue();
    for (Way way : draw_ways(random, rows)) {
      product.run(way, automatic);
      for (std::size_t at = 0; at < names.size(); ++at) {
        way.algorithm = names[at];
        if (tallies[at].failed < 5) product.run(way, tallies[at]);
      }
      const std::vector<std::string> others = neighbours(product.algorithm());
      for (std::size_t other = 0; other < others.size(); other += 1 + random.bits() % 4) {
        way.algorithm = others[other];
        product.run(way, automatic);
      }
    }
    if (i == 2) product.run_in_clusters(automatic);
    if (automatic.failed > 4) break;
  }
  report(subject.spec() + " " + what, automatic, !subject.is_complete());
  for (std::size_t at = 0; at < names.size(); ++at)
    report(subject.spec() + "/" + names[at] + " " + what, tallies[at], true);
}

int product_count() { return short_list() > 0 ? 4 : sample_of() > 1 ? 8 : 60; }

}  // namespace

TEMPLATE_TEST_CASE("ordered sums of products have the same bits for a row alone and among others", "[gemm][ordered]",
                   float, double, float16, bfloat16) {
  run_products<TestType, TestType>(Compute::strict, product_count());
  if constexpr (kNarrow<TestType>) run_products<TestType, float>(Compute::strict, product_count());
}

TEST_CASE("so have products of f32 in other arithmetic", "[gemm][ordered]") {
  for (const Compute compute : {Compute::bf16x6, Compute::f16x3, Compute::tf32})
    run_products<float, float>(compute, product_count());
}

TEST_CASE("and products of two types", "[gemm][ordered][mixed]") {
  run_products<float, float, bfloat16>(Compute::strict, product_count());
  run_products<float, float, bfloat16>(Compute::bf16x6, product_count());
  run_products<float16, float, float>(Compute::bf16x6, product_count());
  run_products<double, double, float>(Compute::strict, product_count());
}

}  // namespace tessera::test
