/* See mu/arch/call_site.h. Opcodes: Intel SDM, volume 2, appendix A. */
#ifndef MU_ARCH_X86_64_CALL_SITE_H
#define MU_ARCH_X86_64_CALL_SITE_H

#define MU_CALL_BACK ((size_t)64) /* bytes before a call that are looked at */

/* A decoded instruction, as far as it is needed. */
struct mu_x86_code {
	size_t length; /* 0: not known */
	unsigned char rex, opcode, modrm;
	bool has_modrm, two_bytes;
};

/* Four bytes of an instruction. */
static inline int32_t
mu_x86_number(const unsigned char *at)
{
	int32_t number;

	memcpy(&number, at, sizeof(number));
	return number;
}

/* Bytes of the address that a ModRM byte at AT has behind it, with the byte. */
static inline size_t
mu_x86_modrm(const unsigned char *at, size_t left)
{
	unsigned mod = at[0] >> 6, rm = at[0] & 7u;
	size_t length = 1;

	if (mod == 3)
		return length;
	if (rm == 4) {
		if (left < 2)
			return left + 1;
		length++;
		if (mod == 0 && (at[1] & 7u) == 5)
			length += 4;
	} else if (mod == 0 && rm == 5) {
		length += 4;
	}
	return length + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* One of the 256 bits at BITS. */
static inline bool
mu_x86_in(const uint32_t bits[8], unsigned char opcode)
{
	return (bits[opcode / 32] >> opcode % 32 & 1) != 0;
}

/* Bytes of the constants behind an opcode of one byte; 9: no opcode. */
static inline size_t
mu_x86_constants(const struct mu_x86_code *code, bool small)
{
	unsigned char op = code->opcode, reg = code->modrm >> 3 & 7u;
	size_t word = small ? 2 : 4;

	if (op < 0x40)
		return (op & 7u) < 4 ? 0
		    : (op & 7u) == 4 ? 1
		    : (op & 7u) == 5 ? word
				     : 9;
	if (op >= 0xb8 && op <= 0xbf)
		return (code->rex & 8u) != 0 ? 8 : word;
	if ((op >= 0x70 && op <= 0x80) || (op >= 0xb0 && op <= 0xb7))
		return 1;
	switch (op) {
	case 0x60:
	case 0x61:
	case 0x62:
	case 0x9a:
	case 0xa0:
	case 0xa1:
	case 0xa2:
	case 0xa3:
	case 0xc4:
	case 0xc5:
	case 0xc8:
		return 9;
	case 0x6a:
	case 0x6b:
	case 0x82:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb:
		return 1;
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return word;
	case 0xe8:
	case 0xe9:
		return 4;
	case 0xf6:
		return reg < 2 ? 1 : 0;
	case 0xf7:
		return reg < 2 ? word : 0;
	default:
		return 0;
	}
}

/* Decode what compilers write between an argument and a call. */
static inline struct mu_x86_code
mu_x86_decode(const unsigned char *at, size_t left)
{
	/* Opcodes with a ModRM byte: of one byte, and behind 0f. */
	static const uint32_t one[8] = { 0x0f0f0f0f, 0x0f0f0f0f, 0, 0x00000a08,
		0x0000ffff, 0, 0xff0f00c3, 0xc0c00000 };
	static const uint32_t two[8] = { 0xffff200f, 0x0000ff0f, 0xffffffff,
		0xff7fffff, 0xffff0000, 0xfffff838, 0xffff00ff, 0xffffffff };
	struct mu_x86_code code = { .length = 0 };
	size_t length = 0, constants = 0;
	bool small = false;

	for (; length < left &&
	     (at[length] == 0x66 || at[length] == 0xf2 || at[length] == 0xf3 ||
		 at[length] == 0x64);
	     length++)
		small |= at[length] == 0x66;
	if (length < left && (at[length] & 0xf0u) == 0x40)
		code.rex = at[length++];
	if (length < left && at[length] == 0x0f) {
		code.two_bytes = true;
		length++;
	}
	if (length >= left)
		return code;
	code.opcode = at[length++];
	code.has_modrm = mu_x86_in(code.two_bytes ? two : one, code.opcode);
	if (code.has_modrm) {
		if (length >= left)
			return code;
		code.modrm = at[length];
		length += mu_x86_modrm(at + length, left - length);
	}
	if (!code.two_bytes)
		constants = mu_x86_constants(&code, small);
	else if (code.opcode >= 0x80 && code.opcode <= 0x8f)
		constants = 4;
	else if (code.opcode == 0x38 || code.opcode == 0x3a)
		constants = 9; /* three bytes */
	else if ((code.opcode >= 0x70 && code.opcode <= 0x73) ||
	    code.opcode == 0xa4 || code.opcode == 0xac || code.opcode == 0xba ||
	    code.opcode == 0xc2 || (code.opcode >= 0xc4 && code.opcode <= 0xc6))
		constants = 1;
	if (constants < 9 && length + constants <= left)
		code.length = length + constants;
	return code;
}

/* True if CODE may change the register NUMBER, or calls another function. */
static inline bool
mu_x86_changes(const struct mu_x86_code *code, unsigned number)
{
	unsigned reg = (code->modrm >> 3 & 7u) | (code->rex & 4u) << 1;
	unsigned rm = (code->modrm & 7u) | (code->rex & 1u) << 3;

	if (!code->two_bytes &&
	    (code->opcode == 0xe8 || code->opcode == 0xe9 ||
		code->opcode == 0xeb || code->opcode == 0xc3 ||
		(code->opcode == 0xff && reg >= 2 && reg <= 5)))
		return true;
	if (code->has_modrm)
		return (code->modrm >> 6 == 3 && rm == number) || reg == number;
	return !code->two_bytes && (code->opcode & 7u) == number &&
	    ((code->opcode >= 0x58 && code->opcode <= 0x5f) ||
		(code->opcode >= 0xb8 && code->opcode <= 0xbf)) &&
	    (code->rex & 1u) == 0;
}

static inline bool
mu_call_next(const unsigned char *code, size_t size, uint64_t address,
    size_t *at, struct mu_call *call)
{
	size_t i, length;

	for (i = *at; i + 6 <= size; i++) {
		if (code[i] == 0xe8 || code[i] == 0xe9)
			length = 5;
		else if (code[i] == 0xff &&
		    (code[i + 1] == 0x15 || code[i + 1] == 0x25))
			length = 6;
		else
			continue;
		*call = (struct mu_call) { .at = i, .word = length == 6 };
		call->target = address + i + length +
		    (uint64_t)(int64_t)mu_x86_number(code + i + length - 4);
		*at = i + 1;
		return true;
	}
	return false;
}

/* REX.B or REX.W: "mov $VALUE,%r15d", or eight bytes; or something else. */
static inline bool
mu_x86_renames(unsigned char before)
{
	return (before & 0xf0u) == 0x40 && (before & 9u) != 0;
}

/* The last "mov $VALUE,%edi", or %esi, behind which nothing changes it. */
static inline bool
mu_call_constant(
    const unsigned char *code, size_t at, unsigned number, uint64_t *value)
{
	const unsigned reg = number == 0 ? 7 : 6;
	size_t i, next;
	struct mu_x86_code between = { .length = 1 };

	for (i = 5; i <= at && i <= MU_CALL_BACK; i++) {
		if (code[at - i] != 0xb8 + reg ||
		    (i < at && mu_x86_renames(code[at - i - 1])))
			continue;
		for (next = at - i + 5; next < at; next += between.length) {
			between = mu_x86_decode(code + next, at - next);
			if (between.length == 0 ||
			    mu_x86_changes(&between, reg))
				break;
		}
		if (next != at)
			continue;
		*value = (uint32_t)mu_x86_number(code + at - i + 1);
		return true;
	}
	return false;
}

/* "endbr64", "bnd", then "jmp *WORD(%rip)"; the first two are not everywhere */
static inline bool
mu_call_stub(const unsigned char *code, size_t size, uint64_t address,
    size_t at, size_t *begin, uint64_t *word)
{
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (size - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	*word =
	    address + at + 6 + (uint64_t)(int64_t)mu_x86_number(code + at + 2);
	*begin = at;
	if (*begin >= 1 && code[*begin - 1] == 0xf2)
		--*begin;
	if (*begin >= sizeof(endbr) &&
	    memcmp(code + *begin - sizeof(endbr), endbr, sizeof(endbr)) == 0)
		*begin -= sizeof(endbr);
	return true;
}

#endif
