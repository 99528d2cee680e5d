/*
 * The protocol of the journal (systemd.io/JOURNAL_NATIVE_PROTOCOL): a datagram
 * has a line "NAME=value" for each field; a value with a newline follows its
 * name, a newline and its length in 64 bits, lowest byte first.
 */
#include "lib/watch/journal.h"

#include <bsd/string.h>
#include <ctype.h>
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/term/safe_text.h"

#define JOURNAL "/run/systemd/journal/socket"
#define SYSLOG "/dev/log"
#define PREFIX "MEMUNREACHABLE_"

/* The number that RFC 5612 reserves for examples: we have none. */
#define ELEMENT "memunreachable@32473"

enum mu_status
mu_journal_find(struct mu_why *why)
{
	if (access(JOURNAL, W_OK) == 0 || access(SYSLOG, W_OK) == 0)
		return MU_OK;
	return mu_why(why, MU_ERR_RESOURCES,
	    "--syslog: neither " JOURNAL " nor " SYSLOG " can be written");
}

/* Returns false if nothing takes it there. */
static bool
send_to(const char *path, const char *bytes, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool sent;

	strlcpy(address.sun_path, path, sizeof(address.sun_path));
	sent = fd >= 0 &&
	    sendto(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL,
		(struct sockaddr *)&address, sizeof(address)) == (ssize_t)size;
	if (fd >= 0)
		close(fd);
	return sent;
}

static void
put_field(FILE *out, const char *name, const char *value)
{
	uint64_t size = htole64(strlen(value));

	if (strchr(value, '\n') == NULL) {
		fprintf(out, "%s=%s\n", name, value);
		return;
	}
	fprintf(out, "%s\n", name);
	fwrite(&size, sizeof(size), 1, out);
	fprintf(out, "%s\n", value);
}

/* The text of a member, for free(); NULL: without memory. */
static char *
text_of(const json_t *value)
{
	return json_is_string(value)
	    ? strdup(json_string_value(value))
	    : json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
}

static void
put_journal(FILE *out, const char *key, const char *value)
{
	char name[64] = PREFIX;
	size_t length = sizeof(PREFIX) - 1;

	for (; *key != '\0' && length < sizeof(name) - 1; key++)
		name[length++] = (char)toupper((unsigned char)*key);
	put_field(out, name, value);
}

/* A quote, a backslash and a closing bracket are escaped. */
static void
put_syslog(FILE *out, const char *key, const char *value)
{
	size_t size = MU_SAFE_SIZE(strlen(value));
	char *safe = malloc(size);
	const char *at;

	if (safe == NULL)
		return;
	fprintf(out, " %s=\"", key);
	for (at = mu_safe_for_terminal(value, safe, size); *at != '\0'; at++) {
		if (*at == '"' || *at == '\\' || *at == ']')
			fputc('\\', out);
		fputc(*at, out);
	}
	fputc('"', out);
	free(safe);
}

/* The members that are known. */
static void
put_all(FILE *out, const json_t *fields,
    void (*put)(FILE *out, const char *key, const char *value))
{
	const char *key;
	json_t *value;
	char *text;

	json_object_foreach((json_t *)fields, key, value)
	{
		text = json_is_null(value) ? NULL : text_of(value);
		if (text != NULL)
			put(out, key, text);
		free(text);
	}
}

static void
write_journal(
    FILE *out, int priority, const char *message, const json_t *fields)
{
	fprintf(out,
	    "PRIORITY=%d\nSYSLOG_FACILITY=%d\n"
	    "SYSLOG_IDENTIFIER=memunreachable\nSYSLOG_PID=%d\n",
	    priority, LOG_DAEMON >> 3, (int)getpid());
	put_field(out, "MESSAGE", message);
	put_all(out, fields, put_journal);
}

/* The host's name is the receiver's to add. */
static void
write_syslog(FILE *out, int priority, const char *message, const json_t *fields)
{
	const char *time = json_string_value(json_object_get(fields, "time"));

	fprintf(out, "<%d>1 %s - memunreachable %d - [" ELEMENT,
	    LOG_DAEMON | priority, time == NULL ? "-" : time, (int)getpid());
	put_all(out, fields, put_syslog);
	fprintf(out, "] %s", message);
}

/* Returns false if nothing takes it at PATH. */
static bool
write_to(const char *path,
    void (*put)(
	FILE *out, int priority, const char *message, const json_t *fields),
    int priority, const char *message, const json_t *fields)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);
	bool sent = false;

	if (out != NULL) {
		put(out, priority, message, fields);
		sent = fclose(out) == 0 && send_to(path, bytes, size);
	}
	free(bytes);
	return sent;
}

void
mu_journal_send(int priority, const char *message, const json_t *fields)
{
	if (!write_to(JOURNAL, write_journal, priority, message, fields))
		write_to(SYSLOG, write_syslog, priority, message, fields);
}
