/*
 * A thread watches the time, as a step can be long and reports nothing until
 * its end.
 */
#include "lib/cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mu/sys.h"

#define PATIENCE_NS MU_NS_PER_SEC /* shorter work shows no progress */
#define REFRESH_NS (MU_NS_PER_SEC / 4)
#define LINE_SIZE 80
#define ERASE "\r\033[K" /* ECMA-48: erase to the end of the line */

static const char *const words[MU_CHECK_STEPS] = {
	[MU_CHECK_STEP_STOP] = "stopping the process",
	[MU_CHECK_STEP_COPY] = "taking a copy",
	[MU_CHECK_STEP_WALK] = "listing the blocks",
	[MU_CHECK_STEP_MARK] = "marking what is reachable",
	[MU_CHECK_STEP_SYMBOLS] = "looking up names",
};

size_t
mu_progress_line(
    enum mu_check_step step, uint64_t ns, char *buffer, size_t size)
{
	const char *word =
	    (unsigned)step < MU_CHECK_STEPS ? words[step] : "working";

	return (size_t)snprintf(buffer, size, "memunreachable: %s, %u s", word,
	    (unsigned)(ns / MU_NS_PER_SEC));
}

/* Ignore errors: the terminal may be gone. */
static void
show(const struct mu_progress *progress, uint64_t ns)
{
	char line[sizeof(ERASE) + LINE_SIZE] = ERASE;
	size_t erase = strlen(ERASE);

	mu_progress_line(
	    progress->step, ns, line + erase, sizeof(line) - erase);
	mu_sys_write(progress->fd, line, strlen(line));
}

static void *
keep_time(void *arg)
{
	struct mu_progress *progress = arg;
	uint64_t began = mu_sys_now_ns(), next = began + PATIENCE_NS;
	struct timespec at;
	bool shown = false;

	pthread_mutex_lock(&progress->lock);
	while (!progress->done) {
		at = mu_sys_timespec(next);
		pthread_cond_timedwait(
		    &progress->changed, &progress->lock, &at);
		if (progress->done || mu_sys_now_ns() - began < PATIENCE_NS)
			continue;
		show(progress, mu_sys_now_ns() - began);
		shown = true;
		next = mu_sys_now_ns() + REFRESH_NS;
	}
	pthread_mutex_unlock(&progress->lock);
	if (shown)
		mu_sys_write(progress->fd, ERASE, strlen(ERASE));
	return NULL;
}

/* Signals are for the first thread. */
static bool
start_thread(struct mu_progress *progress)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&progress->thread, NULL, keep_time, progress);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error == 0;
}

void
mu_progress_begin(struct mu_progress *progress, bool wanted, int fd)
{
	pthread_condattr_t clock;

	memset(progress, 0, sizeof(*progress));
	progress->fd = fd;
	if (!wanted || !isatty(fd))
		return;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->changed, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&progress->lock, NULL);
	progress->running = start_thread(progress);
}

void
mu_progress_step(void *ctx, enum mu_check_step step)
{
	struct mu_progress *progress = ctx;

	if (!progress->running)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->step = step;
	pthread_cond_signal(&progress->changed);
	pthread_mutex_unlock(&progress->lock);
}

void
mu_progress_end(struct mu_progress *progress)
{
	if (!progress->running)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->done = true;
	pthread_cond_signal(&progress->changed);
	pthread_mutex_unlock(&progress->lock);
	pthread_join(progress->thread, NULL);
	pthread_cond_destroy(&progress->changed);
	pthread_mutex_destroy(&progress->lock);
	progress->running = false;
}
