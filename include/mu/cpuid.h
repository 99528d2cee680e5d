/*
 * x86-64: cpuid.h, which has no guard of its own in gcc 10.
 */
#ifndef MU_CPUID_H
#define MU_CPUID_H

#include <cpuid.h>

#endif
