#include "peers/redis/response.hpp"

#include <hiredict/hiredict.h>
#include <utility>

namespace switchgear::peers::redis {

namespace {

/// Of one reader: how many items the answer under way has.
struct tally {
  std::size_t items = 0;
};

/// Where the next value goes. The library finishes a list before it begins the one after it, so that the last item of
/// a list stays where it is while it is filled. Null makes the library give up.
response* place_for(const redictReadTask* task) {
  unsigned depth = 0;
  for (const redictReadTask* above = task->parent; above != nullptr; above = above->parent) ++depth;
  auto* const count = static_cast<tally*>(task->privdata);
  if (depth > response_reader::most_depth || ++count->items > response_reader::most_items) return nullptr;
  if (task->parent == nullptr) return new response();
  return &static_cast<response*>(task->parent->obj)->items.emplace_back();
}

void* make_string(const redictReadTask* task, char* text, std::size_t size) {
  const bool fits =
      task->type == REDICT_REPLY_STRING || task->type == REDICT_REPLY_STATUS || task->type == REDICT_REPLY_ERROR;
  response* const made = fits ? place_for(task) : nullptr;
  if (made == nullptr) return nullptr;
  made->kind = task->type == REDICT_REPLY_ERROR ? response::kind::error : response::kind::text;
  made->text.assign(text, size);
  return made;
}

// The announced length is a promise of the peer's: memory is taken as items come.
void* make_list(const redictReadTask* task, std::size_t) {
  response* const made = task->type == REDICT_REPLY_ARRAY ? place_for(task) : nullptr;
  if (made != nullptr) made->kind = response::kind::list;
  return made;
}

void* make_number(const redictReadTask* task, long long value) {
  response* const made = place_for(task);
  if (made == nullptr) return nullptr;
  made->kind = response::kind::number;
  made->number = value;
  return made;
}

void* make_nil(const redictReadTask* task) {
  response* const made = place_for(task);
  if (made != nullptr) made->kind = response::kind::nil;
  return made;
}

// We greet with nothing that would make a node speak RESP 3.
void* refuse_double(const redictReadTask*, double, char*, std::size_t) {
  return nullptr;
}
void* refuse_bool(const redictReadTask*, int) {
  return nullptr;
}

void drop(void* whole) {
  delete static_cast<response*>(whole);
}

redictReplyObjectFunctions makers = {make_string, make_list, make_number, refuse_double, make_nil, refuse_bool, drop};

}  // namespace

std::string reason_of(const response& error) {
  constexpr std::size_t longest = 200;
  return error.text.substr(0, longest);
}

struct response_reader::parser {
  parser() : library(redictReaderCreateWithFunctions(&makers)) {
    if (library == nullptr) return;
    library->privdata = &count;
    library->maxelements = static_cast<long long>(most_items);
  }
  ~parser() {
    if (library != nullptr) redictReaderFree(library);
  }
  parser(const parser&) = delete;
  parser& operator=(const parser&) = delete;

  tally count;
  redictReader* library;
};

response_reader::response_reader() : parser_(std::make_unique<parser>()), gave_up_(parser_->library == nullptr) {}
response_reader::~response_reader() = default;

void response_reader::feed(std::string_view bytes) {
  if (gave_up_) return;
  taken_ += bytes.size();
  gave_up_ = redictReaderFeed(parser_->library, bytes.data(), bytes.size()) != REDICT_OK;
}

std::optional<response> response_reader::next() {
  if (gave_up_) return std::nullopt;
  void* whole = nullptr;
  if (redictReaderGetReply(parser_->library, &whole) != REDICT_OK) {
    gave_up_ = true;
    return std::nullopt;
  }
  if (whole == nullptr) {
    gave_up_ = taken_ > most_bytes;
    return std::nullopt;
  }
  const std::unique_ptr<response> made(static_cast<response*>(whole));
  taken_ = parser_->library->len - parser_->library->pos;
  parser_->count.items = 0;
  return std::move(*made);
}

}  // namespace switchgear::peers::redis
