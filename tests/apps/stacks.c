/*
 * stacks: counts on its own stacks: with guard pages, of several sizes, one at another's address,
 * and in between on the thread's. Prints the expected counts, and ends with status 3.
 * usage: stacks switch|jump|context [thread]
 *	switch	a function is called there by a few lines of assembly
 *	jump	it is jumped to, and there is no return address
 *	context	makecontext
 */
#include <sys/mman.h>
#include <ucontext.h>
#include "handed.h"

#define GUARD (64 << 10)		/* a page on any machine */
#define HERE __attribute__((noinline))

static struct counted *c;
static long sum;
static const char *way;

HERE static void measure(long pages)
{
	long long values[EVENTS];

	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 1);
	must("PAPI_read", PAPI_read(c->id, values));
	touch(&c->arena, pages - 1);
	must("PAPI_stop", PAPI_stop(c->id, values));
	sum += (long)values[0];
}

HERE static void work(void)
{
	for (int i = 0; i < 20; i++)
		measure(2);
	__asm__ volatile("");
}

/* A frame whose size changes. */
HERE static void roomy(int n)
{
	volatile char *room = alloca(n);

	room[0] = 1;
	measure(2);
	room[n - 1] = 1;
}

HERE static void both(void)
{
	work();
	for (int i = 1; i < 20; i++)
		roomy(i * 200);
	__asm__ volatile("");
}

static ucontext_t back, there;
static void *resume[1];

HERE static void switch_to(char *top, void (*f)(void))
{
#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %%rbx\n movq %0, %%rsp\n call *%1\n movq %%rbx, %%rsp"
			 : "+r"(top), "+r"(f)
			 :
			 : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "rax", "r12",
			   "memory", "cc");
#else
	__asm__ volatile("mov x19, sp\n mov sp, %0\n blr %1\n mov sp, x19"
			 : "+r"(top), "+r"(f)
			 :
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
			   "x22", "x30", "memory", "cc");
#endif
}

/* Jumps to f on the stack that ends at @top; come_back() is as if this returned. */
void jump_to(char *top, void (*f)(void), void **back_to);
void come_back(void **back_to) __attribute__((noreturn));
#if defined(__x86_64__)
__asm__("jump_to:\n push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n mov "
	"%rsp, (%rdx)\n"
	" lea -8(%rdi), %rsp\n xor %ebp, %ebp\n jmp *%rsi\n"
	"come_back:\n mov (%rdi), %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n "
	"pop %rbx\n ret\n");
#else
__asm__("jump_to:\n stp x29, x30, [sp, #-96]!\n stp x19, x20, [sp, #16]\n stp x21, x22, [sp, "
	"#32]\n stp x23, x24, [sp, #48]\n"
	" stp x25, x26, [sp, #64]\n stp x27, x28, [sp, #80]\n mov x9, sp\n str x9, [x2]\n mov sp, "
	"x0\n mov x29, xzr\n mov x30, xzr\n br x1\n"
	"come_back:\n ldr x9, [x0]\n mov sp, x9\n ldp x19, x20, [sp, #16]\n ldp x21, x22, [sp, "
	"#32]\n ldp x23, x24, [sp, #48]\n"
	" ldp x25, x26, [sp, #64]\n ldp x27, x28, [sp, #80]\n ldp x29, x30, [sp], #96\n ret\n");
#endif

/* A coroutine's first function: it was not called, and its return address is 0. */
HERE static void entry(void)
{
	both();
	come_back(resume);
}

HERE static void on_stack(size_t size, size_t offset, char *memory)
{
	char *stack = memory + offset;

	must("mprotect", mprotect(stack, size, PROT_READ | PROT_WRITE));
	memset(stack, 0, size);
	if (!strcmp(way, "switch")) {
		switch_to(stack + size, both);
	} else if (!strcmp(way, "jump")) {
		jump_to(stack + size, entry, resume);
	} else {
		getcontext(&there);
		there.uc_stack.ss_sp = stack;
		there.uc_stack.ss_size = size;
		there.uc_link = &back;
		makecontext(&there, both, 0);
		swapcontext(&back, &there);
	}
	must("mprotect", mprotect(stack, size, PROT_NONE));
}

static void *all(void *arg)
{
	size_t size = 256 << 10;
	char *memory = mmap(NULL, size + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	prefault_stack();
	make_set(c);
	both();
	on_stack(size, GUARD, memory);
	both();
	on_stack(size / 2, GUARD, memory);		/* another one, which ends lower */
	on_stack(size / 4, GUARD + size / 2, memory);
	on_stack(size, GUARD, memory);
	both();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;

	way = argc > 1 ? argv[1] : "switch";
	papi_up_threads();
	c = counted_new(0, NULL, 20000);
	prefault();
	pthread_attr_init(&attr);
	if (argc > 2)
		run_thread(&attr, all, NULL);
	else
		all(NULL);
	printf("counted %ld\n", sum);
	return 3;
}
