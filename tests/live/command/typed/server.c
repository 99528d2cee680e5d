/* A server: connections in a doubly linked list by an embedded member, buffers,
 * timers with functions, a table of handlers. */
#include "typed.h"

struct link {
	struct link *next, *before;
};

struct buffer {
	struct buffer *next;
	size_t used, room;
	unsigned char *bytes;
};

struct timer {
	struct link all;
	void (*fire)(struct timer *);
	void *subject;
	unsigned long at_ms;
};

struct header {
	char *key, *value;
	struct header *next;
};

struct request {
	struct header *headers;
	struct buffer *body;
	char *path;
	int method, version;
	long length;
};

struct connection {
	int fd, state;
	struct link all;
	struct request *request;
	struct buffer *in, *out;
	struct timer *timeout;
	char peer[40];
};

struct handler {
	const char *prefix;
	int (*handle)(struct request *);
	struct handler *next;
};

static struct link connections = { &connections, &connections };
static struct link timers = { &timers, &timers };
struct handler *handlers; /* not static: it is written only */

#define NEW(what, type) named(what, calloc(1, sizeof(struct type)), #type)

static void *
named(const char *what, void *block, const char *name)
{
	tell(what, block, name);
	return block;
}

static void
insert(struct link *at, struct link *link)
{
	link->next = at->next;
	link->before = at;
	at->next->before = link;
	at->next = link;
}

static void
close_it(struct timer *timer)
{
	timer->at_ms = 0;
}

static int
serve(struct request *request)
{
	return request->method;
}

static char *
text(const char *what, const char *words)
{
	char *copy = calloc(1, 64);

	snprintf(copy, 64, "%s", words);
	return named(what, copy, "char[*]");
}

static struct buffer *
make_buffer(const char *what, size_t room)
{
	struct buffer *buffer = NEW(what, buffer);
	size_t i;

	buffer->room = room;
	buffer->used = room / 2;
	buffer->bytes = named(what, malloc(room), "*char[*]");
	for (i = 0; i < room; i++)
		buffer->bytes[i] = (unsigned char)(i * 167 + 13);
	return buffer;
}

static struct request *
make_request(const char *what)
{
	struct request *request = NEW(what, request);
	struct header *header;
	int i;

	for (i = 0; i < 3; i++) {
		header = NEW(what, header);
		header->key = text(what, "content-type");
		header->value = text(what, "text/html; charset=utf-8");
		header->next = request->headers;
		request->headers = header;
	}
	request->path = text(what, "/index.html");
	request->body = make_buffer(what, 200);
	request->length = 200;
	request->method = 2;
	return request;
}

static struct connection *
make_connection(const char *what, int fd)
{
	struct connection *connection = NEW(what, connection);

	connection->fd = fd;
	connection->state = 3;
	connection->request = make_request(what);
	connection->in = make_buffer(what, 512);
	connection->out = make_buffer(what, 300);
	connection->out->next = make_buffer(what, 300);
	connection->timeout = NEW(what, timer);
	connection->timeout->fire = close_it;
	connection->timeout->subject = connection;
	connection->timeout->at_ms = 1000;
	connection->all.next = connection->all.before = &connection->all;
	connection->timeout->all.next = connection->timeout->all.before =
	    &connection->timeout->all;
	snprintf(connection->peer, sizeof(connection->peer), "10.0.0.%d", fd);
	return connection;
}

static __attribute__((noinline)) void
fill(void)
{
	struct connection *connection;
	struct handler *handler;
	int i;

	for (i = 0; i < 4; i++) {
		handler = NEW("held", handler);
		handler->prefix = "/index";
		handler->handle = serve;
		handler->next = handlers;
		handlers = handler;
	}
	for (i = 0; i < 15; i++) {
		connection = make_connection("held", i);
		insert(&connections, &connection->all);
		insert(&timers, &connection->timeout->all);
	}
	for (i = 0; i < 6; i++)
		mu_hide(make_connection("lost", 100 + i));
	for (i = 0; i < 6; i++)
		mu_hide(make_request("lost"));
}

int
main(void)
{
	fill();
	return stay();
}
