/* Spans; blocks at their borders, and of 2^30 bytes and more; enumeration. */
#include "lib/malloc_debug/shadow/live.h"

#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"

#define SPAN_BYTES (MU_SHADOW_WORDS * sizeof(uint32_t))
#define HALF ((uint32_t)LIVE_LARGE - 1) /* 30 bits */

uint64_t *live_directory;
bool live_tallied;
uint8_t live_tallies[LIVE_TALLIES];

/*
 * One bit for each GROUP spans of the directory: set if any may be in use.
 * Reading all of the 64 MiB would cause a page fault for each 4 KiB.
 */
#define GROUP 512u
#define GROUPS (MU_SHADOW_SPANS / GROUP)

static uint64_t inhabited[GROUPS / 64];

static void
inhabit(uint64_t span)
{
	uint64_t group = span / GROUP;

	__atomic_fetch_or(&inhabited[group / 64], (uint64_t)1 << group % 64,
	    __ATOMIC_RELEASE);
}

static bool
is_inhabited(uint64_t span)
{
	uint64_t group = span / GROUP;
	uint64_t word =
	    __atomic_load_n(&inhabited[group / 64], __ATOMIC_ACQUIRE);

	return (word >> group % 64 & 1) != 0;
}

/*
 * Map zeroed memory that is committed only when touched, and not in huge pages:
 * 4 KiB of words cover only 16 KiB of blocks.
 */
static void *
reserve(size_t size)
{
	long memory = mu_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);

	if (mu_sys_failed(memory))
		return NULL;
	mu_sys3(SYS_madvise, memory, (long)size, MADV_NOHUGEPAGE);
	return (void *)memory;
}

bool
live_init(bool tallied)
{
	uint64_t *directory;

	if (live_directory != NULL)
		return true;
	live_tallied = tallied;
	directory = reserve(MU_SHADOW_SPANS * sizeof(uint64_t));
	if (directory == NULL)
		return false;
	memunreachable_recorded.lowest = UINT64_MAX;
	memunreachable_recorded.directory = (uintptr_t)directory;
	__atomic_store_n(&live_directory, directory, __ATOMIC_RELEASE);
	return true;
}

static void
widen(uintptr_t begin)
{
	uint64_t *lowest = &memunreachable_recorded.lowest;
	uint64_t *highest = &memunreachable_recorded.highest;
	uint64_t from = begin & ~(LIVE_SPAN - 1), old;

	old = __atomic_load_n(lowest, __ATOMIC_RELAXED);
	while (from < old &&
	    !__atomic_compare_exchange_n(
		lowest, &old, from, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
	old = __atomic_load_n(highest, __ATOMIC_RELAXED);
	while (from + LIVE_SPAN > old &&
	    !__atomic_compare_exchange_n(highest, &old, from + LIVE_SPAN, true,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

/* The words around BEGIN; maps them if necessary. */
static uint32_t *
words_made(uintptr_t begin)
{
	uint32_t *words = live_words(begin);
	uint64_t none = 0;
	void *span;

	if (words != NULL || live_number(begin) >= LIVE_WORDS)
		return words;
	span = reserve(SPAN_BYTES);
	if (span == NULL)
		return NULL;
	widen(begin);
	inhabit(begin >> MU_SHADOW_SPAN_SHIFT);
	if (!__atomic_compare_exchange_n(
		&live_directory[begin >> MU_SHADOW_SPAN_SHIFT], &none,
		(uintptr_t)span, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		mu_sys_munmap(span, SPAN_BYTES);
	return live_words(begin);
}

static bool
store(uintptr_t begin, unsigned index, uint32_t value)
{
	uint32_t *word =
	    words_made(begin + ((uintptr_t)index << MU_SHADOW_WORD_SHIFT));

	if (word != NULL)
		__atomic_store_n(word, value, __ATOMIC_RELEASE);
	return word != NULL;
}

static uint32_t
load(uintptr_t begin, unsigned index)
{
	uint32_t *word =
	    live_words(begin + ((uintptr_t)index << MU_SHADOW_WORD_SHIFT));

	return word == NULL ? 0 : __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Count a word of BEGIN: BY is 1 if it was set, -1 if it was cleared. */
static void
tally(uintptr_t begin, int by)
{
	uint8_t *count = live_tally(begin);
	uint8_t old = __atomic_load_n(count, __ATOMIC_RELAXED);

	if (!live_tallied)
		return;
	while (old != LIVE_TALLY_MOST &&
	    !__atomic_compare_exchange_n(count, &old, (uint8_t)(old + by), true,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

void
live_stay_near(const void *memory, size_t size)
{
	uintptr_t page = (uintptr_t)memory & ~(uintptr_t)4095;

	for (; page < (uintptr_t)memory + size; page += 4096)
		__atomic_store_n(
		    live_tally(page), LIVE_TALLY_MOST, __ATOMIC_RELAXED);
}

bool
live_put_slowly(uintptr_t begin, size_t size, uint32_t word)
{
	bool done, known = live_word((const void *)begin) != 0;

	if (size < LIVE_LARGE)
		done = store(begin, 1, (uint32_t)size * 2);
	else
		done = store(begin, 3, (uint32_t)(size >> 30) * 2) &&
		    store(begin, 2, (uint32_t)(size & HALF) * 2) &&
		    store(begin, 1, MU_SHADOW_LARGE);
	done = done && store(begin, 0, word);
	if (done && !known)
		tally(begin, 1);
	return done;
}

uint32_t
live_take(const void *block)
{
	uint32_t *words = live_words((uintptr_t)block), word;

	if (words == NULL || live_word(block) == 0)
		return 0;
	/*
	 * If two threads free the block by mistake, only one of them gets the
	 * word.
	 */
	word = __atomic_exchange_n(words, 0, __ATOMIC_ACQ_REL);
	if (word != 0)
		tally((uintptr_t)block, -1);
	return word;
}

size_t
live_size_slowly(uintptr_t begin)
{
	uint32_t half = load(begin, 1);

	if (half != MU_SHADOW_LARGE)
		return half / 2;
	return (size_t)(load(begin, 3) / 2) << 30 | load(begin, 2) / 2;
}

bool
live_change(const void *block, uint32_t from, uint32_t to)
{
	uint32_t *words = live_words((uintptr_t)block);

	return words != NULL &&
	    __atomic_compare_exchange_n(
		words, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

typedef bool visit_function(
    void *ctx, uintptr_t begin, uint32_t word, size_t size);

static bool
visit_words(const uint32_t *words, size_t i, size_t end, uintptr_t base,
    visit_function *visit, void *ctx)
{
	uintptr_t begin;
	uint32_t word;
	size_t size;

	for (; i < end; i++) {
		word = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
		if ((word & MU_SHADOW_START) == 0)
			continue;
		begin = base + (i << MU_SHADOW_WORD_SHIFT);
		size = live_size((void *)begin);
		/* The block was freed in between: the size is invalid. */
		if (size == 0 ||
		    __atomic_load_n(&words[i], __ATOMIC_ACQUIRE) != word)
			continue;
		if (!visit(ctx, begin, word, size))
			return false;
	}
	return true;
}

#define LEAST_PAGE ((size_t)4096)

/*
 * Find the pages of a span's words that are present, as reading the others
 * would fault. All count as present if that is unknown; a swapped-out page
 * looks as if it had never been touched (mincore(2)).
 */
static void
find_pages(const uint32_t *words, unsigned char there[SPAN_BYTES / LEAST_PAGE])
{
	struct sysinfo info = { 0 };

	if (mu_sys3(SYS_mincore, (long)words, SPAN_BYTES, (long)there) != 0 ||
	    mu_sys3(SYS_sysinfo, (long)&info, 0, 0) != 0 ||
	    info.freeswap != info.totalswap)
		memset(there, 1, SPAN_BYTES / LEAST_PAGE);
}

static bool
visit_span(
    const uint32_t *words, uintptr_t base, visit_function *visit, void *ctx)
{
	unsigned char there[SPAN_BYTES / LEAST_PAGE] = { 0 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	size_t step = page / sizeof(*words);

	find_pages(words, there);
	for (i = 0; i < MU_SHADOW_WORDS; i += step) {
		if ((there[i / step] & 1) != 0 &&
		    !visit_words(words, i, i + step, base, visit, ctx))
			return false;
	}
	return true;
}

void
live_each(visit_function *visit, void *ctx)
{
	uint64_t lowest, highest, words, span;

	if (live_directory == NULL)
		return;
	highest =
	    __atomic_load_n(&memunreachable_recorded.highest, __ATOMIC_ACQUIRE);
	lowest =
	    __atomic_load_n(&memunreachable_recorded.lowest, __ATOMIC_ACQUIRE);
	for (span = lowest >> MU_SHADOW_SPAN_SHIFT;
	     span < highest >> MU_SHADOW_SPAN_SHIFT; span++) {
		if (!is_inhabited(span)) {
			span |= GROUP - 1;
			continue;
		}
		words =
		    __atomic_load_n(&live_directory[span], __ATOMIC_ACQUIRE);
		if (words != 0 &&
		    !visit_span((const uint32_t *)(uintptr_t)words,
			span << MU_SHADOW_SPAN_SHIFT, visit, ctx))
			return;
	}
}
