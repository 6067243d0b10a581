// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// oneDNN: its sgemm, and its matmul of bf16, whose interface is that of version 3.

#include "library_peers.hpp"

#include <array>
#include <optional>
#include <utility>

namespace tessera::perf {

namespace {

struct Version {
  int major, minor, patch;
};

using Sgemm = int(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                  const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                  std::int64_t ldc);
using Handle = void*;
using Dims = std::array<std::int64_t, 12>;
struct Argument {
  int role;
  Handle memory;
};
enum Role { kSource = 1, kDestination = 17, kWeights = 33 };

void succeed(int status, const char* what) {
  if (status != 0) throw std::runtime_error(std::string(what) + " failed with status " + std::to_string(status));
}

/// The functions that a matmul takes, as dnnl.h declares them.
struct Functions {
  int (*engine_create)(Handle*, int kind, std::size_t index);
  int (*stream_create)(Handle*, Handle engine, unsigned flags);
  int (*memory_desc)(Handle*, int rank, const std::int64_t* dims, int type, const std::int64_t* strides);
  int (*memory_create)(Handle*, Handle desc, Handle engine, void* data);
  int (*set_data)(Handle memory, void* data);
  int (*matmul_desc)(Handle*, Handle engine, Handle a, Handle b, Handle bias, Handle c, Handle attributes);
  int (*primitive_create)(Handle*, Handle desc);
  int (*execute)(Handle primitive, Handle stream, int count, const Argument* arguments);
  int (*wait)(Handle stream);
  int (*memory_desc_destroy)(Handle);
  int (*memory_destroy)(Handle);
  int (*matmul_desc_destroy)(Handle);
  int (*primitive_destroy)(Handle);

  explicit Functions(const Library& library) {
    const auto find = [&library]<class F>(F*& function, const char* name) { function = library.find<F>(name); };
    find(engine_create, "dnnl_engine_create"), find(stream_create, "dnnl_stream_create");
    find(memory_desc, "dnnl_memory_desc_create_with_strides"), find(memory_create, "dnnl_memory_create");
    find(set_data, "dnnl_memory_set_data_handle"), find(matmul_desc, "dnnl_matmul_primitive_desc_create");
    find(primitive_create, "dnnl_primitive_create"), find(execute, "dnnl_primitive_execute");
    find(wait, "dnnl_stream_wait"), find(memory_desc_destroy, "dnnl_memory_desc_destroy");
    find(memory_destroy, "dnnl_memory_destroy"), find(matmul_desc_destroy, "dnnl_primitive_desc_destroy");
    find(primitive_destroy, "dnnl_primitive_destroy");
  }
};

/// A matmul of one problem. Its engine and stream live as long as the process.
class Matmul {
 public:
  Matmul(const Functions& f, Handle engine, Handle stream, const Problem& p) : f_(f), stream_(stream) {
    const GemmShape& g = p.gemm;
    const int out = p.kind.dtype_out == kDType<bfloat16> ? kBf16 : kF32;
    describe(0, g, {g.m, g.k}, kBf16, g.lda, g.trans_a, g.stride_a);
    describe(1, g, {g.k, g.n}, kBf16, g.ldb, g.trans_b, g.stride_b);
    describe(2, g, {g.m, g.n}, out, g.ldc, false, g.stride_c);
    succeed(f_.matmul_desc(&desc_, engine, operands_[0], operands_[1], nullptr, operands_[2], nullptr),
            "dnnl_matmul_primitive_desc_create");
    succeed(f_.primitive_create(&primitive_, desc_), "dnnl_primitive_create");
    for (std::size_t i = 0; i < 3; ++i)
      succeed(f_.memory_create(&memory_[i], operands_[i], engine, nullptr), "dnnl_memory_create");
  }
  Matmul(const Matmul&) = delete;
  ~Matmul() {
    for (const Handle memory : memory_) f_.memory_destroy(memory);
    for (const Handle operand : operands_) f_.memory_desc_destroy(operand);
    f_.primitive_destroy(primitive_);
    f_.matmul_desc_destroy(desc_);
  }

  void run(const void* a, const void* b, void* c) const {
    void* const data[] = {const_cast<void*>(a), const_cast<void*>(b), c};
    for (std::size_t i = 0; i < 3; ++i) succeed(f_.set_data(memory_[i], data[i]), "dnnl_memory_set_data_handle");
    const Argument arguments[] = {{kSource, memory_[0]}, {kWeights, memory_[1]}, {kDestination, memory_[2]}};
    succeed(f_.execute(primitive_, stream_, 3, arguments), "dnnl_primitive_execute");
    succeed(f_.wait(stream_), "dnnl_stream_wait");
  }

 private:
  enum Type { kBf16 = 2, kF32 = 3 };

  void describe(std::size_t operand, const GemmShape& g, std::pair<std::int64_t, std::int64_t> shape, int type,
                std::int64_t ld, bool trans, std::int64_t stride) {
    const Dims dims{g.batch, shape.first, shape.second}, strides{stride, trans ? 1 : ld, trans ? ld : 1};
    succeed(f_.memory_desc(&operands_[operand], 3, dims.data(), type, strides.data()), "a memory descriptor");
  }

  const Functions& f_;
  Handle stream_, desc_ = nullptr, primitive_ = nullptr;
  std::array<Handle, 3> operands_{}, memory_{};
};

class OneDNN : public Competitor {
 public:
  OneDNN(const Version& version, Sgemm* sgemm, std::optional<Functions> functions)
      : version_(version), sgemm_(sgemm), functions_(functions) {
    if (!functions_) return;
    succeed(functions_->engine_create(&engine_, 1, 0), "dnnl_engine_create");  // of the processor
    succeed(functions_->stream_create(&stream_, engine_, 1), "dnnl_stream_create");
  }
  std::string name() const override { return "peer:onednn"; }
  std::string version() const override {
    return std::to_string(version_.major) + "." + std::to_string(version_.minor) + "." + std::to_string(version_.patch);
  }
  std::string unsupported(const Problem& p) const override {
    if (p.op != Op::gemm) return "it has no stencils";
    if (p.gemm.has_epilogue() || p.gemm.beta != 0.0f) return "it is asked for plain products";
    if (p.kind.dtype == kDType<bfloat16>) return functions_ ? "" : "its matmul is asked for from version 3 on";
    return p.kind.dtype == kDType<float> && p.is_plain() ? "" : "it is asked for sgemm and bf16";
  }
  Execute prepare(const Problem& p) override {
    if (p.kind.dtype == kDType<bfloat16>)
      return [matmul = std::make_shared<Matmul>(*functions_, engine_, stream_, p)](const void* const* in, void* out) {
        matmul->run(in[0], in[1], out);
      };
    return [g = p.gemm, sgemm = sgemm_](const void* const* in, void* out) {
      for (std::int64_t l = 0; l < g.batch; ++l)
        sgemm(g.trans_a ? 'T' : 'N', g.trans_b ? 'T' : 'N', g.m, g.n, g.k, 1.0f,
              static_cast<const float*>(in[0]) + l * g.stride_a, g.lda,
              static_cast<const float*>(in[1]) + l * g.stride_b, g.ldb, 0.0f, static_cast<float*>(out) + l * g.stride_c,
              g.ldc);
    };
  }

 private:
  Version version_;
  Sgemm* sgemm_;
  std::optional<Functions> functions_;
  Handle engine_ = nullptr, stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Competitor> make_onednn(const std::string& path, int) {
  const Library library(path);
  const Version& v = *library.find<const Version*()>("dnnl_version")();
  std::optional<Functions> matmul;
  if (v.major >= 3) matmul.emplace(library);
  return std::make_unique<OneDNN>(v, library.find<Sgemm>("dnnl_sgemm"), matmul);
}

}  // namespace tessera::perf
