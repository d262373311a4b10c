package filelimit

const prlimit64 = 302
