package neutral

import (
	"strconv"
	"strings"
)

// PatchedFile is a file that a patch changes.
type PatchedFile struct {
	Path   string
	Change PatchChange
}

// PatchChange is how a patch changes a file.
type PatchChange int

// The changes. A moved file is no more where it was.
const (
	PatchWrites PatchChange = iota
	PatchDeletes
	PatchMoves
)

// headers begin the lines of a patch that name a file: of apply_patch, and of diff.
var headers = []struct {
	begins string
	change PatchChange
}{
	{"*** update file:", PatchWrites}, {"*** add file:", PatchWrites}, {"*** delete file:", PatchDeletes},
	{"*** move to:", PatchWrites}, {"+++ ", PatchWrites}, {"--- ", PatchWrites}, {"rename to ", PatchWrites},
	{"rename from ", PatchMoves}, {"copy to ", PatchWrites},
}

// PatchedFiles returns the files that a patch changes, in the form of apply_patch or as a unified diff. Agents take
// headers of apply_patch in any letter case, and with any white space around them.
func PatchedFiles(patch string) (files []PatchedFile) {
	diff := !strings.Contains(patch, "*** Begin Patch")
	lines := strings.FieldsFunc(patch, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		line = strings.TrimSpace(line)
		for _, h := range headers {
			if len(line) < len(h.begins) || !strings.EqualFold(line[:len(h.begins)], h.begins) {
				continue
			}
			path := strings.TrimSpace(line[len(h.begins):])
			if h.begins[0] != '*' {
				// Another line that begins so is text that the patch removes.
				named := h.begins != "--- " || i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ")
				if path = diffPath(path); !diff || !named {
					continue
				}
			}
			if path != "" {
				files = append(files, PatchedFile{path, h.change})
			}
		}
	}
	return files
}

// diffPath is the file that a header of diff names, without the time behind it and the a/ or b/ before it; "" = none.
func diffPath(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		text = plain
	}
	text, _, _ = strings.Cut(text, "\t")
	if text = strings.TrimSpace(text); text == "/dev/null" {
		return ""
	}
	if rest, ok := strings.CutPrefix(text, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(text, "b/")
}
