#ifndef MU_ARCH_X86_64_EXIT_H
#define MU_ARCH_X86_64_EXIT_H

/* ff d0 (call *%rax); 89 c7 (mov %eax, %edi); e8 and the distance */
#define MU_RESULT_CALL_BYTES 10

/* Six pushes, with moves of arguments in between. */
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

/* CODE is ModRM, SIB and displacement of an operand below %rsp or %rbp. */
static inline bool
mu_arch_below_stack(const unsigned char *code)
{
	unsigned mode = code[0] >> 6, base = code[0] & 7;
	const unsigned char *distance = code + 1;

	if (base == 4) {
		base = code[1] & 7;
		distance++;
	}
	return (base == 4 || base == 5) &&
	    ((mode == 1 && distance[0] >= 0x80) ||
		(mode == 2 && distance[3] >= 0x80));
}

/*
 * CODE, at ADDRESS, is a call of a function in TEXT, or through a word behind
 * it, as of -fno-plt: ff 15 and the distance.
 */
static inline bool
mu_arch_calls_near(
    const unsigned char *code, uintptr_t address, struct mu_range text)
{
	uintptr_t target = mu_arch_called((uintptr_t)code + 5);
	int distance;

	if (target != 0 &&
	    mu_range_has(text, target - (uintptr_t)code + address))
		return true;
	__builtin_memcpy(&distance, code + 2, sizeof(distance));
	target = address + 6 + (uintptr_t)(intptr_t)distance;
	return code[0] == 0xff && code[1] == 0x15 && target >= text.end &&
	    target - text.end < ((uintptr_t)64 << 20) &&
	    target % sizeof(uintptr_t) == 0;
}

/* mov %rsp to a register other than %rbp */
static inline bool
mu_arch_copies_sp(const unsigned char *code)
{
	return (code[0] | 1) == 0x49 && code[1] == 0x89 &&
	    (code[2] & 0xf8) == 0xe0 && !(code[0] == 0x48 && code[2] == 0xe5);
}

/* Instructions are looked for at every byte. */
static inline bool
mu_arch_red_zone_unused(const unsigned char *code, size_t size,
    uintptr_t address, struct mu_range text)
{
	bool used = false;
	size_t i;

	for (i = 0; i + 6 <= size; i++) {
		if (mu_arch_calls_near(code + i, address + i, text))
			return true;
		used |= mu_arch_below_stack(code + i) ||
		    mu_arch_copies_sp(code + i);
	}
	return !used;
}

#endif
