#include "lib/look/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwalk/heaps/spans.h"
#include "lib/look/reading.h"
#include "lib/term/safe_text.h"
#include "memunreachable/memunreachable.h"

#define ARENAS_MOST 65536u

static void
read_usage(struct mu_look_reading *reading)
{
	struct mu_heap_usage *usage = &reading->look->usage;
	struct mu_arena_usage *arena;
	size_t max = 0;
	uint64_t left;

	mu_read_section(reading, MU_LOOK_USAGE);
	usage->live_reachable = mu_read_number(reading);
	usage->free_held = mu_read_number(reading);
	usage->overhead = mu_read_number(reading);
	usage->mmapped = mu_read_number(reading);
	usage->mmapped_live = mu_read_number(reading);
	usage->mmapped_free = mu_read_number(reading);
	usage->mmapped_unproven = mu_read_number(reading);
	usage->unproven = mu_read_number(reading);
	for (left = mu_read_most(reading, ARENAS_MOST); left > 0; left--) {
		if (!MU_READING_ROOM(
			reading, usage->arenas, usage->num_arenas, max))
			return;
		arena = &usage->arenas[usage->num_arenas++];
		arena->address = (uintptr_t)mu_read_number(reading);
		arena->span = mu_read_number(reading);
		arena->live = mu_read_number(reading);
		arena->bins = mu_read_number(reading);
		arena->fastbins = mu_read_number(reading);
		arena->tcache = mu_read_number(reading);
		arena->top = mu_read_number(reading);
		arena->overhead = mu_read_number(reading);
	}
}

/* The bounds of SPAN; each block ends at the next one. */
static void
read_bounds(struct mu_look_reading *reading, struct mu_span *span)
{
	size_t grains = mu_range_size(span->range) / MU_GRAIN, grain = 0, begin;
	bool live = false;
	uint64_t left, bound;

	for (left = mu_read_number(reading);
	     left > 0 && !mu_reading_failed(reading); left--) {
		begin = grain;
		bound = mu_read_number(reading);
		mu_reading_require(reading, bound >> 1 <= grains - grain);
		if (reading->in.bad)
			return;
		grain += bound >> 1;
		span->bytes +=
		    live ? (grain - begin) * MU_GRAIN - span->tail : 0;
		/* The first may be at the beginning, none at the same place. */
		mu_reading_require(reading, !live || grain > begin);
		live = (bound & 1) != 0;
		span->count += live;
		mu_span_begin(span, grain, live, 0);
	}
	mu_reading_require(reading, !live);
}

static void
read_spans(struct mu_look_reading *reading)
{
	struct mu_look_file *look = reading->look;
	struct mu_range whole;
	struct mu_span *span;
	const char *view;
	uint64_t left;
	size_t tail;

	for (left = mu_read_number(reading);
	     left > 0 && !mu_reading_failed(reading); left--) {
		whole = mu_read_range(reading);
		tail = mu_read_most(reading, MU_GRAIN - 1);
		view = mu_look_image_at(&look->image, whole);
		mu_reading_require(reading,
		    view != NULL && whole.begin % MU_GRAIN == 0 &&
			whole.end % MU_GRAIN == 0);
		if (mu_reading_failed(reading))
			return;
		span = mu_blocks_add_span(&look->blocks, whole, view);
		reading->no_memory = span == NULL;
		if (span == NULL)
			return;
		span->tail = tail;
		read_bounds(reading, span);
	}
}

static void
read_blocks(struct mu_look_reading *reading)
{
	struct mu_look_file *look = reading->look;
	struct mu_range block;
	const char *view;
	uint64_t left;

	mu_read_section(reading, MU_LOOK_BLOCKS);
	mu_blocks_open(&look->blocks, &look->arena);
	read_spans(reading);
	for (left = mu_read_number(reading);
	     left > 0 && !mu_reading_failed(reading); left--) {
		block = mu_read_range(reading);
		view = mu_look_image_at(&look->image, block);
		mu_reading_require(reading, view != NULL);
		if (!mu_reading_failed(reading))
			reading->no_memory =
			    mu_blocks_add(&look->blocks, block, view,
				mu_read_flag(reading)) != MU_OK;
	}
}

static bool
read_chunk(
    struct mu_look_reading *reading, uintptr_t *address, uintptr_t *other)
{
	struct mu_look_image *image = &reading->look->image;
	uint64_t gaps[MU_LOOK_CHUNK];
	size_t i, count = mu_read_most(reading, MU_LOOK_CHUNK);
	uintptr_t from, word;

	for (i = 0; i < count; i++)
		gaps[i] = mu_read_number(reading);
	for (i = 0; i < count && !mu_reading_failed(reading); i++) {
		*address += (uintptr_t)mu_unzigzag(gaps[i] >> 1);
		from = (gaps[i] & 1) != 0 ? *other : *address;
		word = from + (uintptr_t)mu_get_signed(&reading->in);
		if ((gaps[i] & 1) != 0)
			*other = word;
		if (mu_look_image_put(image, *address, word))
			continue;
		reading->no_memory = image->written > image->limit;
		mu_reading_require(reading, reading->no_memory);
	}
	return count > 0 && !mu_reading_failed(reading);
}

static void
read_lost(struct mu_look_reading *reading)
{
	struct mu_look_file *look = reading->look;
	struct mu_range *lost;
	uintptr_t last = 0;
	size_t max = 0, max_marks = 0;
	uint64_t left;

	mu_read_section(reading, MU_LOOK_LOST);
	/* No NULL: that would be no list. */
	look->lost = mu_reading_make(reading, 0, sizeof(*look->lost));
	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(
			reading, look->lost, look->num_lost, max) ||
		    !MU_READING_ROOM(
			reading, look->marks, look->num_lost, max_marks))
			return;
		lost = &look->lost[look->num_lost++];
		*lost = mu_read_range(reading);
		lost->begin += last;
		lost->end += last;
		mu_reading_require(
		    reading, lost->begin >= last && lost->end > lost->begin);
		look->marks[look->num_lost - 1] =
		    (uint16_t)mu_read_most(reading, UINT16_MAX);
		last = lost->begin;
	}
}

static bool
is_stop(const char *word)
{
	static const char *const words[] = { "fork", "read", "core", "exit",
		"ptrace", "signal", "" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static void
read_outcome(struct mu_look_reading *reading)
{
	struct mu_look_outcome *outcome = &reading->look->outcome;

	mu_read_section(reading, MU_LOOK_OUTCOME);
	outcome->pid = (pid_t)mu_read_most(reading, INT32_MAX);
	mu_read_string_into(
	    reading, outcome->program, sizeof(outcome->program));
	mu_read_string_into(reading, outcome->stop, sizeof(outcome->stop));
	mu_reading_require(reading, is_stop(outcome->stop));
	outcome->real_ns = mu_read_number(reading);
	outcome->status = (int)mu_read_most(reading, MEMUNREACHABLE_PARTIAL);
	mu_read_string_into(reading, outcome->reason, sizeof(outcome->reason));
	outcome->cure = mu_read_most(reading, strlen(outcome->reason));
	outcome->pause_ns = mu_read_number(reading);
	outcome->tries = (unsigned)mu_read_most(reading, INT32_MAX);
	mu_read_string_into(
	    reading, outcome->names_note, sizeof(outcome->names_note));
	mu_reading_require(reading,
	    outcome->status == MEMUNREACHABLE_COMPLETE ||
		outcome->status == MEMUNREACHABLE_PARTIAL);
	mu_reading_require(reading,
	    !mu_reading_failed(reading) && mu_bytes_in_ends(&reading->in));
}

static void
read_all(struct mu_look_reading *reading, size_t limit)
{
	struct mu_look_file *look = reading->look;
	uintptr_t address = 0, other = 0;

	mu_look_read_subject(reading);
	mu_look_read_mappings(reading);
	if (mu_reading_failed(reading))
		return;
	if (!mu_look_image_open(
		&look->image, &look->snap, limit, &look->arena)) {
		reading->no_memory = true;
		return;
	}
	mu_look_read_threads(reading);
	mu_look_read_roots(reading);
	read_usage(reading);
	read_blocks(reading);
	mu_read_section(reading, MU_LOOK_WORDS);
	while (read_chunk(reading, &address, &other))
		continue;
	read_lost(reading);
	mu_look_read_stacks(reading);
	mu_look_read_names(reading);
	read_outcome(reading);
}

bool
mu_look_file_is(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[sizeof(MU_LOOK_MAGIC)];
	bool is = fd >= 0 &&
	    pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	    memcmp(magic, MU_LOOK_MAGIC, sizeof(magic)) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

enum mu_status
mu_look_file_read(struct mu_look_file *look, const void *bytes, size_t size,
    size_t limit, struct mu_why *why)
{
	struct mu_look_reading reading = { .look = look };
	bool is_look, known, bad;

	*look = (struct mu_look_file) { .snap = { .only_moment = true } };
	mu_arena_open(&look->arena, limit);
	look->saved = (struct mu_saved) {
		.blocks = &look->blocks,
		.usage = &look->usage,
		.roots = &look->roots,
		.owners = &look->owners,
	};
	look->snap.saved = &look->saved;
	is_look = mu_bytes_in_open(&reading.in, bytes, size, &reading.version);
	known = reading.version == MU_LOOK_VERSION ||
	    reading.version == MU_LOOK_NO_SCRIPTS;
	if (is_look && known)
		read_all(&reading, limit);
	bad = reading.in.bad;
	mu_bytes_in_close(&reading.in);
	if (!is_look)
		return mu_why(why, MU_ERR_ARGUMENT, "it is no saved look");
	if (!known)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "it has version %u of the format, and this command reads"
		    " %u" MU_CURE "use the command that wrote it",
		    (unsigned)reading.version, MU_LOOK_VERSION);
	if (reading.no_memory)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "there is no memory to show it" MU_CURE
		    "give it more (--max-memory)");
	if (bad)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "it is damaged, or was not written to its end");
	return MU_OK;
}

/* All of FD, for free(); NULL with errno. */
static char *
read_file(int fd, size_t *size)
{
	struct stat status;
	size_t room;
	char *bytes;
	ssize_t n = 0;

	if (fstat(fd, &status) != 0)
		return NULL;
	room = S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
	bytes = malloc(room + 1);
	for (*size = 0; bytes != NULL && *size < room; *size += (size_t)n) {
		n = read(fd, bytes + *size, room - *size);
		if (n <= 0)
			break;
	}
	if (n >= 0)
		return bytes;
	free(bytes);
	return NULL;
}

enum mu_status
mu_look_file_open(struct mu_look_file *look, const char *path, size_t limit,
    struct mu_why *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes = NULL;
	size_t size = 0;
	enum mu_status status;
	struct mu_why name;

	if (fd >= 0)
		bytes = read_file(fd, &size);
	if (bytes == NULL)
		status = mu_why(why, MU_ERR_ARGUMENT, "cannot read %s: %s",
		    mu_safe_argument(path).text, strerror(errno));
	else
		status = mu_look_file_read(look, bytes, size, limit, why);
	if (status != MU_OK && bytes != NULL) {
		mu_why(&name, MU_OK, "%s", mu_safe_argument(path).text);
		mu_why_after(why, &name, ": ");
	}
	free(bytes);
	if (fd >= 0)
		close(fd);
	return status;
}

void
mu_look_file_close(struct mu_look_file *look)
{
	/* Its questions are in the arena. */
	look->names.questions = NULL;
	mu_kept_names_close(&look->names);
	mu_look_image_close(&look->image);
	mu_arena_close(&look->arena);
	*look = (struct mu_look_file) { .num_lost = 0 };
}
