# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# Kernels are instantiated in a file for each type, and each radius, so that several processors compile them.
set(f32 float)
set(f64 double)
set(f16 float16)
set(bf16 bfloat16)

# instantiate(FILE HEADER DECLARATION SUFFIX...): FILE_SUFFIX.cu for each suffix, a type, or a radius and a type (as
# r2_f32), which are T and R in the declaration. Adds to `sources`.
macro(instantiate file header declaration)
  foreach(suffix ${ARGN})
    string(REGEX MATCH "[a-z]+[0-9]+$" T ${suffix})
    string(REGEX MATCH "[0-9]" R ${suffix})
    set(T ${${T}})
    file(CONFIGURE OUTPUT ${file}_${suffix}.cu @ONLY CONTENT
"#include \"${header}\"

namespace tessera::cuda {

template ${declaration};

}  // namespace tessera::cuda
")
    list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/${file}_${suffix}.cu)
  endforeach()
endmacro()

instantiate(stencil/dense stencil/dense/dense.cuh
  "std::unique_ptr<plugin::Plan> make_dense<@T@>(Context&, const plugin::StencilProblem&, int)" f32 f64 f16 bf16)
instantiate(stencil/persistent stencil/persistent/persistent.cuh
  "PersistentKernel<@T@> persistent_kernel<@T@>(const TemporalTaps&, int)" f32 f64 f16 bf16)
instantiate(stencil/register_tile stencil/register_tile/register_tile.cuh
  "std::unique_ptr<plugin::Plan> make_register_tile<@T@>(Context&, const plugin::StencilProblem&, int)" f32 f64)
instantiate(stencil/separable stencil/separable/separable.cuh
  "std::unique_ptr<plugin::Plan> make_separable<@T@>(Context&, const plugin::StencilProblem&, std::int64_t)"
  f32 f64 f16 bf16)
foreach(domain flat volume)
  instantiate(stencil/streaming_${domain} stencil/streaming/streaming_tile_plan.cuh
    "std::unique_ptr<plugin::Plan> make_streaming_${domain}<@T@>(Context&, const plugin::StencilProblem&)"
    f32 f64 f16 bf16)
endforeach()
foreach(tile tile15d tile25d)
  instantiate(stencil/temporal_${tile} stencil/temporal/temporal_${tile}.cuh
    "TemporalKernels<@T@> ${tile}_kernels<@T@>(const TemporalTaps&)" f32 f64 f16 bf16)
endforeach()
instantiate(system/streaming system/streaming.cuh "StreamingKernel<@T@> streaming_kernel_of<@T@, @R@>(StarForm, bool)"
  r1_f32 r2_f32 r3_f32 r4_f32 r1_f64 r2_f64 r3_f64 r4_f64)
instantiate(system/temporal system/temporal_kernels.cuh "WaveKernel<@T@> wave_kernel_of<@T@, @R@>(StarForm, bool, bool)"
  r1_f32 r2_f32 r3_f32 r1_f64 r2_f64)
