/*
 * exec() ends the program that asked for a file by a signal: it waits for that,
 * as _exit() does. libc's functions call each other where this library cannot
 * be in between, so all are here.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "lib/malloc_debug/entry/exit_wait.h"

#define ENTRY __attribute__((visibility("default")))

/* libc's, or those of a library between. Found before main(). */
static struct {
	int (*execve)(const char *, char *const *, char *const *);
	int (*execvpe)(const char *, char *const *, char *const *);
	int (*fexecve)(int, char *const *, char *const *);
} next;

static void
find(void *function, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	__builtin_memcpy(function, &found, sizeof(found));
}

__attribute__((constructor)) static void
find_all(void)
{
	find(&next.execve, "execve");
	find(&next.execvpe, "execvpe");
	find(&next.fexecve, "fexecve");
}

ENTRY int
execve(const char *path, char *const *arguments, char *const *environment)
{
	exit_wait();
	if (next.execve == NULL)
		find_all();
	return next.execve(path, arguments, environment);
}

ENTRY int
execvpe(const char *file, char *const *arguments, char *const *environment)
{
	exit_wait();
	if (next.execvpe == NULL)
		find_all();
	return next.execvpe(file, arguments, environment);
}

ENTRY int
fexecve(int fd, char *const *arguments, char *const *environment)
{
	exit_wait();
	if (next.fexecve == NULL)
		find_all();
	return next.fexecve(fd, arguments, environment);
}

ENTRY int
execv(const char *path, char *const *arguments)
{
	return execve(path, arguments, environ);
}

ENTRY int
execvp(const char *file, char *const *arguments)
{
	return execvpe(file, arguments, environ);
}

/* The number of arguments, with the NULL at their end. */
static size_t
count_of(const char *first, va_list *list)
{
	size_t count = 1;

	for (; first != NULL; count++)
		first = va_arg(*list, const char *);
	return count;
}

static void
collect(char **arguments, const char *first, va_list *list)
{
	for (*arguments = (char *)(uintptr_t)first; *arguments != NULL;)
		*++arguments = va_arg(*list, char *);
}

/*
 * ARGUMENTS are those after FIRST, LIST stands behind them. They are on the
 * stack: after vfork() and in signal handlers there is no malloc.
 */
#define TAKE_ARGUMENTS(first)           \
	va_list list;                   \
	size_t count;                   \
	va_start(list, first);          \
	count = count_of(first, &list); \
	va_end(list);                   \
	char *arguments[count];         \
	va_start(list, first);          \
	collect(arguments, first, &list)

ENTRY int
execl(const char *path, const char *first, ...)
{
	TAKE_ARGUMENTS(first);
	va_end(list);
	return execve(path, arguments, environ);
}

ENTRY int
execlp(const char *file, const char *first, ...)
{
	TAKE_ARGUMENTS(first);
	va_end(list);
	return execvpe(file, arguments, environ);
}

ENTRY int
execle(const char *path, const char *first, ...)
{
	char *const *environment;

	TAKE_ARGUMENTS(first);
	environment = va_arg(list, char *const *);
	va_end(list);
	return execve(path, arguments, environment);
}
