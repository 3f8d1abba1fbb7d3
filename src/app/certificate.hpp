#pragma once

#include <filesystem>
#include <string>

#include "app/weights_check.hpp"

/// Certificates that Coq checks: written by `check --certificate`, checked again by `certificate verify`.
namespace sinkproof::app {

/// Writes the folder of a certificate about these weights: Certificate.v, certificate.json, check.sh,
/// theory/, and a copy of the weights file. It is there whole or not at all; an earlier certificate is
/// replaced, anything else refused. Returns lines for people. Throws InputError for weights without a
/// certificate and folders that cannot be written; std::logic_error where a witness attains more than the
/// certificate's bound: a bug.
std::string write_certificate(const std::filesystem::path& folder, const WeightsRequest& request,
                              const WeightsChecked& checked);

}  // namespace sinkproof::app
