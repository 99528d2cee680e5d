#ifndef MU_ARCH_X86_64_WORDS_H
#define MU_ARCH_X86_64_WORDS_H

#include <immintrin.h>
#include <stdbool.h>

#include "mu/cpuid.h"

#define MU_ARCH_WORDS mu_arch_words_four, mu_arch_words_eight

#define MU_ARCH_BITS __attribute__((target("popcnt,lzcnt,bmi,bmi2")))

/*
 * AVX2 and BMI are bits of CPUID leaf 7, EBX; XCR0 says which registers the
 * kernel saves at a task switch.
 */
#define MU_CPU_AVX2 (1u << 5)
#define MU_CPU_BMI (1u << 3 | 1u << 8)
#define MU_CPU_AVX512F (1u << 16)
#define MU_CPU_OSXSAVE (1u << 27) /* CPUID leaf 1, ECX */
#define MU_CPU_POPCNT (1u << 23)
#define MU_CPU_LZCNT (1u << 5) /* CPUID leaf 0x80000001, ECX */
#define MU_CPU_STATE_YMM 0x06u
#define MU_CPU_STATE_ZMM 0xe6u

/* With AVX2, four words at a time; arguments and result: mu/arch/words.h. */
__attribute__((target("avx2"))) static inline uint64_t
mu_arch_words_four(
    const char *view, size_t count, uintptr_t lowest, uintptr_t width)
{
	/*
	 * AVX2 has no unsigned comparison: shift both sides by half the range.
	 */
	const __m256i half = _mm256_set1_epi64x(INT64_MIN);
	const __m256i low = _mm256_set1_epi64x((long long)lowest);
	const __m256i limit =
	    _mm256_xor_si256(_mm256_set1_epi64x((long long)width), half);
	uint64_t found = 0;
	uintptr_t word;
	size_t i;
	__m256i words;

	for (i = 0; i + 4 <= count; i += 4) {
		words = _mm256_loadu_si256((const void *)(view + i * 8));
		words = _mm256_xor_si256(_mm256_sub_epi64(words, low), half);
		words = _mm256_cmpgt_epi64(limit, words);
		found |= (uint64_t)(unsigned)_mm256_movemask_pd(
			     _mm256_castsi256_pd(words))
		    << i;
	}
	for (; i < count; i++) {
		__builtin_memcpy(&word, view + i * 8, sizeof(word));
		found |= (uint64_t)(word - lowest < width) << i;
	}
	return found;
}

/* With AVX-512, eight words at a time. */
__attribute__((target("avx512f"))) static inline uint64_t
mu_arch_words_eight(
    const char *view, size_t count, uintptr_t lowest, uintptr_t width)
{
	const __m512i low = _mm512_set1_epi64((long long)lowest);
	const __m512i limit = _mm512_set1_epi64((long long)width);
	uint64_t found = 0;
	size_t i;
	__m512i words;
	__mmask8 rest;

	for (i = 0; i + 8 <= count; i += 8) {
		words = _mm512_loadu_si512(view + i * 8);
		found |= (uint64_t)_mm512_cmplt_epu64_mask(
			     _mm512_sub_epi64(words, low), limit)
		    << i;
	}
	if (i == count)
		return found;
	rest = (__mmask8)((1u << (count - i)) - 1);
	words = _mm512_maskz_loadu_epi64(rest, view + i * 8);
	return found |
	    (uint64_t)_mm512_mask_cmplt_epu64_mask(
		rest, _mm512_sub_epi64(words, low), limit)
	    << i;
}

/* The lower half of XCR0: the register sets that the kernel saves. */
static inline unsigned
mu_arch_saved_states(void)
{
	unsigned low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

/*
 * 2: AVX-512, eight words at a time; 1: AVX2, four; 0: neither. CPUs with AVX2
 * have the instructions of MU_ARCH_BITS; a virtual one may leave them out.
 */
static inline unsigned
mu_arch_words_best(void)
{
	unsigned a, b, c, d, states, wanted = MU_CPU_OSXSAVE | MU_CPU_POPCNT;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & wanted) != wanted ||
	    !__get_cpuid(0x80000001, &a, &b, &c, &d) || (c & MU_CPU_LZCNT) == 0)
		return 0;
	states = mu_arch_saved_states();
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
	    (b & MU_CPU_BMI) != MU_CPU_BMI)
		return 0;
	if ((b & MU_CPU_AVX512F) != 0 &&
	    (states & MU_CPU_STATE_ZMM) == MU_CPU_STATE_ZMM)
		return 2;
	return (b & MU_CPU_AVX2) != 0 &&
	    (states & MU_CPU_STATE_YMM) == MU_CPU_STATE_YMM;
}

/* Each byte of the 16 at VIEW that is VALUE but for its lowest 3 bits. */
static inline __m128i
mu_arch_bytes_like(const char *view, char value)
{
	__m128i bytes = _mm_and_si128(
	    _mm_loadu_si128((const void *)view), _mm_set1_epi8((char)0xf8));

	return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(value));
}

/* MOV r64, imm64: a REX prefix with W (48 to 4f), and b8 to bf. */
static inline __m128i
mu_arch_movs(const char *view)
{
	return _mm_and_si128(mu_arch_bytes_like(view, 0x48),
	    mu_arch_bytes_like(view + 1, (char)0xb8));
}

/* 64 bytes at a time: 28 GB/s of random bytes, 17 with 16 (2 cores Xeon). */
static inline size_t
mu_arch_operand(const char *view, size_t size, size_t at)
{
	const char *v;

	for (; at + 65 <= size; at += 64) {
		v = view + at;
		if (_mm_movemask_epi8(_mm_or_si128(
			_mm_or_si128(mu_arch_movs(v), mu_arch_movs(v + 16)),
			_mm_or_si128(
			    mu_arch_movs(v + 32), mu_arch_movs(v + 48)))) != 0)
			break;
	}
	for (; at + 2 <= size; at++)
		if ((view[at] & 0xf8) == 0x48 && (view[at + 1] & 0xf8) == 0xb8)
			return at + 2;
	return size;
}

/*
 * The byte before such an operand: b8 to bf of MOV r32, imm32, 68 of PUSH
 * imm32, and c0 to c7 behind the c7 of MOV r, imm32.
 */
static inline bool
mu_arch_short_load(const char *view, size_t at)
{
	unsigned char byte = (unsigned char)view[at];

	return (byte & 0xf8) == 0xb8 || byte == 0x68 ||
	    ((byte & 0xf8) == 0xc0 && at > 0 &&
		(unsigned char)view[at - 1] == 0xc7);
}

/* Of 16 bytes at VIEW: any may be before one, by them and its highest byte. */
static inline int
mu_arch_short_loads(const char *view, unsigned char low, unsigned char high)
{
	__m128i top = _mm_sub_epi8(_mm_loadu_si128((const void *)(view + 4)),
	    _mm_set1_epi8((char)low));
	__m128i is_top = _mm_cmpeq_epi8(
	    _mm_min_epu8(top, _mm_set1_epi8((char)(high - low))), top);
	__m128i is_load = _mm_or_si128(mu_arch_bytes_like(view, (char)0xb8),
	    _mm_or_si128(mu_arch_bytes_like(view, (char)0xc0),
		_mm_cmpeq_epi8(
		    _mm_loadu_si128((const void *)view), _mm_set1_epi8(0x68))));

	return _mm_movemask_epi8(_mm_and_si128(is_top, is_load));
}

static inline size_t
mu_arch_short_operand(const char *view, size_t size, size_t at,
    unsigned char low, unsigned char high)
{
	int bits;

	while (at + 5 <= size) {
		if (at + 20 <= size) {
			bits = mu_arch_short_loads(view + at, low, high);
			if (bits == 0) {
				at += 16;
				continue;
			}
			at += (size_t)__builtin_ctz((unsigned)bits);
		}
		if (mu_arch_short_load(view, at))
			return at + 1;
		at++;
	}
	return size;
}

#endif
