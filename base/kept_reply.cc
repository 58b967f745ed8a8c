#include "base/kept_reply.h"

#include "base/field_syntax.h"

namespace fenceline::base {

KeptAnswer kept_head(const Reply& reply) {
  KeptAnswer kept{.status = reply.status, .fields = reply.fields.list(), .body = {}};
  std::erase_if(kept.fields,
                [](const OwnedField& field) { return equal_names(field.first, "Set-Cookie"); });
  return kept;
}

std::optional<KeptAnswer> kept_from(const Reply& reply) {
  KeptAnswer kept = kept_head(reply);
  if (const auto* text = std::get_if<std::string>(&reply.body)) {
    if (text->size() > kMaxKeptBodyBytes) {
      return std::nullopt;
    }
    kept.body = *text;
  } else if (!std::holds_alternative<std::monostate>(reply.body)) {
    return std::nullopt;
  }
  return kept;
}

Reply replayed(const KeptAnswer& answer) {
  Reply reply;
  reply.status = answer.status;
  for (const auto& [name, value] : answer.fields) {
    reply.fields.add_named(name, value);
  }
  reply.add("Idempotency-Replayed", "true");
  if (!answer.body.empty()) {
    reply.body = answer.body;
  }
  return reply;
}

Error reused_key() {
  return Error{ErrorKind::kIdempotencyReused,
               "This idempotency key came with another request before (method, target, a field "
               "that counts, body or caller differ). Send a new key with a new request, and the "
               "same request with the same key."};
}

Error no_room_for_answers() {
  return Error{ErrorKind::kOverloaded,
               "No more answers can be kept for idempotency keys until older ones are due. Send "
               "the request again later; nothing was done."};
}

}  // namespace fenceline::base
