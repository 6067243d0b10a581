// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/tune.hpp"

#include "plan/plan.hpp"

#include <utility>

namespace tessera::core {

std::vector<Tried> tune(std::shared_ptr<Context> context, const tessera_desc* desc, PlanOptions options) {
  std::vector<Tried> tried;
  options.effort = TESSERA_EFFORT_MEASURE;
  options.tuning = &tried;
  options.part = true;
  const Plan plan(std::move(context), desc, options);
  return tried;
}

}  // namespace tessera::core
