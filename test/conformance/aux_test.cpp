// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// D keeps its bits beside aux, so that training sees what serving saw.

#include "runner.hpp"
#include "subject.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

/// D of an algorithm, with aux stored and without. Numbers that are not exact, so that other sums would show.
template <class T>
void same_bits_with_aux(Subject& subject, const std::string& name, GemmDesc desc, Tally& tally) {
  desc.dtype = kDType<T>;
  Random random("aux");
  std::vector<T> a(std::size_t(desc.m * desc.k)), b(std::size_t(desc.k * desc.n)), bias(std::size_t(desc.n));
  for (std::vector<T>* values : {&a, &b, &bias})
    for (T& value : *values) value = number<T>(random.uniform());
  std::vector<T> d(std::size_t(desc.m * desc.n)), beside(d.size()), before(d.size());
  try {
    desc.aux = Aux::store;
    GemmPlan stores(subject.context(), desc, {.algorithm = name});
    desc.aux = Aux::none;
    GemmPlan plain(subject.context(), desc, {.algorithm = stores.algorithm()});
    const Scalar<T> one = 1, zero = 0;
    stores.execute(one, a, b, zero, d, tessera::bias(bias), aux(before));
    plain.execute(one, a, b, zero, beside, tessera::bias(bias));
    ++tally.run;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    ++tally.refused[std::string(error.what()).substr(0, 160)];
    return;
  }
  INFO(name << ", activation " << int(desc.activation));
  CHECK(std::memcmp(d.data(), beside.data(), d.size() * sizeof(T)) == 0);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("D has the same bits whether aux is stored or not", "[gemm][aux]", ElementTypes) {
  Subject subject;
  for (const std::string& name : subject.tested(TESSERA_OP_GEMM)) {
    Tally tally;
    for (int activation = int(Activation::relu); activation <= int(Activation::tanh); ++activation)
      for (const auto& [m, n, k] : {std::array{37, 45, 700}, std::array{130, 260, 33}})
        same_bits_with_aux<TestType>(
            subject, name, {.m = m, .n = n, .k = k, .bias = Bias::per_column, .activation = Activation(activation)},
            tally);
    report(subject.spec() + "/" + name + " " + name_of(kDType<TestType>) + " beside aux", tally, true);
  }
}

}  // namespace tessera::test
