// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "star_row.ipp"

namespace tessera::cpu {

template MakeStarRow<double> star_row<double>(StarForm, int, bool);

}  // namespace tessera::cpu
