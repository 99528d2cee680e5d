/*
 * What the call of exit() with main()'s result looks like, by CPU.
 *
 * Runs in: any.
 */
#ifndef MU_ARCH_EXIT_H
#define MU_ARCH_EXIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Is what is before ADDRESS an indirect call whose result is handed to TARGET,
 * and the call of that? So many bytes before it are readable code.
 */
static inline bool mu_arch_calls_with_result(
    uintptr_t address, uintptr_t target);

#if defined(__x86_64__)

/* ff d0 (call *%rax); 89 c7 (mov %eax, %edi); e8 and the distance */
#define MU_RESULT_CALL_BYTES 10

static inline bool
mu_arch_calls_with_result(uintptr_t address, uintptr_t target)
{
	const unsigned char *code = (const unsigned char *)address;
	int distance;

	__builtin_memcpy(&distance, code - 4, sizeof(distance));
	return code[-5] == 0xe8 && code[-6] == 0xc7 && code[-7] == 0x89 &&
	    ((code[-9] == 0xff && (code[-8] & 0xf8) == 0xd0) ||
		(code[-10] == 0xff && (code[-9] & 0xf8) == 0x50)) &&
	    address + (uintptr_t)(intptr_t)distance == target;
}

#elif defined(__aarch64__)

/* blr, bl */
#define MU_RESULT_CALL_BYTES 8

static inline bool
mu_arch_calls_with_result(uintptr_t address, uintptr_t target)
{
	unsigned code[2];
	long distance;

	__builtin_memcpy(code, (const char *)address - 8, sizeof(code));
	distance = (long)((unsigned long)code[1] << 38) >> 36;
	return (code[0] & 0xfffffc1f) == 0xd63f0000 &&
	    (code[1] & 0xfc000000) == 0x94000000 &&
	    address - 4 + (uintptr_t)distance == target;
}

#endif

#endif
