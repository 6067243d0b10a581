# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Those of distributed systems of fields: see mutants.py."""

DISTRIBUTED_MUTANTS = [
    ("lib/distributed/domain/plan.cpp", "an inner point reads what another rank has",
     "box.low[axis] += reach.low[axis];",
     "box.low[axis] += reach.low[axis] - (reach.low[axis] > 0);"),
    ("lib/distributed/domain/plan.cpp", "levels do not turn from round to round",
     "places[level] = before[std::size_t(stage_of(round).places[f][level])];",
     ";"),
    ("lib/distributed/domain/system_parts.cpp", "a ring has no images",
     "for (const std::int64_t distance : {-extent, std::int64_t(0), extent})",
     "for (const std::int64_t distance : {std::int64_t(0)})"),
    ("lib/distributed/domain/system_parts.cpp", "boxes begin where the array does",
     "part.low[axis] = box.low[axis] - array.low[axis], part.high",
     "part.low[axis] = 0, part.high"),
    ("lib/distributed/domain/system_parts.cpp", "sources beyond a ring's end are left out",
     "if (!is_in(made, place)) continue;",
     "if (!is_in(made, place) || i + j + k != 0) continue;"),
    ("lib/distributed/domain/system_parts.cpp", "a state without an update has none",
     "keep_values(local, std::int32_t(f), stage);",
     ";"),
    ("lib/distributed/domain/system_description.cpp", "several stages need no corners",
     "corners_ = corners_ || stages.size() > 1;",
     ""),
    ("lib/distributed/domain/blocks.cpp", "a ring's profile ends at its ends",
     "const std::int64_t at = (x % extent + extent) % extent * element;",
     "const std::int64_t at = std::clamp<std::int64_t>(x, 0, extent - 1) * element;"),
    ("lib/distributed/domain/recordings.hpp", "some entries of several ranks are left out",
     "if (whole[i] != 0) continue;",
     "if (whole[i] != 0 || e % 7 == 3) continue;"),
]
