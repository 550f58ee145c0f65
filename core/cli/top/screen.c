/* screen.c: draws pages on a terminal and reads its keys; see screen.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "../../base/base.h"
#include "../../base/sys.h"
#include "screen.h"

/* The other screen, no cursor; and back. */
#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"

static struct {
	volatile sig_atomic_t on, again;	/* again: draw anew */
	int keys;				/* the terminal, to read from; -1: none */
	char typed[64];				/* keys that were read and not taken yet */
	size_t n_typed;
	struct termios before, during;
} screen = { .keys = -1 };

/* ---- entering and leaving: also from signal handlers ---------------------------- */

static void enter(void)
{
	if (screen.keys >= 0)
		tcsetattr(screen.keys, TCSADRAIN, &screen.during);
	screen.on = 1;
	sp_write_all(STDOUT_FILENO, ENTER, sizeof(ENTER) - 1);
}

void sp_screen_end(void)
{
	if (!screen.on)
		return;
	screen.on = 0;
	sp_write_all(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
	if (screen.keys >= 0)
		tcsetattr(screen.keys, TCSADRAIN, &screen.before);
}

static void ended(int signal_number)
{
	sp_screen_end();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void stopped(int signal_number)
{
	int saved = errno;

	(void)signal_number;
	sp_screen_end();
	raise(SIGSTOP);
	enter();			/* somebody has continued us */
	screen.again = 1;
	errno = saved;
}

static void resized(int signal_number)
{
	(void)signal_number;
	screen.again = 1;
}

static void handle(int signal_number, void (*handler)(int))
{
	struct sigaction a = { .sa_handler = handler }, old;

	/* What was ignored (nohup) stays so. */
	if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(signal_number, &a, NULL);
}

bool sp_screen_begin(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	const char *term = getenv("TERM");

	if (!isatty(STDOUT_FILENO) || (term && strcmp(term, "dumb") == 0))
		return false;
	screen.keys = open("/dev/tty", O_RDONLY | O_CLOEXEC);
	if (screen.keys >= 0 && tcgetattr(screen.keys, &screen.before) < 0) {
		close(screen.keys);
		screen.keys = -1;
	}
	screen.during = screen.before;
	screen.during.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	screen.during.c_cc[VMIN] = 1;
	screen.during.c_cc[VTIME] = 0;
	atexit(sp_screen_end);
	for (unsigned i = 0; i < SP_COUNT(ends); i++)
		handle(ends[i], ended);
	handle(SIGTSTP, stopped);
	handle(SIGWINCH, resized);
	enter();
	return true;
}

/* ---- drawing -------------------------------------------------------------------- */

/* Characters of a line, from number `left` on, and what wipes the rest of the row. */
static void line(const char *text, size_t n, unsigned left, unsigned columns)
{
	size_t from = 0, i;
	unsigned at = 0;

	for (i = 0; i < n; i++) {
		if (((unsigned char)text[i] & 0xc0) == 0x80)
			continue;
		if (at == left)
			from = i;
		if (at++ == left + columns)
			break;
	}
	if (at > left)
		fwrite(text + from, 1, i - from, stdout);
	fputs("\033[K", stdout);
}

static struct winsize size(void)
{
	struct winsize w = { .ws_row = 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || !w.ws_row || !w.ws_col)
		w = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	return w;
}

unsigned sp_screen_columns(void)
{
	return size().ws_col;
}

unsigned sp_screen_draw(const char *text, unsigned from, unsigned left, const char *status)
{
	struct winsize w = size();
	unsigned rows = w.ws_row > 1 ? w.ws_row - 1u : 1u, row = 0;

	fputs("\033[H", stdout);
	for (unsigned n = 0; row < rows; n++) {
		size_t length = strcspn(text, "\n");

		if (n >= from) {
			line(text, length, left, w.ws_col);
			putchar('\n');
			row++;
		}
		text += length;
		text += *text == '\n';
	}
	fputs("\033[7m", stdout);
	line(status, strlen(status), 0, w.ws_col);
	fputs("\033[0m", stdout);
	fflush(stdout);
	return rows;
}

/* ---- keys ------------------------------------------------------------------------- */

/* The first of the keys that were typed; how many bytes of them the key is. */
static enum sp_key first_key(const char *bytes, size_t n, size_t *length)
{
	static const struct {
		const char *bytes;
		enum sp_key key;
	} keys[] = {
		{ "q", SP_KEY_QUIT }, { "Q", SP_KEY_QUIT }, { "k", SP_KEY_UP }, { "\033[A", SP_KEY_UP }, { "\033OA", SP_KEY_UP },
		{ "j", SP_KEY_DOWN }, { "\033[B", SP_KEY_DOWN }, { "\033OB", SP_KEY_DOWN }, { "\033[5~", SP_KEY_PAGE_UP },
		{ "h", SP_KEY_LEFT }, { "\033[D", SP_KEY_LEFT }, { "\033OD", SP_KEY_LEFT },
		{ "l", SP_KEY_RIGHT }, { "\033[C", SP_KEY_RIGHT }, { "\033OC", SP_KEY_RIGHT },
		{ "b", SP_KEY_PAGE_UP }, { "\033[6~", SP_KEY_PAGE_DOWN }, { " ", SP_KEY_PAGE_DOWN },
	};

	for (unsigned i = 0; i < SP_COUNT(keys); i++) {
		*length = strlen(keys[i].bytes);
		if (n >= *length && memcmp(bytes, keys[i].bytes, *length) == 0)
			return keys[i].key;
	}
	*length = 1;
	if (bytes[0] == '\033' && n > 1 && (bytes[1] == '[' || bytes[1] == 'O'))
		for (*length = 2; *length < n && !(bytes[(*length)++] & 0x40);)
			;	/* another key's sequence, up to its last byte */
	return SP_KEY_OTHER;
}

enum sp_key sp_screen_key(unsigned milliseconds)
{
	struct pollfd p = { .fd = screen.keys, .events = POLLIN };
	enum sp_key key;
	size_t length;
	ssize_t n;

	/* On a slow terminal, or where a key is held, several come at once. */
	if (!screen.n_typed) {
		if (poll(&p, 1, (int)milliseconds) <= 0) {
			bool again = screen.again;

			screen.again = 0;
			return again ? SP_KEY_OTHER : SP_KEY_NONE;
		}
		n = read(screen.keys, screen.typed, sizeof(screen.typed));
		if (n <= 0)
			return SP_KEY_QUIT;	/* the terminal has gone */
		screen.n_typed = (size_t)n;
	}
	key = first_key(screen.typed, screen.n_typed, &length);
	screen.n_typed -= length;
	memmove(screen.typed, screen.typed + length, screen.n_typed);
	return key;
}
