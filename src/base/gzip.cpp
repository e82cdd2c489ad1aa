// SPDX-License-Identifier: Apache-2.0
#include "base/gzip.h"

#include <array>

#define ZLIB_CONST  // zlib reads its input only
#include <zlib.h>

namespace baton {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;  // zlib: a gzip wrapper around the largest window
constexpr std::size_t kMostGzipBytes = 1U << 30U;
constexpr std::size_t kPiece = 64U << 10U;

z_stream stream_of(std::string_view bytes) {
  z_stream stream{};
  stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  return stream;
}

/// Runs one of zlib's two engines until it is done or needs more input.
template <class Step>
Result<std::string> pump(z_stream& stream, std::size_t max_bytes, Step step) {
  std::string out;
  std::array<char, kPiece> piece{};
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    state = step(&stream, Z_FINISH);
    // Z_BUF_ERROR with a full output buffer only means that there is more output.
    if (state == Z_BUF_ERROR && stream.avail_out == 0)
      state = Z_OK;
    out.append(piece.data(), piece.size() - stream.avail_out);
    if (out.size() > max_bytes)
      return fail(Errc::too_large, "more than " + std::to_string(max_bytes) + " bytes come out");
  }
  if (state != Z_STREAM_END)
    return fail(Errc::parse,
                state == Z_BUF_ERROR ? "the gzip file is cut off" : "the gzip file is damaged");
  return out;
}

}  // namespace

Result<std::string> gzip(std::string_view bytes) {
  if (bytes.size() > kMostGzipBytes)
    return fail(Errc::too_large, "too large to be compressed");
  z_stream stream = stream_of(bytes);
  constexpr int kMemory = 8;  // zlib's default
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(Errc::busy, "no memory to compress");
  auto out = pump(stream, kMostGzipBytes, deflate);
  deflateEnd(&stream);
  return out;
}

Result<std::string> gunzip(std::string_view bytes, std::size_t max_bytes) {
  if (bytes.size() > kMostGzipBytes)
    return fail(Errc::too_large, "too large to be read");
  z_stream stream = stream_of(bytes);
  if (inflateInit2(&stream, kGzip) != Z_OK)
    return fail(Errc::busy, "no memory to read it");
  auto out = pump(stream, max_bytes, inflate);
  const bool more = stream.avail_in != 0;
  inflateEnd(&stream);
  if (out && more)
    return fail(Errc::parse, "there is more data after the end of the gzip file");
  return out;
}

}  // namespace baton
