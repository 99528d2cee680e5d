/* Workers that are threads of libc, which ThreadSanitizer supports. */
#ifndef TESTS_SUPPORT_PTHREAD_WORKERS_H
#define TESTS_SUPPORT_PTHREAD_WORKERS_H

#include <check.h>
#include <pthread.h>

#include "heapwalk/subject/workers.h"

struct mu_workers pthread_workers(unsigned count);

#endif
