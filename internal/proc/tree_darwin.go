package proc

import "golang.org/x/sys/unix"

// processes reads the process table.
func processes() (map[int]row, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	table := make(map[int]row, len(all))
	for i := range all {
		r := rowOf(&all[i])
		table[r.pid] = r
	}
	return table, nil
}

// rowOf reads an entry; states are the states of sys/proc.h.
func rowOf(k *unix.KinfoProc) row {
	const stopped, zombie = 4, 5
	pid := int(k.Proc.P_pid)
	sid, _ := unix.Getsid(pid)
	t := k.Proc.P_starttime
	return row{
		pid: pid, ppid: int(k.Eproc.Ppid), sid: sid,
		start:   uint64(t.Sec)*1e6 + uint64(t.Usec),
		stopped: k.Proc.P_stat == stopped,
		dead:    k.Proc.P_stat == zombie,
		tty:     k.Eproc.Tdev > 0, // NODEV is -1
	}
}

// macOS has no handle for a process.
func openHandle(row) int   { return -1 }
func closeHandle(int)      {}
func handleEnded(int) bool { return true }

func sendSignal(m *member, s unix.Signal) error { return unix.Kill(m.pid, s) }

// On macOS the descriptors of other processes are not read.
func linkOf(int) string        { return "" }
func holds(int, []string) bool { return false }
