package wire

import "strings"

// IDAlphabet is the alphabet of an id, which is a ULID: in the order of the bits, without
// letters that look like digits.
const IDAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// IDLength is the number of characters of an id.
const IDLength = 26

// IsID reports whether s has the form of an id, in large or small letters.
func IsID(s string) bool {
	if len(s) != IDLength || s[0] < '0' || s[0] > '7' {
		return false
	}
	return strings.Trim(strings.ToUpper(s), IDAlphabet) == ""
}
