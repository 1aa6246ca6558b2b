#include "call/found.hpp"

#include "cascade/stand_in.hpp"

#include <boost/json/value.hpp>

#include <string>

namespace switchgear::call {

using cascade::ending;

bool fits(step_context& of, std::size_t number, std::string_view structured) {
  std::string why = "it has no structured content";
  if (of.called.accepts(structured, &why)) return true;
  of.explain(number, why);
  return false;
}

ending map_answer(step_context& of, std::size_t number, const cascade::result_template& how,
                  const boost::json::value& answer) {
  std::string missing;
  const auto made = how.fill(answer, &missing);
  if (made) return take_made(of, number, *made);
  of.explain(number, missing);
  return ending::unmapped;
}

ending take_made(step_context& of, std::size_t number, const cascade::plain_answer& said) {
  if (!fits(of, number, said.structured)) return ending::unfit;
  of.found.made = cascade::plain_result(said);
  of.found.result = of.found.made;
  return ending::hit;
}

}  // namespace switchgear::call
