/*
 * LeakTracer's calls: see memunreachable/leaktracer.h.
 */
#include "memunreachable/leaktracer.h"

#include "lib/malloc_debug/entry/startup.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/leaktracer/report.h"
#include "lib/malloc_debug/leaktracer/settings.h"
#include "lib/malloc_debug/shadow/recording.h"

/*
 * Activate an inactive recorder although no option requested it; earlier
 * allocations stay unknown. If that is not possible, the reason is printed.
 */
static void
activate(void)
{
	if (__atomic_load_n(&leaktracer_active, __ATOMIC_RELAXED) ||
	    !startup_ready())
		return;
	if (!recording_start()) {
		recording_stop();
		return;
	}
	leaktracer_publish();
	__atomic_store_n(&leaktracer_active, true, __ATOMIC_RELEASE);
	recorder_refresh();
}

void
leaktracer_startMonitoringAllThreads(void)
{
	activate();
	leaktracer_monitor_all();
}

void
leaktracer_startMonitoringThisThread(void)
{
	activate();
	leaktracer_monitor_thread();
}

void
leaktracer_stopMonitoringAllocations(void)
{
	leaktracer_stop_allocations();
}

void
leaktracer_stopAllMonitoring(void)
{
	leaktracer_stop();
}

void
leaktracer_writeLeaksToFile(const char *reportFileName)
{
	struct leaktracer_report report;

	leaktracer_report_begin(&report, leaktracer_settings.only_unreachable);
	leaktracer_report_write(&report, reportFileName);
	leaktracer_report_end(&report);
}

void
leaktracer_writeLeaks(
    void (*write)(void *ctx, const char *text, size_t length), void *ctx)
{
	struct leaktracer_report report;

	leaktracer_report_begin(&report, leaktracer_settings.only_unreachable);
	leaktracer_report_print(&report, write, ctx);
	leaktracer_report_end(&report);
}
