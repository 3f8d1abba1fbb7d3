#pragma once

// Shared by the writers of this folder.

#include <filesystem>
#include <span>
#include <string>

#include "formats/tensor.hpp"

namespace sinkproof::formats {

/// Throws InputError when a name is empty, holds a NUL, or is used twice, or when a shape does not fit its
/// values.
void refuse_unwritable(std::span<const Tensor> tensors, const std::filesystem::path& path);

/// Appends the values little-endian in the tensor's dtype; InputError on a value it cannot hold exactly.
void append_values(std::string& bytes, const Tensor& tensor, const std::filesystem::path& path);

}  // namespace sinkproof::formats
