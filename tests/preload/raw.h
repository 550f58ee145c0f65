/* raw.h: a system call as it is, for objects that stand in front of libc's syscall(). */
#ifndef RAW_H
#define RAW_H

static long raw(long n, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long r;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n;
	register long r __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(r)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
#else
	long r = -ENOSYS;
#endif
	return r;
}

/* syscall(2) takes six words, whatever the call needs. */
#define SIX_WORDS(to, last) \
	do { \
		va_list ap; \
		va_start(ap, last); \
		for (int i = 0; i < 6; i++) \
			(to)[i] = va_arg(ap, long); \
		va_end(ap); \
	} while (0)

/* As libc's returns it. */
static long returned(long r)
{
	if (r >= 0 || r <= -4096)
		return r;
	errno = (int)-r;
	return -1;
}

#endif
