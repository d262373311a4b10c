package system

const (
	runFolder   = "/var/run"
	stateFolder = "/var/db/hookd"
)
