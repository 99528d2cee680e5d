/*
 * LeakTracer's calls: they choose which allocations are recorded, and report
 * those that are still live. Part of libmemunreachable-malloc-debug.so, which a
 * program links first or preloads; see memunreachable-leaktracer(7).
 *
 * Every function may be called from any thread at any time, also before the
 * first allocation. Those that do not write are async-signal-safe once one of
 * them has been called outside a signal handler.
 *
 * C++ programs can use the class in <memunreachable/MemoryTrace.hpp>.
 */
#ifndef MEMUNREACHABLE_LEAKTRACER_H
#define MEMUNREACHABLE_LEAKTRACER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * Record the allocations of all threads from now on; a release removes the
 * record. If releases were not monitored until now, all older records are
 * dropped. Ends the monitoring of single threads.
 */
void leaktracer_startMonitoringAllThreads(void);

/*
 * Record the allocations of the calling thread from now on; releases of all
 * threads are monitored. No effect while all threads are monitored.
 */
void leaktracer_startMonitoringThisThread(void);

/*
 * Stop recording new allocations: of all threads if these are monitored,
 * otherwise of the calling one. Releases are still monitored.
 */
void leaktracer_stopMonitoringAllocations(void);

/*
 * Stop monitoring allocations and releases of all threads. The records stay:
 * a block that is freed from now on is still reported.
 */
void leaktracer_stopAllMonitoring(void);

/*
 * Write the records to the file reportFileName. The file is created with mode
 * 0600, since it shows the contents of blocks, or overwritten. On failure, also
 * if the name is a symbolic link,
 *	Failed to write to "<name>"
 * is printed on stderr.
 */
void leaktracer_writeLeaksToFile(const char *reportFileName);

/*
 * Pass the same text to WRITE(CTX, ...), one line at a time, without a
 * terminating NUL. WRITE may do anything, also call functions of this header,
 * except leave by longjmp() or an exception, which would leak the memory of the
 * report.
 */
void leaktracer_writeLeaks(
    void (*write)(void *ctx, const char *text, size_t length), void *ctx);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
