package main

// inTheWay says for measures that may miss a target which obstacle a profile of the
// daemon shows. It is printed only beside a target that was not reached.
var inTheWay = map[string]string{
	"spawn-glibc": spawnInTheWay,
	"spawn-bare":  spawnInTheWay,
	"persistent": "of the 45 to 50 µs of processor time that a run costs the daemon, 24 are the database's one writer " +
		"(the run with its indexes 13, the event 8), 5 the connection, 4 handing it over, 4 its answer and 4 " +
		"collecting garbage. The hook and the sender take another 10, and two processors have 40 µs for each " +
		"of 50,000 a second.",
	"verdict-spawn": "in a trace of one verdict without libc (590 µs, with perf), 100 µs go by until the daemon has read " +
		"and admitted the event, 17 of that to wake two threads of Go's; 80 with the looks at the files, the " +
		"payload and three pipes; 250 from clone3 to the exit, 80 of them other threads that run on that " +
		"processor first; 30 until the daemon runs again, 120 to the answer. At 100 a second the daemon's " +
		"own code takes 2.5 to 2.8 times as long as in a closed loop, since it is not in the processor's " +
		"caches. os/exec is timed inside one process.",
	"verdict-persistent": "most of it is the four times that client, daemon and hook wake each other, as the bare relay beside " +
		"it shows; at 100 a second a third is code that is not in the processor's caches any more. The 99th " +
		"percentile is the database's writer on the other core.",
	"verdict-large": "the goroutine of a large event gives way to verdicts (record 0138); the garbage collector, new " +
		"memory for each event and copies of up to 2 MiB while it grows do not.",
	"durable": "of the daemon's processor time the connections take a half (of that a third system calls), the " +
		"journal a fifth, half of it the wait for the disk, and memory a seventh; the sender shares the two " +
		"cores. The tail is the garbage collector, which takes one of the two for 10 to 15 ms a few times a " +
		"second, and the disk: one wait in a hundred takes 1.8 ms, one in two 0.3.",
	"call": "the median is that of /bin/true, so a call twice as long is soon reached: one call in a hundred waits for a " +
		"processor, for the daemon's other threads, the database's writer, or the garbage collector. The bridge " +
		"makes 60 page faults (/bin/true 50); with Go's start it made 300 (record 0148).",
	"box": "a static C program that starts bash and waits for it takes 1.1 ms longer than bash, the smallest Go program " +
		"1.5. A box by Landlock that Go makes alone takes 4.9 ms of both processors' time until bash runs: 1.3 Go's " +
		"start, 0.5 packages before main, 0.5 the paths of the profile, 0.5 the rules, 0.4 the child up to bash, half " +
		"of that the kernel's translation of the filter. So hookd plans it (record 0150): the plan takes 0.5 ms there, " +
		"and bash runs while Go starts. Where both processors are busy that gains little.",
	"first": "what a call that comes right after the start waits for is the rest of the start. Of 57 ms of processor " +
		"time to the first answer 15 are the program's own start, 25 reading 100 hooks, 10 the database. After it the " +
		"daemon reads all hooks a second time, since they may have changed before they were watched; that, and " +
		"freeing memory, wait now. After a minute the call finds hookd's code and data out of the processor's caches.",
	"idle": "Go's runtime collects garbage when it has not for two minutes. Where that falls into the minute " +
		"that is measured there are 16 to 18 wake-ups, else 2. Of 17 MiB of the daemon's own memory 14 are the " +
		"heap, 1.7 of that its tables of programs. A start reads 27 MiB of the program's file, which the " +
		"system takes back when it needs them. Unmapping them after the start gave 36 MiB in place of 41, and a first " +
		"call after a minute of 5.5 ms in place of 3.9 to 4.9: it stays out.",
	"session": "audit-log starts a shell, wc and cat for each event: alone it takes longer than the bridge with all " +
		"four guards. No call waits for it, but with the next call it shares two processors.",
	"scan": "with long outputs two fifths of the processor time are judging calls and what came before them, a quarter " +
		"finding the ends of JSON's strings, since a line is read some five times, and a tenth reading the blocks of an " +
		"answer. Without outputs nine tenths are judging: the facts 45 %, what came before 25 %.",
	"size": "15.1 MiB are machine code, 10.2 MiB Go's tables of functions and lines, which no flag leaves out, " +
		"and 4.8 MiB constants. Of code and constants hookd's own packages have 4.6 MiB, SQLite 1.9. 2.0 MiB are " +
		"methods that only text/template may call, by their names: the linker leaves none out while it is there, for " +
		"the templates of add_context and of judges, the page of scan, new hooks, and launchd.",
	"hooks-10000": "two thirds of the processor time of a load is reading and sealing, half of that the YAML parser's, " +
		"and an eighth the garbage collector's; after it some 33 MiB of the heap are in use (800 bytes a " +
		"hook and 600 for the facts that are checked before each start) and 13 MiB are lost between them.",
}

const (
	spawnInTheWay = "of all processor time of a start without libc (perf on both cores) a quarter is clone3 and the " +
		"steps of the child up to its exec, a fifth the rest of the exec and the exit, an eighth the store, " +
		"more than half of that SQLite's, a twentieth each the three pipes and the looks at the hook's files " +
		"and its program, and some 3 % each the wait for the end, Go's scheduler, and the list of runs that " +
		"the next daemon would end. The rest is thirty parts of 1 or 2 %. A posix_spawn loop takes 87 µs of " +
		"both cores for a start, exec and exit; here that part alone takes some 125, with a session, a " +
		"descriptor for the end, and a larger table of descriptors to copy and close."
)
