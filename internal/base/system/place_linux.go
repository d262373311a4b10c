package system

const (
	runFolder   = "/run"
	stateFolder = "/var/lib/hookd"
)
