// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "star_row.ipp"

namespace tessera::cpu {

template MakeStarRow<float> star_row<float>(StarForm, int, bool);

}  // namespace tessera::cpu
