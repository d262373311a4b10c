/*
 * The machine's own limit.
 *
 *   spawn rate SECONDS PROCESSES PROGRAM   posix_spawn and wait in a loop, prints runs per second
 *   spawn ask PROGRAM                      for each byte on stdin one run, prints its nanoseconds
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void run(char *program)
{
	char *argv[] = {program, NULL}, *envp[] = {NULL};
	pid_t pid;
	int status;
	if (posix_spawn(&pid, program, NULL, NULL, argv, envp) != 0)
		exit(1);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		exit(1);
}

static int rate(double seconds, int processes, char *program)
{
	long *counts = mmap(NULL, processes * 128, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double begin = now();
	long sum = 0;
	for (int i = 0; i < processes; i++) {
		if (fork() == 0) {
			long n = 0;
			for (; now() < begin + seconds; n++)
				run(program);
			counts[i * 16] = n;
			_exit(0);
		}
	}
	for (int i = 0; i < processes; i++)
		wait(NULL);
	double took = now() - begin;
	for (int i = 0; i < processes; i++)
		sum += counts[i * 16];
	printf("%.1f\n", sum / took);
	return sum == 0;
}

static int ask(char *program)
{
	char c;
	while (read(0, &c, 1) == 1) {
		double begin = now();
		run(program);
		printf("%.0f\n", (now() - begin) * 1e9);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "rate"))
		return rate(atof(argv[2]), atoi(argv[3]), argv[4]);
	if (argc == 3 && !strcmp(argv[1], "ask"))
		return ask(argv[2]);
	return 2;
}
