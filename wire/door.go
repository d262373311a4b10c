package wire

// DoorHeader is the header of a request with the name of its sender, where a person does
// something through it: command, terminal, page, …
const DoorHeader = "Hookd-Door"

// IsDoor reports whether a text can be the name of a door: lower-case letters and
// hyphens, at most 32, a letter first.
func IsDoor(text string) bool {
	for i, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c != '-' || i == 0) {
			return false
		}
	}
	return text != "" && len(text) <= 32
}
