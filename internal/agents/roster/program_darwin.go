package roster

import "os"

// ownProgram is the file that has the name of the program that runs.
func ownProgram() (string, error) { return os.Executable() }
