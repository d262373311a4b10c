package filelimit

const prlimit64 = 261
