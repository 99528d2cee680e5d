/* iconv_open() without iconv_close(); modules and caches stay libc's. */
#include <iconv.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE iconv_t
open_iconv(void)
{
	char in[] = "text", out[32], *from = in, *to = out;
	size_t left = 4, room = sizeof(out);
	iconv_t cd = iconv_open("UTF-16", "UTF-8");

	if (cd == (iconv_t)-1 || iconv(cd, &from, &left, &to, &room) != 0)
		abort();
	return corpus_use(cd);
}

void
corpus_scenario(void)
{
	iconv_close(open_iconv());
	corpus_keep(open_iconv());
	corpus_lose("iconv");
	open_iconv();
}
