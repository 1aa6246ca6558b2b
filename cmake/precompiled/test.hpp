// What nearly every test reads before anything else; see shell.hpp.
#include "shell.hpp"

#include <gtest/gtest.h>

#include <thread>
