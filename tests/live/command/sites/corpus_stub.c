/*
 * What a program of the corpus needs, without its own recorder: it loses blocks
 * and ends.
 */
#include "tests/corpus/support/ask.h"
#include "tests/corpus/support/corpus.h"

void
corpus_lose(const char *name)
{
	(void)name;
}

void
corpus_lose_end(void)
{
}

void
corpus_lost(const void *block, const char *name)
{
	(void)block;
	(void)name;
}

void
corpus_kept(const void *p)
{
	(void)p;
}

void
ask_prepare(void)
{
}

void
ask(int out)
{
	(void)out;
}
