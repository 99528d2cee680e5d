/*
 * A program at full load that makes pass after pass.
 *
 * 16 threads allocate, free each other's blocks, fork, start programs and
 * threads, load a library and send signals, while the main thread makes passes,
 * with threads stopped by ptrace and by signal in turn. Each answer is right,
 * or says why there is none; when all threads rest, nothing of ours remains,
 * and no signal, child or block of the program is missing.
 *
 * Usage: soak [SECONDS]    Environment: SOAK_SEED
 */
#include "tests/soak/figures.h"
#include "tests/soak/model.h"
#include "tests/soak/processes.h"
#include "tests/soak/signals.h"
#include "tests/soak/state.h"

#include "lib/state/library.h"

#define SOAKERS 16
#define LIMIT ((size_t)4096) /* entries; more than can be lost */
#define STEP 10              /* passes, after which another group is lost */
#define WATCH 200 /* passes, after which all must have done something */

static void round_churn(struct soaker *soaker);

static const struct role churner = { "allocates", round_churn };
static const struct role forker = { "forks", round_fork };
static const struct role starter = { "starts programs", round_exec };
static const struct role loader = { "loads a library", round_load };
static const struct role maker = { "makes threads", round_threads };
static const struct role queuer = { "queues signals", round_queued };
static const struct role sender = { "sends signals", round_standard };
static const struct role catcher = { "catches SIGURG", round_urgent };

static const struct role *const roles[SOAKERS] = { &churner, &churner, &churner,
	&churner, &churner, &churner, &churner, &churner, &forker, &forker,
	&starter, &loader, &maker, &queuer, &sender, &catcher };

static struct soaker soakers[SOAKERS], chance;
static struct figures figures;
static unsigned long steps;

/* Until all rest; its progress is counted inside. */
static void
round_churn(struct soaker *soaker)
{
	struct node *list = NULL;

	churn_on(&soaker->churner, &list);
}

static void
start(void)
{
	size_t i;

	__atomic_store_n(&resting, 0, __ATOMIC_SEQ_CST);
	for (i = 0; i < SOAKERS; i++) {
		soakers[i].role = roles[i];
		if (pthread_create(&soakers[i].thread, NULL, soaker_body,
			&soakers[i]) != 0)
			abort();
	}
}

/* All threads have ended and freed their blocks. */
static void
rest(size_t threads)
{
	uint64_t deadline = now_ns() + PATIENCE_NS;
	size_t i;

	__atomic_store_n(&resting, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < SOAKERS; i++)
		pthread_join(soakers[i].thread, NULL);
	for (i = 0; i < SLOTS; i++) {
		free(slots[i]);
		slots[i] = NULL;
	}
	/* The kernel takes a moment to forget those that were detached. */
	while (
	    count_entries("/proc/self/task") > threads && now_ns() < deadline)
		sched_yield();
}

static void
watch(void)
{
	size_t i;

	for (i = 0; i < SOAKERS; i++) {
		if (!await_count(
			&soakers[i].churner.progress, soakers[i].watched + 1))
			wrong("the thread that %s stands still",
			    soakers[i].role->name);
		soakers[i].watched = count_of(&soakers[i].churner.progress);
	}
}

static __attribute__((noinline)) void
pass(unsigned asked, struct figures *to)
{
	struct UnreachableMemoryInfo info = { 0 };
	bool checked;

	mu_library.options.stop = (enum mu_stop_option)asked;
	scrub();
	checked = GetUnreachableMemory(&info, LIMIT);
	figures_add(to, asked, &info);
	if (checked && !model_agrees(&info, false)) {
		wrong("pass %zu, stop=%u, by %d: status %d, %s", to->passes,
		    asked, info.stop, info.status, info.reason);
		show(&info);
	}
	FreeUnreachableMemoryInfo(&info);
}

static void
soak(uint64_t until_ns, struct figures *to)
{
	while (now_ns() < until_ns && wrongs == 0) {
		pass((unsigned)(to->passes % NUM_ASKED), to);
		if (to->passes % STEP == 0) {
			model_step();
			steps++;
		}
		if (to->passes % WATCH == 0)
			watch();
	}
}

static void
print_work(void)
{
	unsigned long churned = 0;
	size_t i;

	for (i = 0; i < SOAKERS; i++)
		if (roles[i] == &churner)
			churned += soakers[i].churner.progress;
	printf("lost: in steps of %d, up to %d blocks, %lu steps\n", GROUP,
	    MAX_LOST, steps);
	printf("done: %lu allocations, %lu threads, %lu libraries"
	       " loaded,\n  %lu forks, %lu vforks, %lu spawns; %lu passes of"
	       " children, %lu of them partial, %lu held by an old stack,"
	       " %lu not checked;\n"
	       "  signals: %lu queued, %lu to oneself, %lu to the process,"
	       " %lu SIGURG (and %lu of passes)\n",
	    churned, done.threads, done.loads, done.forks, done.vforks,
	    done.spawns, done.passes, done.partial, done.held, done.not_checked,
	    signals.queued, signals.standard, signals.melting, signals.urgent,
	    signals.met);
}

int
main(int argc, char **argv)
{
	unsigned long seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;
	const char *seed = getenv("SOAK_SEED");
	struct figures first;
	static struct state before, after;
	size_t i, threads = count_entries("/proc/self/task");

	/* Fixed, or the first large free() would end mmapped blocks. */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	chance.churner.random =
	    seed != NULL ? strtoul(seed, NULL, 0) : (now_ns() & 0xffffff) + 1;
	printf("soak: seed %lu, %lu s, %d threads\n",
	    (unsigned long)chance.churner.random, seconds, SOAKERS);
	fflush(stdout);
	for (i = 0; i < SOAKERS; i++) {
		soakers[i].number = (unsigned)i;
		soakers[i].churner.random = 1 + roll(&chance, 1u << 30);
	}
	model_open(&chance);
	signals_open();
	figures_open(&first);
	figures_open(&figures);

	/* Arenas, stacks and tcaches come to be in a tenth of the time. */
	start();
	soak(now_ns() + seconds * NS_PER_SEC / 10, &first);
	rest(threads);
	state_look(&before);
	state_look(&before);
	start();
	soak(now_ns() + seconds * NS_PER_SEC * 9 / 10, &figures);
	rest(threads);
	state_look(&after);

	figures_judge(&figures);
	state_compare(&before, &after);
	figures_print(&figures);
	print_work();
	state_print(&before, &after);
	figures_close(&figures);
	figures_close(&first);
	printf("soak: %s\n", wrongs == 0 ? "right" : "WRONG");
	return wrongs == 0 ? 0 : 1;
}
