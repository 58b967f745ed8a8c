#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/parsed.h"
#include "config/s3_config.h"
#include "config/variables.h"

namespace fenceline::config {

/// More than any credentials file has.
inline constexpr std::size_t kMaxCredentialsBytes = 1024UL * 1024;

/// Finds the keys of a profile in the text of a credentials file of the AWS tools: sections in
/// brackets (`[name]`, also `[profile name]`), `name = value` lines, comments at the beginning of a
/// line (`#`, `;`); indented lines belong to settings that are not for us.
/// Success: `aws_access_key_id`, `aws_secret_access_key`, and `aws_session_token` where it is.
/// Failure: a sentence that names what is missing or wrong, never a value: no such profile (with
/// the nearest name), one there twice, no keys in it (roles, SSO and `credential_process` are not
/// supported), a line that is none, a key that no signature can have. Pure.
Parsed<S3StaticKeys> parse_credentials(std::string_view text, const std::string& profile);

/// The keys that a configuration names.
/// Does: reads the file or the variables; those in the configuration are given back. A session
/// token that begins with `fence-` is refused: it is the fencing token of a client, which the
/// upstream must not get. Blocks as long as reading a file does.
/// Success: the keys. Failure: a sentence: the file cannot be read or is too big, a variable is not
/// set, or what `parse_credentials` says; never a secret. Not while another thread changes what
/// `environment` looks at.
Parsed<S3StaticKeys> resolve_credentials(const S3Credentials& credentials,
                                         const Environment& environment);

}  // namespace fenceline::config
