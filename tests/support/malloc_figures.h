/*
 * What malloc itself says of its heap: mallinfo2() and malloc_info(). To ask
 * takes none of its memory.
 *
 * Chunks in tcaches count as in use there. The sizes of chunks in bins are
 * summed up flags and all in malloc_info(), and such a chunk always has one:
 * PREV_INUSE, which is 1.
 */
#ifndef TESTS_SUPPORT_MALLOC_FIGURES_H
#define TESTS_SUPPORT_MALLOC_FIGURES_H

#include <check.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIGURES_ARENAS 64
#define FIGURES_TEXT ((size_t)1 << 20)

struct figures_arena {
	size_t system_mem;
	size_t num_fast, fast; /* chunks in fastbins; bytes */
	size_t num_rest, rest; /* chunks in other bins, and top; bytes */
};

struct figures {
	size_t system_mem, free, fast, used, top; /* top: of the main arena */
	size_t num_mmapped, mmapped;
};

struct malloc_figures {
	FILE *file;
	char buffer[4096], text[FIGURES_TEXT];
	struct figures sums;
	struct figures_arena arenas[FIGURES_ARENAS];
	size_t num_arenas;
};

static inline void
malloc_figures_open(struct malloc_figures *figures)
{
	memset(figures, 0, sizeof(*figures));
	figures->file = tmpfile();
	ck_assert_ptr_nonnull(figures->file);
	setvbuf(
	    figures->file, figures->buffer, _IOFBF, sizeof(figures->buffer));
}

/* No assertions here: they allocate. */
static inline bool
malloc_figures_ask(struct malloc_figures *figures)
{
#if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 info = mallinfo2();
#else
	struct mallinfo info = mallinfo();
#endif
	int fd = fileno(figures->file);
	ssize_t length;

	figures->sums = (struct figures) {
		.system_mem = (size_t)info.arena,
		.free = (size_t)info.fordblks,
		.fast = (size_t)info.fsmblks,
		.used = (size_t)info.uordblks,
		.top = (size_t)info.keepcost,
		.num_mmapped = (size_t)info.hblks,
		.mmapped = (size_t)info.hblkhd,
	};
	rewind(figures->file);
	if (ftruncate(fd, 0) != 0 || malloc_info(0, figures->file) != 0 ||
	    fflush(figures->file) != 0)
		return false;
	length = pread(fd, figures->text, FIGURES_TEXT - 1, 0);
	figures->text[length < 0 ? 0 : length] = '\0';
	return length > 0 && (size_t)length < FIGURES_TEXT - 1;
}

/* The number that follows KEY and then NAME behind AT. */
static inline size_t
malloc_figures_number(const char *at, const char *key, const char *name)
{
	at = strstr(at, key);
	ck_assert_msg(at != NULL, "malloc_info(): no %s", key);
	at = strstr(at, name);
	ck_assert_msg(at != NULL, "malloc_info(): no %s", name);
	return strtoul(at + strlen(name), NULL, 10);
}

/* Take apart what was asked last. */
static inline void
malloc_figures_read(struct malloc_figures *figures)
{
	const char *at = figures->text, *fast = "<total type=\"fast\"";
	const char *rest = "<total type=\"rest\"", *system = "\"current\"";
	struct figures_arena *arena = figures->arenas;
	bool has_fast = strstr(at, fast) != NULL; /* up to glibc 2.42 */

	for (figures->num_arenas = 0; (at = strstr(at, "<heap nr=")) != NULL;
	     arena++, figures->num_arenas++, at++) {
		ck_assert_uint_lt(figures->num_arenas, FIGURES_ARENAS);
		arena->system_mem =
		    malloc_figures_number(at, system, " size=\"");
		arena->num_fast =
		    has_fast ? malloc_figures_number(at, fast, " count=\"") : 0;
		arena->fast =
		    has_fast ? malloc_figures_number(at, fast, " size=\"") : 0;
		arena->num_rest = malloc_figures_number(at, rest, " count=\"");
		arena->rest = malloc_figures_number(at, rest, " size=\"");
	}
}

#endif
