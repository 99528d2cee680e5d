/*
 * What depends on the CPU in our own process: system calls, registers, stacks.
 *
 * - MU_ABI: its name in Android's reports; MU_ELF_MACHINE: in ELF files.
 * - MU_RED_ZONE: bytes below the stack pointer that belong to a function.
 * - MU_CALLEE_SAVED: number of words that mu_arch_callee_saved() stores.
 * - MU_NOT_USER: bits that no user address has.
 * - MU_TLS_BELOW_TP: 1 where variables of static TLS lie below the thread
 *   pointer (variant II of the TLS ABI), 0 where they lie above.
 * - MU_ROBUST_LIST_FROM_TP: where struct pthread has the list that glibc
 *   registers with the kernel (robust_head); 0: not known.
 * - MU_CALL_CODE: the system call instruction, MU_CALL_CODE_SIZE bytes at a
 *   multiple of MU_CALL_CODE_STEP. MU_CALL_LOAD_SIZE: the length of the one
 *   with which libc loads the number, right before it.
 * - MU_ARCH_ENTRY(NAME, BODY): define NAME, which stores sp as its caller has
 *   it after the return, the thread pointer, and the callee-saved registers in
 *   memory, as words in the order of mu_arch_callee_saved(), before compiled
 *   code can change them. It then calls BODY with its own three arguments and
 *   the address of these words as the fourth, and returns the result of BODY.
 * - MU_ARCH_SYSCALL(NAME, FIRST, SECOND, BODY, FAILED): define NAME with the
 *   arguments of libc's syscall(). Calls FIRST and SECOND jump to BODY; the
 * others are made without a frame, and jump to FAILED with an error, if there
 * is one.
 * - MU_SIGRETURN_CODE (x86-64 only): rt_sigreturn, as the code that a signal
 *   handler returns to. aarch64's kernel supplies it.
 *
 * Runs in: any.
 */
#ifndef MU_ARCH_CPU_H
#define MU_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "mu/arch/chosen.h"

#ifdef __clang_analyzer__
/*
 * clang's analyzer believes that inline assembly writes nothing but its
 * operands, and takes what the kernel has written for garbage. It allows an
 * external function to write.
 */
long mu_syscall6(long nr, long a, long b, long c, long d, long e, long f);
#else
/*
 * A raw system call, which returns -errno on failure. libc's syscall() stores
 * the error in errno, which a CLONE_VM child shares with the thread that
 * started it.
 */
static inline long mu_syscall6(
    long nr, long a, long b, long c, long d, long e, long f);
#endif

#include MU_ARCH(cpu.h)

/*
 * The system call number that the instruction at CODE loads; -1 if it is
 * another instruction.
 */
static inline long mu_arch_call_loaded(
    const unsigned char code[MU_CALL_LOAD_SIZE]);

/*
 * Store the registers in which a caller may keep pointers across a call (System
 * V ABI, AAPCS64).
 */
static inline void mu_arch_callee_saved(uintptr_t out[MU_CALLEE_SAVED]);

/* To be called in a loop that waits for another CPU. */
static inline void mu_arch_relax(void);

/* Return the stack pointer or the thread pointer. */
static inline uintptr_t mu_arch_sp(void);
static inline uintptr_t mu_arch_tp(void);

/*
 * Start FN(ARG) as a new task on the stack that ends at STACK_TOP (a multiple
 * of 16). FN must not return. A raw call, since libc's clone() sets errno. TID
 * is the word for CLONE_PARENT_SETTID and CLONE_CHILD_CLEARTID.
 */
static inline long mu_arch_clone(unsigned long flags, void *stack_top, int *tid,
    void (*fn)(void *), void *arg);

/*
 * Call FN(ARG) on the stack that ends at STACK_TOP (a multiple of 16) and
 * return. Unwinding relies on the caller's frame pointer.
 */
static inline void mu_arch_call_on(
    void *stack_top, void (*fn)(void *), void *arg);

#endif
