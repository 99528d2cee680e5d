/*
 * LeakTracer's calls: which allocations become records, and the report of
 * those still live. Part of libmemunreachable-malloc-debug.so, which a program
 * links first or preloads; see memunreachable-leaktracer(7).
 *
 * Every function may be called from any thread at any time, also before the
 * first allocation; those that do not write are safe in signal handlers once
 * one of them was called outside.
 *
 * For C++ <memunreachable/MemoryTrace.hpp> has the class.
 */
#ifndef MEMUNREACHABLE_LEAKTRACER_H
#define MEMUNREACHABLE_LEAKTRACER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * From here on allocations of all threads become records, and releases remove
 * them. If releases were not monitored, all older records are dropped. Marks
 * of single threads are undone.
 */
void leaktracer_startMonitoringAllThreads(void);

/*
 * The same for allocations of the calling thread only; releases of all threads
 * are monitored. No effect while all threads are.
 */
void leaktracer_startMonitoringThisThread(void);

/*
 * New allocations are no longer recorded: of all threads, if these were
 * monitored, else of the calling one. Releases are monitored still.
 */
void leaktracer_stopMonitoringAllocations(void);

/*
 * Neither allocations, of any thread, nor releases. The records stay: what is
 * freed now is reported as it was.
 */
void leaktracer_stopAllMonitoring(void);

/*
 * Write the records to the file reportFileName, which is made (mode 0600, for
 * it shows what is in the blocks) or overwritten. If that fails,
 *	Failed to write to "<name>"
 * is printed on stderr. A name that is a symbolic link fails.
 */
void leaktracer_writeLeaksToFile(const char *reportFileName);

/*
 * The same text to WRITE(CTX, ...), a line at a time, not terminated. WRITE
 * may do anything, also call functions of this header, but leave by longjmp()
 * or an exception, which would lose the report's memory.
 */
void leaktracer_writeLeaks(
    void (*write)(void *ctx, const char *text, size_t length), void *ctx);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
