// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Texts of JSON files, and their places in messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tessera::cli {

/// The whole of a file of at most so many bytes; `what` says what such files hold, "taps". Throws npy::Error.
std::string read_text(const std::filesystem::path& file, const std::string& what, std::uint64_t most);

/// "line 2, column 7" of the byte before `position`, counted in bytes from 1; "its end" behind the text.
std::string place_in(std::string_view text, std::size_t position);

/// As JSON writes it, in ASCII and clipped: a message shows nothing that a terminal would obey.
std::string in_quotes(std::string_view text);

}  // namespace tessera::cli
