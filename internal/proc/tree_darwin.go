package proc

import "golang.org/x/sys/unix"

// processes reads the process table. States are those of sys/proc.h.
func processes() (map[int]row, error) {
	const stopped, zombie = 4, 5
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	table := make(map[int]row, len(all))
	for _, k := range all {
		pid := int(k.Proc.P_pid)
		sid, _ := unix.Getsid(pid)
		t := k.Proc.P_starttime
		table[pid] = row{
			pid: pid, ppid: int(k.Eproc.Ppid), sid: sid,
			start:   uint64(t.Sec)*1e6 + uint64(t.Usec),
			stopped: k.Proc.P_stat == stopped,
			dead:    k.Proc.P_stat == zombie,
		}
	}
	return table, nil
}

// macOS has no handle for a process: the walk is as short as it can be.
func openHandle(row) int { return -1 }
func closeHandle(int)    {}

func sendSignal(m *member, s unix.Signal) error { return unix.Kill(m.pid, s) }

// The descriptors of others are not looked at.
func linkOf(int) string        { return "" }
func holds(int, []string) bool { return false }
