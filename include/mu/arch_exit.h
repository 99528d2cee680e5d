/*
 * What exit() and its callers look like as code, by CPU.
 *
 * Runs in: any.
 */
#ifndef MU_ARCH_EXIT_H
#define MU_ARCH_EXIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if the code before ADDRESS is an indirect call whose result is passed to
 * TARGET, followed by the call of TARGET. MU_RESULT_CALL_BYTES before ADDRESS
 * are readable.
 */
static inline bool mu_arch_calls_with_result(
    uintptr_t address, uintptr_t target);

/*
 * The function that a direct call right before ADDRESS calls; 0 if there is no
 * such call. MU_RESULT_CALL_BYTES before ADDRESS are readable.
 */
static inline uintptr_t mu_arch_called(uintptr_t address);

/*
 * True if the function at CODE begins by saving all callee-saved registers
 * right below its return address. MU_SAVING_BYTES at CODE are readable.
 */
static inline bool mu_arch_saves_all(uintptr_t code);

#if defined(__x86_64__)

/* ff d0 (call *%rax); 89 c7 (mov %eax, %edi); e8 and the distance */
#define MU_RESULT_CALL_BYTES 10

/* Six pushes, and moves of arguments between them. */
#define MU_SAVING_BYTES 32

static inline uintptr_t
mu_arch_called(uintptr_t address)
{
	const unsigned char *code = (const unsigned char *)address;
	int distance;

	__builtin_memcpy(&distance, code - 4, sizeof(distance));
	return code[-5] == 0xe8 ? address + (uintptr_t)(intptr_t)distance : 0;
}

static inline bool
mu_arch_calls_with_result(uintptr_t address, uintptr_t target)
{
	const unsigned char *code = (const unsigned char *)address;

	return mu_arch_called(address) == target && code[-6] == 0xc7 &&
	    code[-7] == 0x89 &&
	    ((code[-9] == 0xff && (code[-8] & 0xf8) == 0xd0) ||
		(code[-10] == 0xff && (code[-9] & 0xf8) == 0x50));
}

/* push %r15 to %r12, %rbp, %rbx, in the order of gcc's prologues */
static inline bool
mu_arch_saves_all(uintptr_t code)
{
	static const unsigned char pushes[] = { 0x41, 0x57, 0x41, 0x56, 0x41,
		0x55, 0x41, 0x54, 0x55, 0x53 };
	const unsigned char *byte = (const unsigned char *)code;
	unsigned i, next = 0;

	for (i = 0; i < MU_SAVING_BYTES && next < sizeof(pushes); i++)
		if (byte[i] == pushes[next])
			next++;
	return next == sizeof(pushes);
}

#elif defined(__aarch64__)

/* blr, bl */
#define MU_RESULT_CALL_BYTES 8
#define MU_SAVING_BYTES 4

static inline uintptr_t
mu_arch_called(uintptr_t address)
{
	unsigned code;
	long distance;

	__builtin_memcpy(&code, (const char *)address - 4, sizeof(code));
	distance = (long)((unsigned long)code << 38) >> 36;
	return (code & 0xfc000000) == 0x94000000
	    ? address - 4 + (uintptr_t)distance
	    : 0;
}

static inline bool
mu_arch_calls_with_result(uintptr_t address, uintptr_t target)
{
	unsigned code;

	__builtin_memcpy(&code, (const char *)address - 8, sizeof(code));
	return (code & 0xfffffc1f) == 0xd63f0000 &&
	    mu_arch_called(address) == target;
}

/* aarch64 stores them anywhere in the frame, beside the frame record. */
static inline bool
mu_arch_saves_all(uintptr_t code)
{
	(void)code;
	return false;
}

#endif

#endif
