package dialect

// Private returns the names below a user's home where agents keep credentials, settings and the
// words that were said to them.
func Private() []string {
	return []string{
		".claude", ".claude.json", ".codex", ".gemini", ".qwen", ".cursor", ".copilot", ".factory", ".kiro", ".openclaw",
		".config/opencode", ".local/share/opencode", ".config/crush", ".local/share/crush", ".config/amp",
		".local/share/amp", ".pi", ".cline", ".continue", ".hermes", ".kimi", ".kimi-code", ".config/goose",
		".local/share/goose", ".config/kilo", ".config/devin", ".grok", ".tabnine", ".codeium", ".openhands", ".qoder",
		".deepagents", ".librefang", ".config/cagent", ".cagent", // the last two are docker-agent's
		".config/Code", ".config/Cursor", ".vscode-server/data", "Library/Application Support/Code",
		"Library/Application Support/Cursor", ".config/github-copilot", ".aider.conf.yml", ".config/io.datasette.llm", "Documents/Cline",
	}
}

// InProject returns the names in a project that steer agents, and run later.
func InProject() []string {
	return []string{
		".claude", ".codex", ".gemini", ".cursor", ".opencode", ".kiro", ".qwen", ".factory", ".clinerules", ".windsurf",
		".github/hooks", ".mcp.json", "opencode.json", "opencode.jsonc", ".kilo", ".kilocode", "kilo.json", "kilo.jsonc",
		"crush.json", ".crush.json", ".pi", ".amp", ".openclaw", ".qoder", ".hermes", ".goose", ".continue", ".aider.conf.yml",
	}
}
