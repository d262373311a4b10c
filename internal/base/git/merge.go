package git

import (
	"context"
	"errors"
	"os/exec"
)

// MergeFile merges two changes of a text: ours and theirs, which were base before. clean is false
// where both changed the same lines. No file is changed, and no repository is looked at.
func MergeFile(ctx context.Context, ours, base, theirs string) (text []byte, clean bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "merge-file", "-p", "-q", "--", ours, base, theirs)
	cmd.Dir, cmd.Env = "/", withSettings(append(Clean(nil), environment...), fixed)
	text, err = cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 128 {
		return text, false, nil
	}
	return text, err == nil, err
}
