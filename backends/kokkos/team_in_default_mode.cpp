// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "team_in_default_mode.hpp"

#include <tessera/plugin/floating_mode.hpp>

#include <omp.h>

#include <atomic>
#include <cstddef>

namespace tessera::kokkos {

TeamInDefaultMode::TeamInDefaultMode(int threads) : threads_(threads) {
  if (threads == 1) return;  // the calling thread, which is in it
  std::atomic<bool> changed{false};
#pragma omp parallel num_threads(threads)
  {
    before_[std::size_t(omp_get_thread_num())] = plugin::control_word();
    if (!plugin::in_default_mode()) {
      plugin::set_control_word(plugin::kDefaultMode);
      changed = true;
    }
  }
  changed_ = changed;
}

TeamInDefaultMode::~TeamInDefaultMode() {
  if (!changed_) return;
#pragma omp parallel num_threads(threads_)
  plugin::set_control_word(before_[std::size_t(omp_get_thread_num())]);
}

}  // namespace tessera::kokkos
