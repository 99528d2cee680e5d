/*
 * Which glibc a file has in it.
 */
#ifndef CLI_LIBC_RELEASE_H
#define CLI_LIBC_RELEASE_H

#include <stdbool.h>

/*
 * RELEASE of the open file FD, libc itself or a static program: 2, 36. False:
 * the file does not say.
 */
bool mu_libc_release_read(int fd, unsigned release[2]);

#endif
