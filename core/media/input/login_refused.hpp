// The error of a server that refuses the login or the access.
#pragma once

#include "core/base/error.hpp"

namespace lensd {

/// Thrown while a source opens. Repeat such an attempt slowly, because cameras lock the account, and the
/// address that the attempts come from, after a few wrong logins.
class LoginRefused : public Error {
 public:
  using Error::Error;
};

}  // namespace lensd
