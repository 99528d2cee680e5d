/*
 * Which program a process runs: execve() replaces the memory, and descriptors
 * of /proc/PID/mem and /proc/PID/pagemap go on to show what it was before.
 *
 * Runs in: keeper, the command.
 */
#ifndef PTRACE_LIVE_PROGRAM_ID_H
#define PTRACE_LIVE_PROGRAM_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The 16 random bytes that the kernel gives every program at its start, and
 * where they are (AT_RANDOM). They are others after each execve(), without
 * address space randomisation, too.
 */
struct mu_program_id {
	uintptr_t at; /* 0: not known */
	unsigned char bytes[16];
};

/*
 * Of the process of thread TID, as MEMORY shows it, which was opened before. ID
 * is that of no program if the process has executed another one since then.
 */
void mu_program_id_read(struct mu_program_id *id, pid_t tid, int memory);

/* Does the process of thread TID run the program ID? False also of no program.
 */
bool mu_program_id_is(const struct mu_program_id *id, pid_t tid);

#endif
