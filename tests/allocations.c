/* Fails allocations of the process that preloads it: see allocations.py. */

#include <stddef.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static long left = -1, every, seen; /* until the next one that fails; -1: none fails */

/* Fails the allocation after so many others, and then each n-th, or with 0 none. */
void fail_after(long others, long n) { left = others, every = n, seen = 0; }

/* Stops failing; returns how many allocations there were since. */
long stop_failing(void) { return left = -1, seen; }

/* Stops failing for a while: returns what `go_on` takes. */
long pause_failing(void) {
  long paused = left;
  left = -1;
  return paused;
}
void go_on(long paused) { left = paused; }

static int fails(void) {
  if (left < 0) return 0;
  seen++;
  if (left--) return 0;
  left = every ? every - 1 : -1;
  return 1;
}

void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return fails() ? NULL : __libc_realloc(p, n); }
