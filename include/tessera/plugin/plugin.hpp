// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// C++ for authors of backends: write a backend class, and a file for each algorithm that ends with a Register constant
/// (algorithm.hpp). TESSERA_DEFINE_BACKEND makes the C table of abi.h from them.
///
///     struct MyBackend {
///       static constexpr const char* kName = "mine";
///       static constexpr std::uint32_t kFlags = 0;           // or TESSERA_BACKEND_ON_HOST
///       static const char* build_info();
///       static void require_available();                     // throws Error with the reason
///       static std::vector<Device> devices();
///       struct Context {
///         using Machine = ...;                               // a value: what the models of time need to know
///         explicit Context(const tessera_backend_context_desc&);
///         const Machine& machine() const;                    // that of its device, with its number of threads:
///                                                            // a member `threads`, where it computes on the host
///         void* allocate(std::uint64_t bytes);
///         void free(void*) noexcept;
///         void copy(const tessera_copy&);
///         void synchronize();
///         void* native_stream();
///         void repeat(void* data, std::uint64_t block, std::uint64_t bytes);  // may be left out: buffer_repeat
///         void start_timer();                                // these two as well: timer_start, timer_stop
///         double stop_timer();
///       };
///       // What a context on that device with so many CPU threads (0: the backend's default) would have.
///       static Context::Machine machine(int device, int threads);
///       // Time to bring operands in host memory to the device and back. May be left out where nothing travels.
///       static double transfer_seconds(const Context::Machine&, const GemmProblem&);
///       static double transfer_seconds(const Context::Machine&, const StencilProblem&);
///       static double transfer_seconds(const Context::Machine&, const SystemProblem&);
///     };
///     TESSERA_DEFINE_BACKEND(MyBackend)
#pragma once

#include <tessera/plugin/abi.h>
#include <tessera/plugin/algorithm.hpp>
#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/parameters.hpp>
#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/problem.hpp>
#include <tessera/plugin/system_problem.hpp>
#include <tessera/plugin/table.hpp>
