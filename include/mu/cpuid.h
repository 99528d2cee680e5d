/* cpuid.h for x86-64; gcc 10's has no include guard. */
#ifndef MU_CPUID_H
#define MU_CPUID_H

#include <cpuid.h>

#endif
