# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0

# For kernels of the processor. Optimised also where the build type stops at -O2, which does not vectorise. Contraction
# to FMA keeps the bits the same run after run, -ffast-math would not. It must happen everywhere, so that a point's bits
# do not depend on the loop that computes it: g++ from 13 on leaves it out of sums in loops, unless it is told not to.
set(TESSERA_HOST_KERNEL_OPTIONS -ffp-contract=fast "$<$<CXX_COMPILER_ID:GNU>:--param=avoid-fma-max-bits=0>"
  "$<$<NOT:$<CONFIG:Debug>>:-O3>")
# Memory, threads and the loops along rows: files of backends/cpu that kokkos-openmp has, too.
set(TESSERA_HOST_SOURCES bias_gradient.cpp context.cpp copy_operand.cpp copy_complex.cpp copy_triangle.cpp
  gemm/finish.cpp machine.cpp openmp_threads.cpp processors.cpp
  stencil/kernels_bf16.cpp stencil/kernels_f16.cpp stencil/kernels_f32.cpp stencil/kernels_f64.cpp
  stencil/sweep_cut.cpp stencil/tap_groups.cpp thread_pool.cpp)
