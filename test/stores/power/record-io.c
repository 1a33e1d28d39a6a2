/*
 * Records what a process asks of the files of one folder, in order: loaded with LD_PRELOAD. IO_FOLDER is the folder, IO_LOG
 * the file of the record. Responses of an HTTP server are recorded too, so that it is known what was acknowledged when.
 *
 * A record is: operation (1 byte), offset or length (8 bytes), length of the path (4), length of the data (4), path, data.
 * W write, T truncate, B begin of a sync, S end of a sync, C create, U unlink, R rename (data: the new path), A response.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static const char *folder;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
  folder = getenv("IO_FOLDER");
  const char *log = getenv("IO_LOG");
  if (folder && log) log_file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

static void put(char op, int64_t at, const char *path, const void *data, size_t length) {
  if (log_file < 0) return;
  uint32_t sizes[2] = {(uint32_t)strlen(path), (uint32_t)length};
  struct iovec parts[] = {{&op, 1}, {&at, 8}, {sizes, 8}, {(void *)path, sizes[0]}, {(void *)data, length}};
  pthread_mutex_lock(&lock);
  syscall(SYS_writev, log_file, parts, 5);
  pthread_mutex_unlock(&lock);
}

static int is_inside(const char *path) {
  return log_file >= 0 && strncmp(path, folder, strlen(folder)) == 0;
}

/* The path of an open file, or 0 if it is not in the folder. */
static int path_of(int file, char *path) {
  char link[64];
  if (log_file < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, 1023);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_inside(path);
}

static void wrote(int file, const void *data, ssize_t length, int64_t at) {
  char path[1024];
  if (length <= 0) return;
  if (path_of(file, path)) put('W', at >= 0 ? at : lseek(file, 0, SEEK_CUR) - length, path, data, length);
  else if (length > 8 && memcmp(data, "HTTP/1.1", 8) == 0) put('A', 0, "", data, length);
}

ssize_t write(int file, const void *data, size_t length) {
  char path[1024];
  /* Responses are recorded before they leave: nothing later may count for them. */
  int inside = path_of(file, path);
  if (!inside) wrote(file, data, length, -1);
  ssize_t done = ((ssize_t(*)(int, const void *, size_t))real("write"))(file, data, length);
  if (inside) wrote(file, data, done, -1);
  return done;
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  char *all = NULL;
  size_t length = 0;
  for (int i = 0; i < count; i++) length += parts[i].iov_len;
  if (length > 0 && (all = malloc(length))) {
    size_t at = 0;
    for (int i = 0; i < count; at += parts[i++].iov_len) memcpy(all + at, parts[i].iov_base, parts[i].iov_len);
  }
  char path[1024];
  int inside = path_of(file, path);
  if (all && !inside) wrote(file, all, length, -1);
  ssize_t done = ((ssize_t(*)(int, const struct iovec *, int))real("writev"))(file, parts, count);
  if (all && inside) wrote(file, all, done, -1);
  free(all);
  return done;
}
#define PWRITE(name, type)                                                                    \
  ssize_t name(int file, const void *data, size_t length, type at) {                          \
    ssize_t done = ((ssize_t(*)(int, const void *, size_t, type))real(#name))(file, data, length, at); \
    wrote(file, data, done, at);                                                              \
    return done;                                                                              \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define SYNC(name)                                        \
  int name(int file) {                                    \
    char path[1024];                                      \
    int inside = path_of(file, path);                     \
    if (inside) put('B', file, path, "", 0);              \
    int result = ((int (*)(int))real(#name))(file);       \
    if (inside && result == 0) put('S', file, path, "", 0); \
    return result;                                        \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, type)                                    \
  int name(int file, type length) {                             \
    char path[1024];                                            \
    int result = ((int (*)(int, type))real(#name))(file, length); \
    if (result == 0 && path_of(file, path)) put('T', length, path, "", 0); \
    return result;                                              \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define OPEN(name)                                                               \
  int name(const char *path, int flags, ...) {                                   \
    va_list given;                                                               \
    va_start(given, flags);                                                      \
    int mode = va_arg(given, int);                                               \
    va_end(given);                                                               \
    int creates = (flags & O_CREAT) && is_inside(path) && access(path, F_OK) != 0; \
    int file = ((int (*)(const char *, int, ...))real(#name))(path, flags, mode); \
    if (file >= 0 && creates) put('C', 0, path, "", 0);                          \
    else if (file >= 0 && (flags & O_TRUNC) && is_inside(path)) put('T', 0, path, "", 0); \
    return file;                                                                 \
  }
OPEN(open)
OPEN(open64)

int unlink(const char *path) {
  int result = ((int (*)(const char *))real("unlink"))(path);
  if (result == 0 && is_inside(path)) put('U', 0, path, "", 0);
  return result;
}
int rename(const char *from, const char *to) {
  int result = ((int (*)(const char *, const char *))real("rename"))(from, to);
  if (result == 0 && is_inside(from)) put('R', 0, from, to, strlen(to));
  return result;
}
