// Empty: rawSyscall6 has no body in this package.
