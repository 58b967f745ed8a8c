#pragma once

#include <string>
#include <string_view>

namespace fenceline::backends::s3 {

/// Lower-case hexadecimal.
std::string hex_of(std::string_view bytes);

/// The MD5 of a text in hexadecimal, as S3 makes entity tags of it.
std::string md5_hex(std::string_view text);

/// The same in base64, for `Content-MD5`.
std::string md5_base64(std::string_view text);

}  // namespace fenceline::backends::s3
