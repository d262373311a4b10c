package peer

import "syscall"

func credentials(fd int) (Process, error) {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return Process{}, err
	}
	return Process{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}
