/*
 * Identify the program that a process runs: execve() replaces the memory, but
 * open descriptors of /proc/PID/mem and /proc/PID/pagemap still refer to the
 * earlier one.
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
 * their address (AT_RANDOM). They change with each execve(), even without
 * address space randomisation.
 */
struct mu_program_id {
	uintptr_t at; /* 0: not known */
	unsigned char bytes[16];
};

/*
 * Read the id of the process of thread TID through MEMORY, which was opened
 * before. ID is that of no program if the process has executed another one
 * since.
 */
void mu_program_id_read(struct mu_program_id *id, pid_t tid, int memory);

/*
 * True if the process of thread TID runs the program ID; false also if ID is
 * that of no program.
 */
bool mu_program_id_is(const struct mu_program_id *id, pid_t tid);

#endif
