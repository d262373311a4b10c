/* The smallest process there is: no C library, one system call. */
void _start(void)
{
#if defined(__x86_64__)
	__asm__ volatile("xor %%edi, %%edi\n\tmov $231, %%eax\n\tsyscall" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mov x0, #0\n\tmov x8, #94\n\tsvc #0" ::: "memory");
#else
#error "no exit_group for this processor: add its three instructions"
#endif
	__builtin_unreachable();
}
