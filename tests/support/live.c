#include "tests/support/live.h"
#include "tests/support/clear_vectors.h"
#include "tests/support/map_files.h"

__attribute__((noinline)) void
scrub_registers(void)
{
	clear_vectors();
#if defined(__x86_64__)
	__asm__ volatile(
	    "xorl %%eax, %%eax\n\txorl %%ecx, %%ecx\n\txorl %%edx, %%edx\n\t"
	    "xorl %%esi, %%esi\n\txorl %%edi, %%edi\n\txorl %%r8d, %%r8d\n\t"
	    "xorl %%r9d, %%r9d\n\txorl %%r10d, %%r10d\n\t"
	    "xorl %%r11d, %%r11d\n\t"
	    "pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\t"
	    "pxor %%xmm2, %%xmm2\n\tpxor %%xmm3, %%xmm3\n\t"
	    "pxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\t"
	    "pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\t"
	    "pxor %%xmm8, %%xmm8\n\tpxor %%xmm9, %%xmm9\n\t"
	    "pxor %%xmm10, %%xmm10\n\tpxor %%xmm11, %%xmm11\n\t"
	    "pxor %%xmm12, %%xmm12\n\tpxor %%xmm13, %%xmm13\n\t"
	    "pxor %%xmm14, %%xmm14\n\tpxor %%xmm15, %%xmm15"
	    :
	    :
	    : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
	    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
	    "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
	    "xmm15");
#endif
}

#if defined(__x86_64__)
__asm__(".text\n\t.globl scrub\n\t.type scrub, @function\nscrub:\n\t"
	"leaq -32768(%rsp), %rdi\n\tmovl $4096, %ecx\n\txorl %eax, %eax\n\t"
	"cld\n\trep stosq\n\tsubq $8, %rsp\n\tcall *scrub_last(%rip)\n\t"
	"addq $8, %rsp\n\tmovq $0, -16(%rsp)\n\tret\n\t"
	".size scrub, .-scrub");
static __attribute__((used)) void (*scrub_last)(void) = scrub_registers;
#else
__attribute__((noinline)) void
scrub(void)
{
	scrub_stack();
	scrub_registers();
}
#endif

/*
 * Memory that the test runner has used is no place for a block that must get
 * lost: buffers that the runner still holds are full of old words. All of it
 * lies below what was the end of the heap when the first block was made.
 */
static uintptr_t runner_end; /* hidden: a block will begin there */
static void *kept_blocks;

__attribute__((noinline)) void
block_keep(void *block)
{
	*(void **)block = kept_blocks;
	kept_blocks = block;
}

static __attribute__((noinline)) void
leave_runner_behind(void)
{
	char *filler;

	runner_end = mu_hide(sbrk(0));
	do {
		filler = calloc(1, 65536);
		if (filler == NULL)
			abort();
		block_keep(filler);
	} while (mu_hide(filler) > runner_end);
}

/*
 * The runner writes ints over the lower halves of old pointers, as check's
 * TestResult.duration does, in microseconds: what comes of it is an address in
 * the first MiB of 4 GiB. Where the heap of an arena happens to lie there, it
 * refers to a block. No block that must get lost is put there either.
 */
#define HALF_POINTERS ((size_t)64 << 20)

static __attribute__((noinline)) bool
is_half_pointed(void *block)
{
	size_t size = malloc_usable_size(block);

	return (uint32_t)((uintptr_t)block + size) < HALF_POINTERS + size;
}

__attribute__((noinline)) void *
block_fresh(size_t alignment, size_t size)
{
	void *block = NULL;
	bool half;

	if (runner_end == 0)
		leave_runner_behind();
	for (;;) {
		if (alignment == 0)
			block = malloc(size);
		else if (posix_memalign(&block, alignment, size) != 0)
			block = NULL;
		if (block == NULL)
			abort();
		memset(block, 0, malloc_usable_size(block));
		half = is_half_pointed(block);
		if (mu_hide(block) <= runner_end && !half)
			return block;
		block_keep(block);
		if (half && (block = calloc(1, 65536)) != NULL)
			block_keep(block);
	}
}

__attribute__((noinline)) uintptr_t
block_new(size_t size)
{
	return mu_hide(block_fresh(0, size));
}

__attribute__((noinline)) void
block_free(uintptr_t hidden)
{
	free(mu_reveal(hidden));
}

__attribute__((noinline)) size_t
block_size(uintptr_t hidden)
{
	return malloc_usable_size(mu_reveal(hidden));
}

__attribute__((noinline)) void
put(void *place, uintptr_t hidden)
{
	*(void *volatile *)place = mu_reveal(hidden);
}

__attribute__((noinline)) void
drop(void *place)
{
	*(void *volatile *)place = NULL;
}

__attribute__((noinline)) void
block_link(uintptr_t from, size_t offset, uintptr_t to)
{
	*(void *volatile *)((char *)mu_reveal(from) + offset) = mu_reveal(to);
}

__attribute__((noinline)) void
show(const struct UnreachableMemoryInfo *info)
{
	static char text[16384];

	memunreachable_format_info(info, true, text, sizeof(text));
	fprintf(stderr, "%s", text);
}

/*
 * True if threads were stopped as tests/stop_methods.sh says in TESTS_STOP, if
 * it does. If the calling thread is the only one there is no thread for which
 * ptrace could be refused.
 */
static __attribute__((noinline)) bool
stopped_as_wanted(const struct UnreachableMemoryInfo *info)
{
	const char *wanted = getenv("TESTS_STOP");

	return wanted == NULL || info->stop == atoi(wanted) ||
	    info->num_threads < 2;
}

__attribute__((noinline)) size_t
ask(size_t wanted)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t leaks;

	GetUnreachableMemory(&info, 20);
	if (info.status != MEMUNREACHABLE_COMPLETE)
		ck_abort_msg("%s: %s", memunreachable_status_name(info.status),
		    info.reason);
	ck_assert_msg(stopped_as_wanted(&info), "stopped by %d", info.stop);
	leaks = info.num_leaks;
	if (leaks != wanted)
		show(&info);
	FreeUnreachableMemoryInfo(&info);
	return leaks;
}

static bool doubted;

void
expect_doubt_of_files(void)
{
	doubted = !has_map_files();
}

static bool
is_as_sure_as_can_be(const struct UnreachableMemoryInfo *info)
{
	return doubted ? info->status == MEMUNREACHABLE_PARTIAL &&
		strstr(info->reason, "stored references in shared memory")
		       : info->status == MEMUNREACHABLE_COMPLETE;
}

__attribute__((noinline)) bool
ask_lost(uintptr_t hidden)
{
	struct UnreachableMemoryInfo info = { 0 };
	bool lost;

	GetUnreachableMemory(&info, 20);
	lost = is_as_sure_as_can_be(&info) && info.num_leaks == 1 &&
	    info.num_reported == 1 &&
	    mu_hide((void *)info.leaks[0].begin) == hidden;
	ck_assert_msg(stopped_as_wanted(&info), "stopped by %d", info.stop);
	if (!lost) {
		fprintf(
		    stderr, "wanted %p: %s\n", mu_reveal(hidden), info.reason);
		show(&info);
	}
	FreeUnreachableMemoryInfo(&info);
	return lost;
}

__attribute__((noinline)) void
expect_root(void *place)
{
	uintptr_t block = block_new(72);

	put(place, block);
	EXPECT_LEAKS(0);
	drop(place);
	EXPECT_LOST(block);
	block_free(block);
	EXPECT_LEAKS(0);
}

__attribute__((noinline)) void
expect_no_root(void *place)
{
	uintptr_t block = block_new(72);

	EXPECT_LEAKS(1);
	put(place, block);
	EXPECT_LEAKS(1);
	drop(place);
	block_free(block);
	EXPECT_LEAKS(0);
}

__attribute__((noinline)) long
futex(int *word, int operation, int value)
{
	return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

__attribute__((noinline)) void
worker_park(struct worker *worker)
{
	int allowed, number;

	number = __atomic_add_fetch(&worker->reached, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		allowed = __atomic_load_n(&worker->allowed, __ATOMIC_SEQ_CST);
		if (allowed >= number)
			return;
		futex(&worker->allowed, FUTEX_WAIT_PRIVATE, allowed);
	}
}

__attribute__((noinline)) char
thread_state(pid_t tid)
{
	char path[64], stat[256], *name_end;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (length <= 0)
		return 0;
	stat[length] = '\0';
	name_end = strrchr(stat, ')');
	return name_end == NULL ? 0 : name_end[2];
}

#define AWAIT_US 20 /* and the timer's slack of 50 */

__attribute__((noinline)) void
worker_await(struct worker *worker, int number)
{
	while (__atomic_load_n(&worker->reached, __ATOMIC_SEQ_CST) < number ||
	    thread_state(worker->tid) != 'S')
		usleep(AWAIT_US); /* leaves the CPU to it, and to others */
}

__attribute__((noinline)) void *
worker_main(void *arg)
{
	struct worker *worker = arg;

	__atomic_store_n(&worker->tid, gettid(), __ATOMIC_SEQ_CST);
	worker->body(worker);
	return NULL;
}

__attribute__((noinline)) void
worker_start(struct worker *worker)
{
	ck_assert_int_eq(
	    pthread_create(&worker->thread, NULL, worker_main, worker), 0);
	worker_await(worker, 1);
}

__attribute__((noinline)) void
worker_next(struct worker *worker)
{
	int number = __atomic_add_fetch(&worker->allowed, 1, __ATOMIC_SEQ_CST);

	futex(&worker->allowed, FUTEX_WAKE_PRIVATE, 1);
	worker_await(worker, number + 1);
}

__attribute__((noinline)) void
worker_finish(struct worker *worker)
{
	__atomic_store_n(&worker->allowed, INT_MAX, __ATOMIC_SEQ_CST);
	futex(&worker->allowed, FUTEX_WAKE_PRIVATE, 1);
	ck_assert_int_eq(pthread_join(worker->thread, NULL), 0);
}

size_t
count_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	size_t count = 0;
	int c;

	while ((c = getc(file)) != EOF)
		count += c == '\n';
	fclose(file);
	return count;
}
