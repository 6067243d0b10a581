// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "gemm_cases.hpp"

namespace tessera::test {

namespace {

using List = std::vector<GemmCase>;

constexpr Bias kBiases[] = {Bias::none, Bias::per_row, Bias::per_column};
constexpr const char* kBiasNames[] = {"no bias", "bias per row", "bias per column", "gradient per row",
                                      "gradient per column"};
constexpr const char* kAuxNames[] = {"", ", stored before", ", derived"};
constexpr Activation kActivations[] = {Activation::none, Activation::relu,    Activation::gelu, Activation::gelu_tanh,
                                       Activation::silu, Activation::sigmoid, Activation::tanh};
constexpr const char* kActivationNames[] = {"no activation", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"};

/// Neighbours of the list differ in order, transposes and beta.
struct Variety {
  std::uint64_t count = 0;

  GemmDesc next(std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::uint64_t bits = count++ * 5;  // all eight in eight
    GemmDesc desc{.m = m, .n = n, .k = k};
    if ((bits & 1) != 0) desc.order = Order::column_major;
    if ((bits & 2) != 0) desc.trans_a = Transpose::yes;
    if ((bits & 4) != 0) desc.trans_b = Transpose::yes;
    return desc;
  }
};

std::string text(const GemmDesc& d) {
  std::string text =
      std::string(" ") + kBiasNames[int(d.bias)] + ", " + kActivationNames[int(d.activation)] + kAuxNames[int(d.aux)];
  text += d.order == Order::row_major ? ", row-" : ", column-";
  text += d.trans_a == Transpose::yes ? 't' : 'n';
  text += d.trans_b == Transpose::yes ? 't' : 'n';
  return text + " " + std::to_string(d.m) + "x" + std::to_string(d.n) + "x" + std::to_string(d.k);
}

/// Random data, and exact integers where the epilogue keeps them so.
void add(List& list, const std::string& name, const GemmDesc& desc, GemmResult result = GemmResult::in_c,
         bool f32_bias = false, bool essential = true) {
  const bool reads_c = result != GemmResult::instead_of_c;
  const auto push = [&](const char* kind, double alpha, double beta, GemmData data) {
    list.push_back({name + text(desc) + kind, desc, alpha, reads_c ? beta : 0.0, data, essential, result, f32_bias});
  };
  push(" random", 1.25, -0.5, GemmData::random);
  if (desc.activation != Activation::none && desc.activation != Activation::relu) return;
  push(" wide-a", 1.0, 0.0, GemmData::wide_a);
  push(" wide-b", -1.0, 2.0, GemmData::wide_b);
}

/// Every bias with every activation.
void add_pairs(List& list) {
  Variety variety;
  for (const Activation activation : kActivations)
    for (const Bias bias : kBiases) {
      if (bias == Bias::none && activation == Activation::none) continue;
      GemmDesc desc = variety.next(37, 29, 19);
      desc.bias = bias, desc.activation = activation;
      add(list, "epilogue", desc);
      desc = variety.next(65, 33, 17);
      desc.bias = bias, desc.activation = activation;
      desc.batch = 2;
      add(list, "epilogue of a batch", desc, GemmResult::beside_c, true, false);
    }
}

/// Bias and activation under every order and transpose, and on the shapes that algorithms treat specially: one line,
/// few lines, deep sums, partial tiles, many small matrices.
void add_shapes(List& list) {
  Variety variety;
  struct Shape {
    std::int64_t m, n, k, batch;
  };
  const Shape shapes[] = {{1, 1, 1, 1},      {1, 257, 64, 1},   {257, 1, 64, 1},   {1, 100, 1, 1},
                          {5, 131, 70, 1},   {131, 5, 70, 1},   {128, 128, 64, 1}, {129, 127, 40, 1},
                          {130, 257, 31, 1}, {64, 64, 2048, 1}, {17, 33, 4099, 1}, {4, 4, 4, 100},
                          {12, 16, 20, 51},  {27, 32, 40, 23},  {300, 1100, 9, 1}};
  for (const Shape& s : shapes) {
    ++variety.count;  // an odd number of variants a shape, so that either axis meets either order
    for (const Bias bias : {Bias::per_row, Bias::per_column}) {
      GemmDesc desc = variety.next(s.m, s.n, s.k);
      desc.batch = s.batch;
      desc.bias = bias;
      desc.activation = bias == Bias::per_row ? Activation::relu : Activation::gelu;
      add(list, "shape", desc, GemmResult::in_c, false, s.m * s.n < 1 << 15);
      desc.activation = bias == Bias::per_row ? Activation::silu : Activation::none;
      add(list, "shape", desc, GemmResult::beside_c, true, false);
    }
  }
  for (int i = 0; i < 8; ++i) {
    GemmDesc desc = variety.next(45, 53, 61);
    desc.bias = i % 3 == 0 ? Bias::per_row : Bias::per_column;
    desc.activation = Activation::relu;
    add(list, "order and transposes", desc);
  }
}

/// Where the values of the bias lie.
void add_bias_layouts(List& list) {
  Variety variety;
  for (const Bias bias : {Bias::per_row, Bias::per_column})
    for (const bool f32_bias : {false, true}) {
      GemmDesc desc = variety.next(23, 38, 11);
      desc.bias = bias;
      desc.bias_increment = 3;
      add(list, f32_bias ? "f32 bias, every third" : "bias, every third", desc, GemmResult::in_c, f32_bias);
      desc.batch = 3;
      desc.bias_stride = 131;
      add(list, f32_bias ? "f32 bias of a batch" : "bias of a batch", desc, GemmResult::beside_c, f32_bias);
      desc.bias_increment = 7, desc.bias_stride = 1;  // one between the other
      add(list, f32_bias ? "f32 bias, interleaved" : "bias, interleaved", desc, GemmResult::in_c, f32_bias);
      desc.bias_increment = 1, desc.bias_stride = 0;
      desc.activation = Activation::tanh;
      add(list, f32_bias ? "one f32 bias for all" : "one bias for all", desc, GemmResult::in_c, f32_bias);
    }
}

/// D beside C, each with distances of its own.
void add_results(List& list) {
  Variety variety;
  for (int i = 0; i < 8; ++i) {
    const GemmResult result = i % 3 == 2 ? GemmResult::instead_of_c : GemmResult::beside_c;
    GemmDesc desc = variety.next(33, 18, 25);
    if (i % 4 == 1) desc.bias = Bias::per_row, desc.activation = Activation::relu;
    if (i % 4 == 2) desc.bias = Bias::per_column, desc.activation = Activation::gelu_tanh;
    add(list, "D beside C", desc, result);
    desc.ldc = 41, desc.ldd = 37;
    add(list, "D beside C, ld", desc, result);
    desc.batch = 3;
    desc.stride_c = 41 * 33 + 5, desc.stride_d = 37 * 33 + 1;
    add(list, "D beside C, batch", desc, result);
    desc.stride_c = 0;
    add(list, "D beside one C", desc, result);
    desc.ldd = kPacked, desc.stride_d = kPacked;
    add(list, "packed D beside one C", desc, result);
    desc.ldd = 3 * 34, desc.stride_d = 34;
    add(list, "interleaved D beside one C", desc, result, false, false);
  }
  const GemmDesc tiles = variety.next(128, 256, 48);
  add(list, "D beside C, full tiles", tiles, GemmResult::beside_c);
  for (GemmDesc one : {variety.next(7, 5, 9), variety.next(5, 7, 9)}) {
    one.ldc = 13, one.ldd = 11, one.trans_b = one.order == Order::row_major ? Transpose::no : one.trans_b;
    add(list, "D beside C, ld, one tile", one, GemmResult::beside_c);
  }
  for (const GemmResult result : {GemmResult::beside_c, GemmResult::instead_of_c}) {
    GemmDesc desc = variety.next(65, 33, 17);
    list.push_back({"D beside C, beta 0 over NaN" + text(desc), desc, 0.5, 0.0, GemmData::nan_in_c, true, result});
    list.push_back({"D beside C, alpha 0" + text(desc), desc, 0.0, result == GemmResult::beside_c ? -2.0 : 0.0,
                    GemmData::null_a_and_b, true, result});
  }
}

/// Nothing to add up, NaN and the ends of the numbers, under an epilogue.
void add_special_values(List& list) {
  Variety variety;
  std::uint64_t count = 0;
  for (const Activation activation : kActivations)
    for (const Bias bias : kBiases) {
      if (bias == Bias::none && activation == Activation::none) continue;
      const bool is_exact = activation == Activation::none || activation == Activation::relu;
      const GemmResult result = count++ % 2 == 0 ? GemmResult::in_c : GemmResult::beside_c;
      GemmDesc desc = variety.next(21, 34, 17);
      desc.bias = bias, desc.activation = activation;
      const std::string name = text(desc);
      const auto push = [&](const char* kind, double alpha, double beta, GemmData data) {
        list.push_back({kind + name, desc, alpha, beta, data, bias != Bias::none, result, count % 3 == 0});
      };
      push("epilogue, NaN and Inf", 1.0, 0.0, GemmData::nan_and_inf);
      push("epilogue, NaN in C", 0.5, 0.5, GemmData::nan_in_c);
      push("epilogue, beta 0 over NaN", 0.5, 0.0, GemmData::nan_in_c);
      push("epilogue, alpha 0, NaN in A and B", 0.0, 0.5, GemmData::nan_everywhere);
      push("epilogue, alpha 0, beta 0", 0.0, 0.0, GemmData::null_a_and_b);
      if (is_exact) push("epilogue, denormals", 1.0, 1.0, GemmData::denormal);
      desc.k = 0;
      push("epilogue, k 0", 2.0, -1.5, GemmData::null_a_and_b);
      push("epilogue, k 0, beta 0", 2.0, 0.0, GemmData::null_a_and_b);
      if (is_exact || bias != Bias::none) continue;
      desc.m = 61, desc.n = 130;
      list.push_back({"activation of any number" + text(desc), desc, 0.0, 1.0, GemmData::random_bits, true, result});
    }
  for (const GemmDesc& desc : {variety.next(33, 65, 2), variety.next(130, 70, 33)})
    list.push_back({"overflow of f16" + text(desc), desc, 1.0, 0.0, GemmData::overflow, true});
}

/// What training needs: the value before the activation, its derivative, and gradients of biases.
void add_training(List& list) {
  Variety variety;
  struct Shape {
    std::int64_t m, n, k, batch;
  };
  const Shape shapes[] = {{37, 29, 19, 1},  {130, 257, 31, 1}, {5, 131, 70, 1},  {131, 3, 70, 1}, {21, 34, 0, 1},
                          {300, 600, 9, 1}, {9, 17, 12, 7},    {1100, 8, 24, 1}, {1, 1, 5, 1},    {64, 64, 64, 3}};
  constexpr Bias kGradients[] = {Bias::none, Bias::gradient_per_row, Bias::gradient_per_column};
  std::size_t count = 0;
  for (const Activation activation : kActivations)
    for (const Aux aux : {Aux::none, Aux::store, Aux::derivative})
      for (const Bias bias : aux == Aux::store ? kBiases : kGradients) {
        if (activation == Activation::none ? aux != Aux::none || bias == Bias::none : aux == Aux::none) continue;
        const Shape& s = shapes[count % std::size(shapes)];
        GemmDesc desc = variety.next(s.m, s.n, s.k);
        desc.batch = s.batch;
        desc.bias = bias, desc.activation = activation, desc.aux = aux;
        if (count % 3 == 1) desc.ldaux = (desc.order == Order::row_major ? s.n : s.m) + 3;
        if (count % 3 == 1 && s.batch > 1) desc.bias_stride = is_per_row(bias) ? s.m : s.n;
        if (count % 4 == 1) desc.bias_increment = 2, desc.bias_stride = 2 * desc.bias_stride;
        if (count % 5 == 3 && aux == Aux::derivative) desc.stride_aux = 0;
        add(list, "training", desc, count % 2 == 0 ? GemmResult::in_c : GemmResult::beside_c, count % 4 < 2);
        ++count;
      }
  for (const Shape& s : shapes)
    for (const Bias bias : {Bias::gradient_per_row, Bias::gradient_per_column})
      for (int order = 0; order < 2; ++order) {  // neighbours differ in it
        GemmDesc desc = variety.next(s.m, s.n, s.k);
        desc.batch = s.batch, desc.bias = bias;
        add(list, "gradient of a bias", desc);
      }
  for (const Activation activation : kActivations) {
    if (activation == Activation::none) continue;
    GemmDesc desc = variety.next(61, 130, 3);
    desc.activation = activation, desc.aux = Aux::derivative;
    list.push_back({"derivative at any number" + text(desc), desc, 0.0, 1.0, GemmData::random_bits, true});
    desc.aux = Aux::store;
    list.push_back({"NaN and Inf" + text(desc), desc, 1.0, 0.0, GemmData::nan_and_inf, true});
  }
}

}  // namespace

std::vector<GemmCase> gemm_epilogue_cases() {
  List list;
  add_pairs(list);
  add_shapes(list);
  add_bias_layouts(list);
  add_results(list);
  add_special_values(list);
  add_training(list);
  return list;
}

}  // namespace tessera::test
