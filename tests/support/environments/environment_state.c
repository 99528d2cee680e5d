#include "tests/support/environments/environment_state.h"
#define STATE_DESCRIPTORS 2048

/* As the kernel has it: glibc does not tell about 32 and 33. */
struct kernel_action {
	uintptr_t handler;
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

static __attribute__((format(printf, 2, 3))) void
state_add(struct state *state, const char *format, ...)
{
	size_t room = sizeof(state->text) - state->length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(state->text + state->length, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		state->full = true;
	else
		state->length += (size_t)n;
}

/* The text of a file of /proc, terminated; its length, or -1. */
static ssize_t
state_read(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while (length < size - 1 &&
	    (n = read(fd, buffer + length, size - 1 - length)) > 0)
		length += (size_t)n;
	close(fd);
	buffer[length] = '\0';
	return (ssize_t)length;
}

static void
state_files(struct state *state)
{
	struct stat stat;
	int fd, flags;

	for (fd = 0; fd < STATE_DESCRIPTORS; fd++) {
		flags = fcntl(fd, F_GETFD);
		if (flags >= 0 && fstat(fd, &stat) == 0)
			state_add(state,
			    "descriptor %d: %d, %#x, file %lx %lu\n", fd, flags,
			    (unsigned)fcntl(fd, F_GETFL),
			    (unsigned long)stat.st_dev,
			    (unsigned long)stat.st_ino);
	}
}

static void
state_dispositions(struct state *state)
{
	struct kernel_action action;
	stack_t stack;
	int signo;

	for (signo = 1; signo <= 64; signo++) {
		if (syscall(SYS_rt_sigaction, signo, NULL, &action,
			sizeof(action.mask)) == 0)
			state_add(state,
			    "signal %d: handler %lx, flags %lx, mask %lx\n",
			    signo, (unsigned long)action.handler, action.flags,
			    (unsigned long)action.mask);
	}
	if (syscall(SYS_sigaltstack, NULL, &stack) == 0)
		state_add(state, "alternate stack %p, %zu, flags %#x\n",
		    stack.ss_sp, stack.ss_size, (unsigned)stack.ss_flags);
}

static void
state_thread(struct state *state, const char *tid)
{
	static const char *const keys[] = { "\nTracerPid:", "\nSigPnd:",
		"\nShdPnd:", "\nSigBlk:", "\nSigIgn:", "\nSigCgt:",
		"\nNoNewPrivs:", "\nSeccomp:" };
	static char status[8192];
	char path[64];
	const char *at;
	size_t i;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	if (state_read(path, status, sizeof(status)) < 0)
		return;
	/* A first thread that has ended stays, and takes no signal any more. */
	if (strstr(status, "\nState:\tZ") != NULL)
		return;
	state_add(state, "thread %s", tid);
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		at = strstr(status, keys[i]);
		if (at != NULL)
			state_add(state, ", %.*s", (int)strcspn(at + 1, "\n"),
			    at + 1);
	}
	state_add(state, "\n");
}

struct kernel_dirent {
	uint64_t ino, off;
	uint16_t length;
	unsigned char type;
	char name[];
};

static void
state_threads(struct state *state)
{
	static char entries[16384] __attribute__((aligned(8)));
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct kernel_dirent *entry;
	long n, at;

	if (fd < 0)
		return;
	while ((n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (at = 0; at < n; at += entry->length) {
			entry = (const void *)(entries + at);
			if (entry->name[0] != '.')
				state_thread(state, entry->name);
		}
	close(fd);
}

/*
 * A heap of an arena of glibc's: it begins at a multiple of 64 MiB, its end
 * moves, and the rest of the 64 MiB is a mapping without permissions.
 */
static bool
state_is_arena(const char *line)
{
	unsigned long begin, end;
	char permissions[5], name;

	if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %c", &begin, &end,
		permissions, &name) != 3)
		return false;
	return permissions[0] == 'r' ? begin % (64UL << 20) == 0
				     : end % (64UL << 20) == 0;
}

/* All but the program's own heap and stack, which may grow. */
static void
state_mappings(struct state *state)
{
	static char maps[STATE_TEXT];
	char *line = maps, *end;

	if (state_read("/proc/self/maps", maps, sizeof(maps)) < 0)
		return;
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		if (strstr(line, "[heap]") == NULL &&
		    strstr(line, "[stack]") == NULL && !state_is_arena(line))
			state_add(state, "mapping %s\n", line);
	}
}

void
state_look(struct state *state, int parts)
{
	state->length = 0;
	state->full = false;
	state->text[0] = '\0';
	if (parts & STATE_FILES)
		state_files(state);
	if (parts & STATE_DISPOSITIONS)
		state_dispositions(state);
	if (parts & STATE_THREADS)
		state_threads(state);
	if (parts & STATE_MAPPINGS)
		state_mappings(state);
}

bool
state_same(
    const struct state *was, const struct state *is, char *words, size_t size)
{
	const char *a = was->text, *b = is->text, *line_a = a, *line_b = b;

	if (was->full || is->full) {
		snprintf(words, size, "too much to look at");
		return false;
	}
	for (; *a == *b && *a != '\0'; a++, b++)
		if (*a == '\n') {
			line_a = a + 1;
			line_b = b + 1;
		}
	if (*a == *b)
		return true;
	snprintf(words, size, "now \"%.*s\", once \"%.*s\"",
	    (int)strcspn(line_b, "\n"), line_b, (int)strcspn(line_a, "\n"),
	    line_a);
	return false;
}
