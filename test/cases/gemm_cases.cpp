// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "gemm_cases.hpp"

#include <utility>

namespace tessera::test {

namespace {

constexpr Order kOrders[] = {Order::row_major, Order::column_major};
constexpr Transpose kTransposes[] = {Transpose::no, Transpose::yes};

using List = std::vector<GemmCase>;

std::string shape(std::int64_t m, std::int64_t n, std::int64_t k) {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

std::string kind(const GemmDesc& d) {
  std::string text = d.order == Order::row_major ? "row-" : "column-";
  text += d.trans_a == Transpose::yes ? 't' : 'n';
  text += d.trans_b == Transpose::yes ? 't' : 'n';
  return text;
}

GemmDesc sizes(std::int64_t m, std::int64_t n, std::int64_t k) { return {.m = m, .n = n, .k = k}; }

/// Random data against the bound, and exact integers with either operand the wide one.
void add_exact_and_random(List& list, const std::string& name, const GemmDesc& desc, bool essential) {
  list.push_back({name + " random", desc, 1.25, -0.5, GemmData::random, essential});
  list.push_back({name + " wide-a", desc, 1.0, 0.0, GemmData::wide_a, essential});
  list.push_back({name + " wide-b", desc, -1.0, 2.0, GemmData::wide_b, essential});
}

/// One below, at and above every usual tile width, in all three sizes.
void add_tiles(List& list) {
  for (const std::int64_t t : {8, 16, 32, 64, 128}) {
    const GemmDesc around[] = {sizes(t, t, t), sizes(t - 1, t, t + 1), sizes(t, t + 1, t - 1), sizes(t + 1, t - 1, t)};
    for (const GemmDesc& desc : around)
      add_exact_and_random(list, "tile " + shape(desc.m, desc.n, desc.k), desc, t == 32 || (t == 128 && desc.k != t));
  }
}

void add_transposes(List& list) {
  for (const GemmDesc& shaped :
       {sizes(3, 5, 7), sizes(3, 5, 700), sizes(33, 65, 17), sizes(129, 127, 130), sizes(64, 192, 40)})
    for (const Order order : kOrders)
      for (const Transpose trans_a : kTransposes)
        for (const Transpose trans_b : kTransposes) {
          GemmDesc desc = shaped;
          desc.order = order, desc.trans_a = trans_a, desc.trans_b = trans_b;
          add_exact_and_random(list, kind(desc) + " " + shape(desc.m, desc.n, desc.k), desc, desc.m == 129);
        }
}

void add_odd_shapes(List& list) {
  const GemmDesc shapes[] = {
      sizes(1, 1, 1),     sizes(1, 1, 2),      sizes(2, 1, 1),        sizes(1, 2, 1),       sizes(2, 3, 5),
      sizes(7, 11, 13),   sizes(31, 37, 41),   sizes(61, 67, 71),     sizes(101, 103, 107), sizes(1, 257, 64),
      sizes(257, 1, 64),  sizes(1, 100, 1),    sizes(100, 1, 1),      sizes(1, 1, 1000),    sizes(2, 1021, 3),
      sizes(1021, 2, 3),  sizes(4, 1000, 129), sizes(1000, 4, 129),   sizes(16, 16, 1),     sizes(130, 130, 2),
      sizes(3, 5, 10007), sizes(17, 33, 4099), sizes(128, 128, 2048), sizes(257, 263, 269), sizes(513, 769, 130)};
  for (const GemmDesc& desc : shapes)
    add_exact_and_random(list, "shape " + shape(desc.m, desc.n, desc.k), desc,
                         desc.m == 61 || desc.k == 4099 || desc.k == 2048 || desc.n == 769);
  add_exact_and_random(list, "few rows 5x1031x300", sizes(5, 1031, 300), false);       // B outgrows a cache
  add_exact_and_random(list, "few columns 300x9x2900", sizes(300, 9, 2900), false);    // so does a panel of B
  add_exact_and_random(list, "tall 2309x33x40", sizes(2309, 33, 40), false);           // beyond a block of rows
  add_exact_and_random(list, "blocked 300x1100x1000", sizes(300, 1100, 1000), false);  // beyond usual cache blocks
}

void add_empty(List& list) {
  for (const std::int64_t m : {0, 5})
    for (const std::int64_t n : {0, 7})
      for (const std::int64_t k : {0, 3})
        for (const std::int64_t batch : {0, 1, 2}) {
          if (m * n * k * batch != 0) continue;
          GemmDesc desc = sizes(m, n, k);
          desc.batch = batch;
          const std::string name = "empty " + shape(m, n, k) + " batch " + std::to_string(batch);
          list.push_back({name, desc, 1.5, 0.5, GemmData::random, k == 0});
          list.push_back({name + " beta 0", desc, 1.5, 0.0, GemmData::nan_in_c, k == 0});
        }
}

void add_leading_dimensions(List& list) {
  for (const Order order : kOrders)
    for (const Transpose trans_a : kTransposes)
      for (const Transpose trans_b : kTransposes) {
        GemmDesc desc = sizes(45, 53, 61);
        desc.order = order, desc.trans_a = trans_a, desc.trans_b = trans_b;
        desc.lda = 62, desc.ldb = 69, desc.ldc = 57;
        add_exact_and_random(list, "ld a little larger " + kind(desc), desc, trans_a == trans_b);
        desc.lda = 1031, desc.ldb = 517, desc.ldc = 2053;
        list.push_back({"ld much larger " + kind(desc), desc, 1.0, 0.5, GemmData::random});
        desc.lda = 64, desc.ldb = 72, desc.ldc = 64;  // of whole vectors, in which rows end
        add_exact_and_random(list, "ld of whole vectors " + kind(desc), desc, trans_a == trans_b);
      }
  GemmDesc aligned = sizes(128, 128, 64);  // sizes of a full tile, but rows that no vector load is aligned with
  aligned.lda = 65, aligned.ldb = 129, aligned.ldc = 131;
  add_exact_and_random(list, "ld odd", aligned, true);
}

void add_batches(List& list) {
  for (const Order order : kOrders)
    for (const std::int64_t batch : {2, 3, 7}) {
      GemmDesc desc = sizes(33, 18, 25);
      desc.order = order, desc.batch = batch;
      const std::string name = "batch " + std::to_string(batch) + " " + kind(desc);
      add_exact_and_random(list, name + " packed", desc, batch == 3);
      desc.stride_a = 33 * 25 + 5, desc.stride_b = 18 * 25 + 131, desc.stride_c = 33 * 18 + 1;
      add_exact_and_random(list, name + " gaps", desc, false);
      desc.stride_a = 0;
      add_exact_and_random(list, name + " one A", desc, false);
      desc.stride_b = 0;
      add_exact_and_random(list, name + " one A and B", desc, batch == 3);
      desc.trans_a = desc.trans_b = Transpose::yes;
      desc.lda = 40, desc.ldb = 41, desc.ldc = 50;
      desc.stride_a = 1801, desc.stride_b = kPacked, desc.stride_c = 2000;
      add_exact_and_random(list, name + " ld and gaps", desc, batch == 3);
    }
  GemmDesc interleaved = sizes(19, 23, 29);  // row i of every matrix, then row i + 1 of every matrix
  interleaved.batch = 3;
  interleaved.lda = 3 * 29, interleaved.stride_a = 29;
  interleaved.ldb = 3 * 23, interleaved.stride_b = 23;
  interleaved.ldc = 3 * 23, interleaved.stride_c = 23;
  add_exact_and_random(list, "batch 3 interleaved", interleaved, true);
  GemmDesc many = sizes(4, 4, 4);
  many.batch = 1000;
  add_exact_and_random(list, "batch 1000", many, true);
  // Small matrices with depths beyond their size, more than a block of a GPU takes at once.
  for (GemmDesc desc : {sizes(4, 4, 8), sizes(8, 7, 9), sizes(12, 16, 20), sizes(27, 32, 40)})
    for (const Transpose trans_a : kTransposes)
      for (const Transpose trans_b : kTransposes) {
        desc.trans_a = trans_a, desc.trans_b = trans_b;
        desc.batch = 600 / desc.m + 1;
        add_exact_and_random(list, "small batch " + kind(desc) + " " + shape(desc.m, desc.n, desc.k), desc, false);
      }
}

/// Matrices of a single row or column, whose leading dimension nobody multiplies: it may be as large as it likes.
void add_single_lines(List& list) {
  constexpr std::int64_t huge = std::int64_t{1} << 58;  // 2^61 bytes of f64
  const auto add = [&](const char* name, GemmDesc desc) {
    for (const Order order : kOrders) {
      desc.order = order;
      if (order == Order::column_major) {  // the same product, transposed
        std::swap(desc.m, desc.n), std::swap(desc.lda, desc.ldb), std::swap(desc.trans_a, desc.trans_b);
      }
      add_exact_and_random(list, std::string("single line ") + name + " " + kind(desc), desc, true);
    }
  };
  GemmDesc desc = sizes(1, 37, 19);
  desc.lda = desc.ldc = huge;
  add("of A and C", desc);
  desc = sizes(37, 29, 1);
  desc.ldb = huge;
  add("of B", desc);
  desc.trans_a = Transpose::yes;
  desc.lda = huge;
  add("of A and B", desc);
  desc = sizes(130, 1, 40);
  desc.trans_b = Transpose::yes;
  desc.ldb = huge;
  add("of B", desc);
  desc = sizes(23, 31, 17);
  desc.stride_a = desc.stride_b = desc.stride_c = huge;
  add("of matrices", desc);
}

/// Every pair of the interesting alphas and betas, on a shape with partial tiles on all sides.
void add_scalars(List& list) {
  for (const double alpha : {0.0, 1.0, -1.0, 0.7, 3.0})
    for (const double beta : {0.0, 1.0, -1.0, 0.3, 2.0}) {
      const std::string name = "alpha " + std::to_string(alpha) + " beta " + std::to_string(beta);
      list.push_back({name, sizes(37, 29, 19), alpha, beta, GemmData::random, alpha != 1.0 && beta != 1.0});
      list.push_back({name + " full tiles", sizes(128, 128, 32), alpha, beta, GemmData::random});
    }
}

void add_special_values(List& list) {
  for (const GemmDesc& desc : {sizes(5, 3, 2), sizes(65, 33, 17), sizes(128, 128, 64), sizes(130, 257, 31)}) {
    const std::string name = " " + shape(desc.m, desc.n, desc.k);
    list.push_back({"beta 0 over NaN" + name, desc, 0.5, 0.0, GemmData::nan_in_c, true});
    list.push_back({"NaN in C passes" + name, desc, 0.5, 0.5, GemmData::nan_in_c, true});
    list.push_back({"alpha 0, NaN in A and B" + name, desc, 0.0, 0.5, GemmData::nan_everywhere, true});
    list.push_back({"alpha 0, beta 0, NaN in A and B" + name, desc, 0.0, 0.0, GemmData::nan_everywhere, true});
    list.push_back({"alpha 0, no A and B" + name, desc, 0.0, -2.0, GemmData::null_a_and_b, true});
    list.push_back({"k 0, no A and B" + name, sizes(desc.m, desc.n, 0), 2.0, 0.25, GemmData::null_a_and_b, true});
    list.push_back(
        {"k 0, beta 0, no A and B" + name, sizes(desc.m, desc.n, 0), 2.0, 0.0, GemmData::null_a_and_b, true});
    list.push_back({"NaN and Inf" + name, desc, 1.0, 0.0, GemmData::nan_and_inf, true});
    list.push_back({"NaN and Inf, beta" + name, desc, -0.5, 1.5, GemmData::nan_and_inf});
    list.push_back({"denormals" + name, desc, 1.0, 0.0, GemmData::denormal, true});
    list.push_back({"denormals, beta" + name, desc, 1.0, 1.0, GemmData::denormal, true});
    list.push_back({"denormal products" + name, desc, 1.0, 0.0, GemmData::denormal_products, true});
  }
  // Blocks of B with and without, where there are blocks.
  for (const Transpose trans : kTransposes) {
    GemmDesc desc = sizes(20, 700, 1003);
    desc.trans_a = desc.trans_b = trans;
    list.push_back({"denormal products " + kind(desc) + " 20x700x1003", desc, 1.0, 0.0, GemmData::denormal_products});
  }
}

}  // namespace

std::vector<GemmCase> gemm_cases() {
  List list;
  add_tiles(list);
  add_transposes(list);
  add_odd_shapes(list);
  add_empty(list);
  add_leading_dimensions(list);
  add_batches(list);
  add_single_lines(list);
  add_scalars(list);
  add_special_values(list);
  for (GemmCase& c : gemm_epilogue_cases()) list.push_back(std::move(c));
  return list;
}

}  // namespace tessera::test
