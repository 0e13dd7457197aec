/* What Python.h needs to know of a platform for the limited API. The compiler knows the sizes, so
   one file serves all platforms. */
#ifndef _WIN32
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1
#define HAVE_SSIZE_T 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_PTHREAD_H 1
#endif
#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define ALIGNOF_LONG __SIZEOF_LONG__
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_LONG_LONG 1
#define HAVE_WCHAR_H 1
#define STDC_HEADERS 1
#define WITH_DOC_STRINGS 1
#define PY_FORMAT_SIZE_T "z"
#ifdef _WIN32
#define MS_WIN32 1
#define MS_WINDOWS 1
#define NT_THREADS 1
#define Py_ENABLE_SHARED 1
#define HAVE_DECLSPEC_DLL 1
#define HAVE_PY_SSIZE_T 1
#if __SIZEOF_POINTER__ == 8
#define MS_WIN64 1
typedef __INT64_TYPE__ Py_ssize_t;
#define PY_SSIZE_T_MAX 0x7fffffffffffffffLL
#else
typedef int Py_ssize_t;
#define PY_SSIZE_T_MAX 0x7fffffff
#endif
#endif
