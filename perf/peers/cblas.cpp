// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "library_peers.hpp"

#include <dlfcn.h>

#include <complex>
#include <cstdint>
#include <tuple>
#include <utility>

namespace tessera::perf {

Library::Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) {
  if (handle_ == nullptr) throw std::runtime_error(dlerror());
}

void Library::close() {
  if (handle_ != nullptr) dlclose(handle_);
  handle_ = nullptr;
}

void* Library::symbol(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (found == nullptr) throw std::runtime_error(dlerror());
  return found;
}

namespace {

template <class Int>
class Cblas : public Competitor {
  template <class T>
  using Gemm = void(int order, int trans_a, int trans_b, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b,
                    Int ldb, T beta, T* c, Int ldc);
  template <class T>
  using ComplexGemm = void(int order, int trans_a, int trans_b, Int m, Int n, Int k, const T* alpha, const T* a,
                           Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc);
  template <class T>
  using Syrk = void(int order, int uplo, int trans, Int n, Int k, T alpha, const T* a, Int lda, T beta, T* c, Int ldc);

 public:
  Cblas(std::string name, std::string version, const Library& library, const LibraryNames& names)
      : name_(std::move(name)),
        version_(std::move(version)),
        functions_(library.find<Gemm<float>>(names.of("cblas_sgemm")),
                   library.find<Gemm<double>>(names.of("cblas_dgemm"))),
        symmetric_(library.find<Syrk<float>>(names.of("cblas_ssyrk")),
                   library.find<Syrk<double>>(names.of("cblas_dsyrk"))),
        complex_(library.find<ComplexGemm<std::complex<float>>>(names.of("cblas_cgemm")),
                 library.find<ComplexGemm<std::complex<double>>>(names.of("cblas_zgemm"))) {}

  std::string name() const override { return name_; }
  std::string version() const override { return version_; }
  std::string unsupported(const Problem& p) const override {
    if (p.gemm.triangle == TESSERA_TRIANGLE_MIRRORED) return "it has ssyrk and dsyrk";
    return p.op != Op::gemm ? "it is a BLAS" : p.is_plain() || p.kind.is_complex ? "" : "it has sgemm and dgemm";
  }
  bool computes_triangles() const override { return true; }
  bool multiplies_complex() const override { return true; }
  Execute prepare(const Problem& p) override {
    if (p.kind.is_complex)
      return with_types<ComplexTypes>(p.kind.element(), [&]<class T>(std::type_identity<T>) {
        return prepare_as<T>(std::get<ComplexGemm<T>*>(complex_), p.gemm);
      });
    return with_types<WideTypes>(p.kind.dtype, [&]<class T>(std::type_identity<T>) {
      return p.gemm.is_triangle() ? prepare_symmetric(std::get<Syrk<T>*>(symmetric_), p.gemm)
                                  : prepare_as<T>(std::get<Gemm<T>*>(functions_), p.gemm);
    });
  }

 private:
  template <class T, class Function>
  static Execute prepare_as(Function* gemm, const GemmShape& g) {
    return [gemm, g](const void* const* in, void* out) {
      constexpr int row_major = 101, no = 111, yes = 112;
      const T one(1), beta(g.beta);
      // Complex numbers come by pointers.
      const auto scalar = [](const T& value) {
        if constexpr (is_complex(kDType<T>))
          return &value;
        else
          return value;
      };
      for (std::int64_t l = 0; l < g.batch; ++l)
        gemm(row_major, g.trans_a ? yes : no, g.trans_b ? yes : no, Int(g.m), Int(g.n), Int(g.k), scalar(one),
             static_cast<const T*>(in[0]) + l * g.stride_a, Int(g.lda), static_cast<const T*>(in[1]) + l * g.stride_b,
             Int(g.ldb), scalar(beta), static_cast<T*>(out) + l * g.stride_c, Int(g.ldc));
    };
  }
  template <class T>
  static Execute prepare_symmetric(Syrk<T>* syrk, const GemmShape& g) {
    return [syrk, g](const void* const* in, void* out) {
      constexpr int row_major = 101, lower = 122, no = 111, yes = 112;
      for (std::int64_t l = 0; l < g.batch; ++l)
        syrk(row_major, lower, g.trans_a ? yes : no, Int(g.n), Int(g.k), T(1),
             static_cast<const T*>(in[0]) + l * g.stride_a, Int(g.lda), T(g.beta),
             static_cast<T*>(out) + l * g.stride_c, Int(g.ldc));
    };
  }

  std::string name_, version_;
  std::tuple<Gemm<float>*, Gemm<double>*> functions_;
  std::tuple<Syrk<float>*, Syrk<double>*> symmetric_;
  std::tuple<ComplexGemm<std::complex<float>>*, ComplexGemm<std::complex<double>>*> complex_;
};

}  // namespace

std::unique_ptr<Competitor> make_cblas(std::string name, std::string version, const Library& library,
                                       const LibraryNames& names) {
  if (names.wide) return std::make_unique<Cblas<std::int64_t>>(std::move(name), std::move(version), library, names);
  return std::make_unique<Cblas<int>>(std::move(name), std::move(version), library, names);
}

}  // namespace tessera::perf
