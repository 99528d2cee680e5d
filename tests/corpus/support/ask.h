/* One question to a tool, and the record: see ask.c. */
#ifndef TESTS_CORPUS_ASK_H
#define TESTS_CORPUS_ASK_H

/* Before there is anything to find. */
void ask_prepare(void);

/* Lines to FD. Allocates nothing before the tool has answered. */
void ask(int fd);

#endif
