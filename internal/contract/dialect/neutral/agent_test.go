package neutral

import "testing"

func TestRunsAlone(t *testing.T) {
	a := Agent{UnattendedFlags: "-p --prompt"}
	for want, lines := range map[bool][][]string{
		true: {{"node", "gemini", "--yolo", "-p", "run it"}, {"qwen", "--prompt", "x"}, {"qwen", "--prompt=x"}, {"gemini", "-yp", "x"}},
		false: {nil, {"gemini"}, {"gemini", "-i", "p"}, {"gemini", "--prompt-interactive", "x"}, {"gemini", "-m", "gemini-2.5-pro"},
			{"gemini", "p"}, {"gemini", "-"}, {"gemini", "-m=gp"}, {"gemini", "--p"}},
	} {
		for _, args := range lines {
			if got := a.RunsUnattended(args); got != want {
				t.Errorf("%q: %v", args, got)
			}
		}
	}
	if new(Agent).RunsUnattended([]string{"claude", "-p"}) {
		t.Error("an agent without such a flag runs alone")
	}
}
