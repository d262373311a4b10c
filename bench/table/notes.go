package main

// inTheWay says for measures that may miss a target what a profile of the
// daemon shows in the way. It is printed only beside what was not reached.
var inTheWay = map[string]string{
	"spawn-glibc":   spawnInTheWay,
	"spawn-bare":    spawnInTheWay,
	"persistent":    "of the processor time of a run, most is the database's: an event, a pending run, a run record and the end of the pending run are four statements.",
	"verdict-spawn": "the daemon makes some 35 system calls for a run, ten of which look at the hook's files again (trust), and client, daemon and hook wake each other across two cores.",
	"line":          lineInTheWay,
	"ndjson":        lineInTheWay,
	"fanout":        "the sender's lines cost as much as in `line`; they share two cores with ten writers and the ten readers of the benchmark.",
	"hooks-10000":   "two thirds of the processor time of a load is reading and sealing, half of that the YAML parser's, and an eighth the garbage collector's; after it some 33 MiB of the heap are in use (800 bytes a hook and 600 for the facts that are checked before each start) and 13 MiB are lost between them.",
}

const (
	spawnInTheWay = "beside the start itself (three pipes, fork and exec, in a session of its own, which the os/exec loop does not ask for), a quarter of the daemon's processor time for a run is the database's, and ten looks at the hook's files (trust) are a tenth."
	lineInTheWay  = "of the processor time of an event, a third is reading and checking it, a third its admission and its record for the stream; beside that goroutine the database writes as many events as it can, which takes the other core."
)
