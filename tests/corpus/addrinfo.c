/* getaddrinfo() of numbers, so without a network, and no freeaddrinfo(). */
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE struct addrinfo *
look_up(void)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_PASSIVE |
		    AI_NUMERICSERV | AI_CANONNAME };
	struct addrinfo *list = NULL;

	if (getaddrinfo("127.0.0.1", "80", &hints, &list) != 0)
		abort();
	return corpus_use(list);
}

void
corpus_scenario(void)
{
	freeaddrinfo(look_up());
	corpus_keep(look_up());
	corpus_lose("address");
	look_up();
}
