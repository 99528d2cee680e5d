#include "tests/support/heaps/damaged_heap.h"

#define LARGE 1000 /* bytes: not for the tcache, once that is full */
#define SMALL 40   /* for fastbins */
#define CACHED 7   /* the least that a tcache's list holds */
#define CACHED_MOST 32

struct damaged subject;

size_t *
word_of(uintptr_t address)
{
	return (size_t *)address;
}

size_t *
damaged_size_of(char *block)
{
	return (size_t *)(block - 8);
}

size_t *
arena_word(size_t offset)
{
	return word_of(subject.glibc.main_arena + offset);
}

static void *
allocate_elsewhere(void *unused)
{
	void *volatile last; /* may not be optimised away */

	(void)unused;
	/* Two blocks: the first is not the arena's last. */
	subject.other = malloc(100);
	last = malloc(100);
	ck_assert_ptr_nonnull(last);
	return NULL;
}

/* Fill the tcache's list for SIZE, so that the next freed block goes to a bin.
 */
static void
fill_tcache(size_t size)
{
	char *blocks[CACHED_MOST];
	size_t i;

	for (i = 0; i < CACHED_MOST; i++)
		blocks[i] = malloc(size);
	for (i = 0; i < CACHED_MOST; i++)
		free(blocks[i]);
	subject.cached = blocks[CACHED - 1];
}

/* Where a list's head is, in its struct: where else is there such a word? */
static void
find_tcache(void)
{
	const struct mu_glibc_layout *layout = subject.glibc.layout;
	uintptr_t at = *word_of(subject.glibc.mp + layout->par_sbrk_base);
	uintptr_t top = *arena_word(layout->arena_top);
	size_t bin = mu_glibc_tcache_bin(layout, TWO + 8);

	for (; at < top; at += 8)
		if (*word_of(at) == (uintptr_t)subject.two[1])
			break;
	ck_assert_uint_lt(at, top);
	subject.tcache = (char *)at - bin * 8 -
	    (size_t)layout->tcache_count_size * layout->tcache_bins;
}

void
damaged_setup(void)
{
	struct self_snapshot self;
	char *large[2], *fence[3], *small[3];
	pthread_t thread;
	size_t i;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, allocate_elsewhere, NULL), 0);
	pthread_join(thread, NULL);
	/* First, as a large request empties the fastbins. */
	subject.mmapped = malloc(4 << 20);
	subject.used = malloc(LARGE);
	subject.next = malloc(LARGE);
	for (i = 0; i < 2; i++) {
		large[i] = malloc(LARGE + 64);
		fence[i] = malloc(LARGE);
	}
	for (i = 0; i < 3; i++)
		small[i] = malloc(SMALL);
	fence[2] = malloc(LARGE);
	ck_assert_ptr_nonnull(fence[2]);
	subject.two[0] = malloc(TWO);
	subject.two[1] = malloc(TWO);
	fill_tcache(LARGE + 64);
	fill_tcache(SMALL);
	for (i = 0; i < 2; i++)
		free(subject.large[i] = large[i]);
	for (i = 0; i < 3; i++)
		free(subject.small[i] = small[i]);
	free(subject.two[0]);
	free(subject.two[1]);

	ck_assert_int_eq(self_snapshot_take(&self, NULL, 0), MU_OK);
	ck_assert_int_eq(mu_glibc_find(&subject.glibc, NULL, &self.snap,
			     &self.arena, &self.why),
	    MU_OK);
	find_tcache();
}

static bool
count_kept(void *ctx, const struct mu_block *block)
{
	struct answer *answer = ctx;

	answer->kept += block->listed != NULL && block->listed->keep;
	return true;
}

void
read_heap(struct self_snapshot *self, struct answer *answer)
{
	struct mu_heap heap;

	answer->status =
	    mu_heaps_list(&heap, &self->snap, &self->arena, &answer->why);
	answer->count = heap.blocks.count;
	answer->inferred_from = heap.inferred_from;
	answer->kept = 0;
	if (answer->status == MU_OK || answer->status == MU_PARTIAL)
		mu_blocks_each(&heap.blocks, count_kept, answer);
}

struct answer
damaged_ask(void (*damage)(void), void (*twist)(struct self_snapshot *))
{
	struct answer answer = { 0 };
	struct self_snapshot self;
	int ends[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		alarm(100);
		if (self_snapshot_take(&self, NULL, 0) != MU_OK)
			_exit(1);
		if (twist != NULL)
			twist(&self);
		if (damage != NULL)
			damage();
		read_heap(&self, &answer);
		if (write(ends[1], &answer, sizeof(answer)) < 0)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	ck_assert_int_eq(
	    read(ends[0], &answer, sizeof(answer)), sizeof(answer));
	close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	return answer;
}

void
refused(void (*damage)(void), const char *words)
{
	struct answer answer = damaged_ask(damage, NULL);

	ck_assert_msg(answer.status == MU_ERR_HEAP_INCONSISTENT &&
		strstr(answer.why.text, words) != NULL,
	    "%s: \"%s\", wanted \"%s\"", mu_status_name(answer.status),
	    answer.why.text, words);
}

uintptr_t
mangle(void *field, uintptr_t value)
{
	return subject.glibc.layout->safe_linking
	    ? value ^ ((uintptr_t)field >> 12)
	    : value;
}
