/*
 * One question to the tool that CORPUS_TOOL names (ours, valgrind, lsan), and
 * the record, as lines:
 *
 *   block ADDRESS SIZE NAME.ORDINAL CALLER   a live block; NAME is - if kept
 *   unknown                                  the tool could not be asked
 *   status N WORDS                           of a pass of ours
 *   total N                                  blocks lost, by ours
 *   lost ADDRESS                             by ours; the others have logs
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "include/memunreachable/memunreachable.h"
#include "tests/corpus/support/ask.h"
#include "tests/corpus/support/corpus.h"
#include "tests/corpus/support/record.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define HAVE_VALGRIND 1
#else
#define HAVE_VALGRIND 0
#endif

#define LIMIT 10000  /* entries of a report */
#define SINGLES 3000 /* at most this many passes for single blocks */

/* A live block for the search below; inverted, since passes follow. */
struct place {
	uintptr_t hidden;
	size_t usable;
	bool head, lost, tried; /* head: of an entry */
};

struct ours {
	bool (*get)(struct UnreachableMemoryInfo *, size_t);
	bool (*ignore)(const void *);
	bool (*unignore)(const void *);
};

static struct place *places;
static char tool[16];

static size_t
list_places(void)
{
	size_t n = 0, i, j, gap;
	struct place place;

	for (i = 0; i < RECORD_SLOTS; i++) {
		if (record_table[i].hidden == 0)
			continue;
		places[n].hidden = record_table[i].hidden;
		places[n++].usable =
		    malloc_usable_size((void *)~record_table[i].hidden);
	}
	for (gap = n / 2; gap > 0; gap /= 2) {
		for (i = gap; i < n; i++) {
			place = places[i];
			for (j = i;
			     j >= gap && places[j - gap].hidden < place.hidden;
			     j -= gap)
				places[j] = places[j - gap];
			places[j] = place;
		}
	}
	return n;
}

/* The place that WORD points into: by falling ~address, so rising address. */
static struct place *
place_of(size_t n, uintptr_t word)
{
	size_t low = 0, high = n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (~places[middle].hidden <= word)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 ||
	    word - ~places[low - 1].hidden >= places[low - 1].usable)
		return NULL;
	return &places[low - 1];
}

/* What a lost block leads to may be lost, too. */
static size_t
close_over(size_t n)
{
	struct place *place;
	const uintptr_t *words;
	size_t count = 0, i, j;
	bool more = true;

	while (more) {
		more = false;
		for (i = 0; i < n; i++) {
			if (!places[i].lost || places[i].tried)
				continue;
			places[i].tried = true;
			count++;
			words = (const uintptr_t *)~places[i].hidden;
			for (j = 0; j < places[i].usable / sizeof(*words);
			     j++) {
				place = place_of(n, words[j]);
				if (place == NULL || place->lost)
					continue;
				place->lost = true;
				more = true;
			}
		}
	}
	return count;
}

/* A block is lost if the pass finds fewer blocks when it ignores this one. */
static void
ask_one_by_one(const struct ours *ours, size_t n, size_t lost)
{
	struct UnreachableMemoryInfo info = { 0 };
	void *block;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!places[i].lost)
			continue;
		block = (void *)~places[i].hidden;
		ours->ignore(block);
		places[i].lost =
		    ours->get(&info, LIMIT) && info.num_leaks < lost;
		ours->unignore(block);
	}
}

static void
print_lost(int fd, uintptr_t address)
{
	dprintf(fd, "lost %#lx\n", (unsigned long)address);
}

/*
 * A report has an entry for each group of blocks that hang together, and the
 * number of all. If what the entries lead to is as many blocks, it is these.
 * If it is too many to be asked for one by one, only the heads are told.
 */
static void
ask_ours(int fd)
{
	struct UnreachableMemoryInfo info = { 0 };
	struct ours ours;
	struct place *place;
	size_t n, i, lost, more, unknown = 0;

	*(void **)&ours.get = dlsym(RTLD_DEFAULT, "GetUnreachableMemory");
	*(void **)&ours.ignore =
	    dlsym(RTLD_DEFAULT, "memunreachable_ignore_object");
	*(void **)&ours.unignore =
	    dlsym(RTLD_DEFAULT, "memunreachable_unignore_object");
	if (ours.get == NULL || ours.ignore == NULL || ours.unignore == NULL) {
		dprintf(fd, "unknown\n");
		return;
	}
	corpus_scrub();
	ours.get(&info, LIMIT);
	n = list_places();
	for (i = 0; i < info.num_reported; i++) {
		place = place_of(n, info.leaks[i].begin);
		if (place != NULL && ~place->hidden == info.leaks[i].begin) {
			place->lost = true;
		} else {
			print_lost(fd, info.leaks[i].begin);
			unknown++;
		}
	}
	lost = info.num_leaks;
	for (i = 0; i < n; i++)
		places[i].head = places[i].lost;
	more = close_over(n) + unknown;
	if (more > lost && more <= SINGLES)
		ask_one_by_one(&ours, n, lost);
	dprintf(fd, "status %d %s\n", info.status, info.reason);
	dprintf(fd, "total %zu\n", lost);
	for (i = 0; i < n; i++) {
		if (more > SINGLES ? places[i].head : places[i].lost)
			print_lost(fd, ~places[i].hidden);
	}
}

static void
ask_valgrind(int fd)
{
#if HAVE_VALGRIND
	if (RUNNING_ON_VALGRIND) {
		corpus_scrub();
		VALGRIND_MONITOR_COMMAND("leak_check full kinds "
					 "definite,indirect any unlimited");
		VALGRIND_MONITOR_COMMAND("block_list 1..10000 unlimited");
		return;
	}
#endif
	dprintf(fd, "unknown\n");
}

static void
ask_lsan(int fd)
{
	int (*check)(void);

	*(void **)&check =
	    dlsym(RTLD_DEFAULT, "__lsan_do_recoverable_leak_check");
	if (check == NULL) {
		dprintf(fd, "unknown\n");
		return;
	}
	corpus_scrub();
	check();
}

static void
print_record(int fd)
{
	const struct record *record;
	Dl_info where;
	uintptr_t offset;
	const char *file;
	size_t i;

	for (i = 0; i < RECORD_SLOTS; i++) {
		record = &record_table[i];
		if (record->hidden == 0)
			continue;
		file = "?";
		offset = 0;
		if (dladdr((void *)~record->caller, &where) != 0) {
			file = strrchr(where.dli_fname, '/');
			file = file != NULL ? file + 1 : where.dli_fname;
			offset = ~record->caller - (uintptr_t)where.dli_fbase;
		}
		dprintf(fd, "block %#lx %zu %s.%u %s+%#lx\n",
		    (unsigned long)~record->hidden, record->size,
		    record->name != NULL ? record->name : "-", record->ordinal,
		    file, (unsigned long)offset);
	}
}

void
ask_prepare(void)
{
	places = mmap(NULL, RECORD_SLOTS * sizeof(*places),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (places == MAP_FAILED)
		abort();
	snprintf(tool, sizeof(tool), "%s",
	    getenv("CORPUS_TOOL") != NULL ? getenv("CORPUS_TOOL") : "ours");
}

void
ask(int fd)
{
	if (strcmp(tool, "ours") == 0)
		ask_ours(fd);
	else if (strcmp(tool, "valgrind") == 0)
		ask_valgrind(fd);
	else
		ask_lsan(fd);
	print_record(fd);
}
