/* float.h: doubles in words of the store. */
#ifndef SP_FLOAT_H
#define SP_FLOAT_H

#include <stdint.h>

static inline double sp_float(int64_t bits)
{
	double d;

	__builtin_memcpy(&d, &bits, sizeof(d));
	return d;
}

static inline int64_t sp_float_bits(double d)
{
	int64_t bits;

	__builtin_memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static inline void sp_float_add(int64_t *to, int64_t more)
{
	*to = sp_float_bits(sp_float(*to) + sp_float(more));
}

#endif
