#include "tests/support/stop/long_call.h"

#include <sys/uio.h>
#include <unistd.h>

#define PARTS 1024 /* UIO_MAXIOV */
#define PART ((size_t)8 << 20)

bool
long_call(void)
{
	static struct iovec from[PARTS], to[PARTS];
	static char memory[2][PART];
	size_t i;

	for (i = 0; i < PARTS; i++) {
		from[i] = (struct iovec) { memory[0], PART };
		to[i] = (struct iovec) { memory[1], PART };
	}
	return process_vm_readv(getpid(), to, PARTS, from, PARTS, 0) > 0;
}
