// The same program as C++17.
#include "api/header.c"
