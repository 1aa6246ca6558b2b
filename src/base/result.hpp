// Errors are values on the call path: a result<T> or an error_code, never an exception.
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace switchgear {

using error_code = boost::system::error_code;

/// A value or the reason why there is none. Each folder documents its reasons in one errc enum.
template <class T>
using result = boost::system::result<T>;

}  // namespace switchgear
