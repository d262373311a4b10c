package contain

import "path/filepath"

// sameFolder reports whether two paths lead to the same folder.
func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	one, err := filepath.EvalSymlinks(a)
	if err != nil {
		return false
	}
	two, err := filepath.EvalSymlinks(b)
	return err == nil && one == two
}
