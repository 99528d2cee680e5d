/*
 * Starting and stopping change one word and are done in the handler: they apply
 * to the next allocation of the interrupted thread.
 */
#include "lib/malloc_debug/leaktracer/jobs.h"

#include <limits.h>

#include "lib/malloc_debug/dumps/watch.h"
#include "lib/malloc_debug/dumps/watch_bare.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/leaktracer/report.h"
#include "lib/malloc_debug/leaktracer/settings.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"
#include "mu/text.h"

#define START (1u << LEAKTRACER_ROLE_START)
#define STOP (1u << LEAKTRACER_ROLE_STOP)
#define REPORT (1u << LEAKTRACER_ROLE_REPORT)

void
leaktracer_write(const struct leaktracer_report *report, const char *name)
{
	char own[PATH_MAX + 16];

	if (recorder_child && name != NULL) {
		mu_text_format(
		    own, sizeof(own), "%s.%d", name, watch_bare_program());
		name = own;
	}
	leaktracer_report_write(report, name);
}

static void
report_now(void)
{
	struct leaktracer_report report;

	leaktracer_report_begin(&report, leaktracer_settings.only_unreachable);
	leaktracer_write(&report, leaktracer_settings.signal_report);
	leaktracer_report_end(&report);
}

/* In the order of the original LeakTracer, if a signal has several roles. */
static void
do_roles(unsigned roles)
{
	if (roles & START)
		leaktracer_monitor_all();
	if (roles & STOP)
		leaktracer_stop();
	if (roles & REPORT)
		report_now();
}

#define JOB(roles)                    \
	static void job_##roles(void) \
	{                             \
		do_roles(roles);      \
	}

JOB(1)
JOB(2)
JOB(3)
JOB(4)
JOB(5)
JOB(6)
JOB(7)

static void (*const jobs[])(
    void) = { NULL, job_1, job_2, job_3, job_4, job_5, job_6, job_7 };

void
leaktracer_jobs(void)
{
	const int *signals = leaktracer_settings.signals;
	enum watch_how how;
	unsigned roles;
	int i, j;

	for (i = 0; i < LEAKTRACER_ROLES; i++) {
		for (roles = 0, j = 0; j < LEAKTRACER_ROLES; j++)
			roles |= signals[j] == signals[i] ? 1u << j : 0;
		if (signals[i] == 0)
			continue;
		how = (roles & REPORT) != 0 ? WATCH_THREAD : WATCH_AT_ONCE;
		if (!watch_signal_job(signals[i], jobs[roles], how))
			recorder_say(
			    "LeakTracer cannot have signal %d", signals[i]);
	}
}
