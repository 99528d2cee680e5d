/*
 * What of the library runs in the threads of the program, by several of them at
 * once: passes asked for, references asked for, regions and objects registered
 * and taken back, answers written out and freed, a signal watched and sent. For
 * ThreadSanitizer (make check-tsan); without it, for the sums.
 *
 * ThreadSanitizer has its own malloc, which a pass refuses; that is the answer
 * then. And it knows no thread that is not libc's: the signal is watched only,
 * its pass would run in such a one.
 */
#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/suite.h"

#ifdef __SANITIZE_THREAD__
#define FOREIGN_MALLOC 1
#else
#define FOREIGN_MALLOC 0
#endif

#define ROUNDS 12
#define SIGNO SIGUSR2

static unsigned wrongs;
static char region[4096];

/* Not by check's means: they are for one thread. */
static void
expect(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "wrong: %s\n", what);
	__atomic_fetch_add(&wrongs, 1, __ATOMIC_RELAXED);
}

static void *
ask(void *unused)
{
	struct UnreachableMemoryInfo info = { 0 };
	char text[2048];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		GetUnreachableMemory(&info, 5);
		expect(FOREIGN_MALLOC
			? info.status == MEMUNREACHABLE_FOREIGN_ALLOCATOR
			: info.status == MEMUNREACHABLE_COMPLETE,
		    info.reason);
		memunreachable_format_info(&info, true, text, sizeof(text));
		FreeUnreachableMemoryInfo(&info);
	}
	return unused;
}

static void *
ask_for_text(void *unused)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		free(GetUnreachableMemoryString(false, 5));
		expect(LogUnreachableMemory(true, 5) != FOREIGN_MALLOC, "log");
	}
	return unused;
}

static bool
look(void *ctx, const struct MemunreachableReference *reference)
{
	char line[256];

	(*(size_t *)ctx)++;
	memunreachable_format_reference(reference, line, sizeof(line));
	return true;
}

static void *
ask_why(void *unused)
{
	char *volatile block = malloc(100);
	ptrdiff_t answer;
	size_t told;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		told = 0;
		answer = memunreachable_why_reachable(block, look, &told);
		expect(FOREIGN_MALLOC
			? answer == -MEMUNREACHABLE_FOREIGN_ALLOCATOR
			: answer > 0 && (size_t)answer == told,
		    "references");
	}
	free(block);
	return unused;
}

static ptrdiff_t
provide(void *ctx, uintptr_t *words, size_t max)
{
	if (max > 0)
		words[0] = (uintptr_t)ctx;
	return 1;
}

static void *
register_roots(void *unused)
{
	void *block = malloc(32);
	int i;

	for (i = 0; i < 50 * ROUNDS; i++) {
		expect(
		    memunreachable_register_root_region(region, sizeof(region)),
		    "regions");
		expect(memunreachable_ignore_object(block), "roots");
		expect(memunreachable_register_root_provider(provide, block),
		    "roots");
		expect(memunreachable_unignore_object(block), "roots");
		expect(memunreachable_unregister_root_region(
			   region, sizeof(region)),
		    "regions");
		expect(memunreachable_unregister_root_provider(provide, block),
		    "roots");
	}
	free(block);
	return unused;
}

static void *
watch_and_send(void *unused)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		expect(memunreachable_watch_signal(SIGNO), "watch");
		if (!FOREIGN_MALLOC)
			expect(
			    pthread_kill(pthread_self(), SIGNO) == 0, "send");
	}
	return unused;
}

static void
await_watcher(void)
{
	while (__atomic_load_n(&mu_library.watch.tid, __ATOMIC_ACQUIRE) != 0)
		usleep(1000);
}

TEST(all_at_once)
{
	static void *(*const bodies[])(void *) = { ask, ask, ask_for_text,
		ask_why, register_roots, register_roots, watch_and_send,
		watch_and_send };
	enum { COUNT = sizeof(bodies) / sizeof(bodies[0]) };
	pthread_t threads[COUNT];
	char log[MU_PATH_MAX + 16];
	size_t i;

	snprintf(mu_library.options.log_path, MU_PATH_MAX, "/tmp/mu-original");
	mu_library.options.min_interval = 1;
	for (i = 0; i < COUNT; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, bodies[i], NULL), 0);
	for (i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	await_watcher();
	snprintf(log, sizeof(log), "%s.%d", mu_library.options.log_path,
	    (int)getpid());
	unlink(log);
	ck_assert_uint_eq(wrongs, 0);
	ck_assert_ptr_null(mu_library.results.first);
	ck_assert_uint_eq(mu_library.registry.num_regions, 0);
	ck_assert_uint_eq(mu_library.registry.num_providers, 0);
}
