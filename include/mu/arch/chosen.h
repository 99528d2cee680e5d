/*
 * The only place that asks which CPU this is compiled for.
 *
 * `#include MU_ARCH(file.h)` in a folder includes the file of that name in its
 * subfolder for the CPU. Both subfolders have the same files, which define the
 * same names; the header one level up documents them.
 */
#ifndef MU_ARCH_CHOSEN_H
#define MU_ARCH_CHOSEN_H

#ifndef __LP64__
#error "memunreachable is for 64-bit programs only"
#endif

#define MU_ARCH_PATH(path) #path

/* clang-format off */
#if defined(__x86_64__)
#define MU_ARCH(file) MU_ARCH_PATH(x86_64/file)
#elif defined(__aarch64__)
#define MU_ARCH(file) MU_ARCH_PATH(aarch64/file)
#else
#error "memunreachable knows x86-64 and aarch64"
#endif
/* clang-format on */

#endif
