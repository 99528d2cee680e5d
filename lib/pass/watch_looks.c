/*
 * The thread is one of libc's, as the callback is the program's and may do
 * anything. So the functions of libpthread are needed, which are in libc since
 * glibc 2.34; before, the program has them or there is no watch.
 *
 * Runs in: original.
 */
#include "lib/pass/watch_looks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "lib/growth/heap_growth.h"
#include "lib/pass/looks_file.h"
#include "lib/pass/pass.h"
#include "lib/state/libc_own.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "mu/sys.h"

#pragma weak pthread_create
#pragma weak pthread_detach

#define STOPS 100             /* the stops take 1 / STOPS of the time */
#define WAIT_NS MU_NS_PER_SEC /* for a lock that is held briefly */

static enum MemunreachableVerdict
judge(const struct mu_looks *looks, double *per_hour)
{
	enum MemunreachableVerdict verdict = mu_kept_verdict(&looks->kept);
	struct mu_heap_growth heap;
	struct mu_growth growth;

	if (verdict != MEMUNREACHABLE_VERDICT_STEADY)
		return verdict;
	mu_heap_growth_judge(
	    &heap, looks->times_ns, looks->totals, looks->kept.count);
	verdict = mu_heap_growth_verdict(&heap, &growth);
	*per_hour = growth.per_hour;
	return verdict;
}

static void
keep(struct mu_looks *looks, const struct MemunreachableLook *look)
{
	size_t place, i;
	bool halve;

	place = mu_kept_next(&looks->kept, &halve);
	if (halve) {
		mu_kept_halve(looks->times_ns);
		for (i = 0; i < MU_HEAP_TOTALS; i++)
			mu_kept_halve(looks->totals[i]);
	}
	looks->times_ns[place] = mu_sys_now_ns();
	looks->totals[MU_HEAP_LIVE][place] = look->live_bytes;
	looks->totals[MU_HEAP_LOST][place] = look->lost_bytes;
	looks->totals[MU_HEAP_FREE][place] = look->free_bytes;
	looks->totals[MU_HEAP_ALL][place] =
	    look->live_bytes + look->lost_bytes + look->free_bytes;
}

static void
log_look(const struct MemunreachableLook *look)
{
	mu_log_sink_line(MU_LOG_INFO,
	    "look %zu: %zu bytes in use, %zu held free, %zu lost; so far: %s,"
	    " %zu bytes an hour",
	    look->number, look->live_bytes, look->free_bytes, look->lost_bytes,
	    memunreachable_verdict_name(look->verdict),
	    look->bytes_per_hour > 0 ? (size_t)look->bytes_per_hour : 0);
}

/* Returns how long its stop was. */
static uint64_t
take_look(struct mu_looks *looks)
{
	struct mu_pipe_usage usage = { .glibc_major = 0 };
	const struct mu_options *options = &mu_library.options;
	struct mu_caller caller;
	struct mu_request request = {
		.caller = &caller,
		.limit = looks->logged ? options->max_leaks : 0,
		.log_policy =
		    looks->logged ? MU_LOG_POLICY_FULL : MU_LOG_POLICY_QUIET,
		.contents = options->log_contents,
		.usage = &usage,
	};
	struct UnreachableMemoryInfo info = { 0 };
	struct MemunreachableLook look = { .number = ++looks->count };

	mu_caller_capture(&caller);
	mu_pass_run(&request, &info);
	look.status = info.status;
	look.reason = info.reason;
	look.pause_ns = info.pause_ns;
	look.lost_bytes = info.leak_bytes;
	look.lost_blocks = info.num_leaks;
	look.live_bytes = info.allocation_bytes - info.leak_bytes;
	look.live_blocks = info.num_allocations - info.num_leaks;
	look.free_bytes = usage.all.free_held;
	if (info.status == MEMUNREACHABLE_COMPLETE ||
	    info.status == MEMUNREACHABLE_PARTIAL)
		keep(looks, &look);
	look.verdict = judge(looks, &look.bytes_per_hour);
	__atomic_store_n(&looks->verdict, look.verdict, __ATOMIC_RELEASE);
	if (looks->logged) {
		log_look(&look);
		mu_looks_file_add(&look);
	}
	if (looks->callback != NULL)
		looks->callback(looks->ctx, &look);
	return info.pause_ns;
}

static bool
is_stopping(struct mu_looks *looks)
{
	return __atomic_load_n(&looks->stopping, __ATOMIC_ACQUIRE) != 0;
}

static void
await_next(struct mu_looks *looks, uint64_t began_ns, uint64_t stop_ns)
{
	uint64_t wait = looks->every_ns;

	if (wait / STOPS < stop_ns)
		wait = stop_ns * STOPS;
	while (!is_stopping(looks) && mu_sys_now_ns() < began_ns + wait)
		mu_sys_futex_wait(
		    &looks->stopping, 0, FUTEX_PRIVATE_FLAG, began_ns + wait);
}

static void *
body(void *arg)
{
	struct mu_looks *looks = arg;
	uint64_t began = mu_sys_now_ns(), stop = 0;

	mu_sys2(SYS_prctl, PR_SET_NAME, (long)"mu-looks");
	__atomic_store_n(&looks->thread, mu_sys_gettid(), __ATOMIC_RELEASE);
	while (looks->most == 0 || looks->count < looks->most) {
		await_next(looks, began, stop);
		if (is_stopping(looks))
			break;
		began = mu_sys_now_ns();
		stop = take_look(looks);
	}
	mu_sys_futex_set(&looks->thread, 0, INT32_MAX, FUTEX_PRIVATE_FLAG);
	return NULL;
}

/* Begin with no look. Returns 0 or an errno. */
static int
begin(struct mu_looks *looks)
{
	sigset_t all, before;
	pthread_t thread;
	int error;

	looks->count = 0;
	looks->kept = (struct mu_kept) { .count = 0 };
	looks->stopping = 0;
	looks->verdict = MEMUNREACHABLE_VERDICT_UNCHECKED;
	if (pthread_create == NULL || pthread_detach == NULL)
		return ENOSYS;
	/* It leaves libc's own signals open, by which setuid() and passes reach
	   all threads. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	looks->thread = -1;
	error = pthread_create(&thread, NULL, body, looks);
	if (error == 0)
		pthread_detach(thread);
	else
		looks->thread = 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* Only the thread that called fork() is there. */
static void
begin_in_child(void)
{
	struct mu_looks *looks = &mu_library.looks;

	looks->lock = (struct mu_lock) { .owner = 0 };
	if (looks->thread != 0 && looks->stopping == 0)
		begin(looks);
	else
		looks->thread = 0;
}

static int
start(struct mu_looks *looks)
{
	if (looks->thread != 0)
		return EBUSY;
	if (!looks->forks &&
	    __register_atfork(NULL, NULL, begin_in_child, NULL) != 0)
		return ENOMEM;
	looks->forks = true;
	return begin(looks);
}

int
mu_looks_obey(const struct mu_options *options)
{
	struct mu_looks *looks = &mu_library.looks;

	looks->every_ns = options->every * MU_NS_PER_MS;
	looks->most = options->count;
	looks->logged = true;
	return start(looks);
}

bool
memunreachable_watch_start(
    uint64_t interval_ms, memunreachable_watch_fn callback, void *ctx)
{
	struct mu_looks *looks = &mu_library.looks;
	int error = EBUSY;

	if (interval_ms == 0 || interval_ms > INT64_MAX / MU_NS_PER_MS / 2) {
		errno = EINVAL;
		return false;
	}
	if (mu_lock_take(&looks->lock, mu_sys_now_ns() + WAIT_NS) == MU_OK) {
		if (looks->thread == 0) {
			looks->callback = callback;
			looks->ctx = ctx;
			looks->every_ns = interval_ms * MU_NS_PER_MS;
			looks->most = 0;
			looks->logged = false;
			error = start(looks);
		}
		mu_lock_release(&looks->lock);
	}
	if (error != 0)
		errno = error;
	return error == 0;
}

bool
memunreachable_watch_stop(void)
{
	struct mu_looks *looks = &mu_library.looks;
	int thread = __atomic_load_n(&looks->thread, __ATOMIC_ACQUIRE);

	if (thread == 0)
		return false;
	mu_sys_futex_set(&looks->stopping, 1, INT32_MAX, FUTEX_PRIVATE_FLAG);
	if (thread == mu_sys_gettid())
		return true;
	while (
	    (thread = __atomic_load_n(&looks->thread, __ATOMIC_ACQUIRE)) != 0)
		mu_sys_futex_await(&looks->thread, thread);
	return true;
}

int
memunreachable_watch_verdict(void)
{
	return __atomic_load_n(&mu_library.looks.verdict, __ATOMIC_ACQUIRE);
}

const char *
memunreachable_verdict_name(int verdict)
{
	static const char *const names[] = { "unchecked", "too few looks",
		"steady", "fragmentation", "growth", "leak" };

	return verdict >= 0 && (size_t)verdict < sizeof(names) / sizeof(*names)
	    ? names[verdict]
	    : "unknown";
}
