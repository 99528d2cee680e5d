/*
 * setenv() keeps all that it ever made, also what it replaced; putenv() keeps
 * the program's own string until the next one.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE void
set_and_replace(void)
{
	setenv("CORPUS_A", "a first value", 1);
	setenv("CORPUS_A", "a second value, longer than that one", 1);
	putenv(strdup("CORPUS_KEPT=by the environment alone"));
}

/* Only the string is lost; the array of the environment may have grown, too. */
static NOINLINE void
put_lost(const char *text)
{
	char *copy;

	corpus_lose("string");
	copy = strdup(text);
	corpus_lose_end();
	putenv(copy);
}

static NOINLINE void
put_and_drop(void)
{
	put_lost("CORPUS_B=replaced");
	putenv(strdup("CORPUS_B=a second value"));
	put_lost("CORPUS_C=unset");
	unsetenv("CORPUS_C");
}

void
corpus_scenario(void)
{
	set_and_replace();
	put_and_drop();
}
