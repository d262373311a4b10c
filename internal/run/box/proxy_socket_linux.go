package box

import (
	"encoding/binary"
	"os"
	"syscall"
	"unsafe"
)

// The way out of a box's network. A socket stays in the network that it was made in, so the box makes
// one that listens on its own loopback, and hands it to this process, which accepts on it from outside.

// makeProxySocket has the child make the listener and send it here.
func (p *program) makeProxySocket() error {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return cannot("socketpair: %v", err)
	}
	p.closes(pair[0])
	p.from, p.to = pair[0], pair[1]
	const says = "listen for the proxy"
	p.do(says, syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0).put = 1
	fd := p.keeps(says)
	at := make([]byte, syscall.SizeofSockaddrInet4)
	binary.NativeEndian.PutUint16(at, syscall.AF_INET)
	binary.BigEndian.PutUint16(at[2:], proxyPort)
	copy(at[4:], []byte{127, 0, 0, 1})
	p.do(says, syscall.SYS_BIND, uintptr(fd), p.bytes(at), uintptr(len(at)))
	p.do(says, syscall.SYS_LISTEN, uintptr(fd), 512)
	rights, one := syscall.UnixRights(fd), []byte{0}
	message := &syscall.Msghdr{Iov: &syscall.Iovec{Base: &one[0], Len: 1}, Iovlen: 1, Control: &rights[0]}
	message.SetControllen(len(rights))
	p.holds = append(p.holds, message)
	p.do(says, syscall.SYS_SENDMSG, uintptr(pair[1]), uintptr(unsafe.Pointer(message)), 0)
	return nil
}

// proxySocket receives it; an error is one of the box.
func (p *program) proxySocket() (*os.File, error) {
	rights := make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := syscall.Recvmsg(p.from, make([]byte, 1), rights, syscall.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("recvmsg", err)
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, os.NewSyscallError("recvmsg", syscall.EBADMSG)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, os.NewSyscallError("recvmsg", syscall.EBADMSG)
	}
	return os.NewFile(uintptr(fds[0]), "proxy"), nil
}
