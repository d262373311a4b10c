// Command table measures the whole daemon, against peers and against the limits of the
// machine itself, and prints one table.
//
//	go run ./table                     all rows, some ten minutes
//	go run ./table -run 'spawn|line'   the rows whose name matches
//	go run ./table -o ../docs/design/benchmarks.md
//
// Everything that is compared runs in turn in the same run; a ratio is the median of the
// rounds' ratios. A thing that the machine lacks (a compiler, a peer) is a row that says
// so. The program starts daemons of its own on homes below the temporary folder and ends
// them. It fails only when a measurement fails, never because a row misses its target.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

// measures is every measure, in the order of the table.
var measures = []measure{
	{"spawn-glibc", spawnGlibc},
	{"spawn-bare", spawnBare},
	{"persistent", persistentEvents},
	{"verdict-spawn", verdictSpawned},
	{"verdict-persistent", verdictPersistent},
	{"verdict-large", verdictBesideLarge},
	{"durable", durableAccepts},
	{"bridge-verdict", bridgeVerdict},
	{"call", realCall},
	{"box", boxStarts},
	{"session", session},
	{"first", firstCalls},
	{"lines", lines},
	{"judge", judged},
	{"undo", kept},
	{"scan", scanned},
	{"past", lookingBack},
	{"hooks-10000", manyHooks},
	{"growth", growth},
	{"decisions", decisions},
	{"fleet", fleetMessages},
	{"idle", idle},
	{"size", binarySize},
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		child(os.Args[2], os.Args[3:])
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run() error {
	b := &bench{}
	pattern := flag.String("run", "", "only the measures whose name matches this regular expression")
	list := flag.Bool("list", false, "list the measures")
	out := flag.String("o", "", "write the table into this Markdown file, between its two marks")
	flag.IntVar(&b.rounds, "rounds", 5, "rounds of each comparison")
	flag.DurationVar(&b.sample, "sample", time.Second, "length of one sample")
	flag.IntVar(&mostDecisions, "decisions", mostDecisions, "decisions in the history at most, of the measure decisions")
	flag.StringVar(&b.hookd, "hookd", "", "a hookd to measure instead of building one; its hookd-bridge lies beside it")
	flag.StringVar(&b.profile, "profile", "", "folder for a CPU profile (perf) of each daemon")
	flag.Parse()
	wanted, err := regexp.Compile(*pattern)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	if *list {
		for _, m := range measures {
			fmt.Println(m.name)
		}
		return nil
	}
	if err := b.prepare(); err != nil {
		return err
	}
	defer b.cleanup()
	rows := b.measureAll(wanted)
	report := newReport(b, rows)
	fmt.Print(report.text())
	if *out != "" {
		return report.write(*out)
	}
	return nil
}
