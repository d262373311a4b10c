#!/usr/bin/env python3
"""Formats the file that a tool call wrote, if it lies where the agent works.

Formatters come from PATH only: one from the project itself, such as
node_modules/.bin, could have been written by the agent.
"""
import json
import os
import shutil
import subprocess
import sys

# The first that is installed is used; the file's path comes last.
FORMATTERS = {
    (".go",): [["gofmt", "-w"]],
    (".py", ".pyi"): [["ruff", "format", "-q"], ["black", "-q"]],
    (".rs",): [["rustfmt", "--edition", "2021"]],
    (".c", ".cc", ".cpp", ".h", ".hpp"): [["clang-format", "-i"]],
    (".tf", ".tfvars"): [["terraform", "fmt"], ["tofu", "fmt"]],
    (".sh", ".bash"): [["shfmt", "-w"]],
    (".js", ".jsx", ".mjs", ".ts", ".tsx", ".css", ".json", ".md", ".yaml", ".yml", ".html"): [["prettier", "--write"]],
}


def formatter(path):
    for suffixes, commands in FORMATTERS.items():
        if path.endswith(suffixes):
            return next((c for c in commands if shutil.which(c[0])), None)
    return None


def written_file(event):
    """The file that was written, absolute, or None when it is not ours to touch."""
    tool_input = event.get("tool_input")
    name = tool_input.get("file_path") or tool_input.get("path") if isinstance(tool_input, dict) else None
    root = event.get("cwd") or os.environ.get("FORMAT_ROOT")
    if not isinstance(name, str) or not root or "\0" in name:
        return None
    root = os.path.realpath(root)
    path = os.path.realpath(os.path.join(root, name))
    return path if path.startswith(os.path.join(root, "")) and os.path.isfile(path) else None


def read(path):
    with open(path, "rb") as f:
        return f.read()


def main():
    event = json.load(sys.stdin.buffer)
    of_libre_fang = event["hook_event_name"] == "transform_tool_result"
    if of_libre_fang and "tool_response" in event:
        return  # another agent's, whose PostToolUse comes too
    path = written_file(event)
    command = path and formatter(path)
    if not command:
        return
    before = read(path)
    done = subprocess.run([*command, path], cwd=os.path.dirname(path), stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    if done.returncode != 0:
        sys.stderr.buffer.write(done.stderr[-2000:])
        sys.exit(f"format-on-write: {command[0]} ended with {done.returncode}")
    if read(path) != before and not of_libre_fang:
        text = f"{command[0]} has reformatted {path}: read it again before you edit it"
        print(json.dumps({"hook_specific_output": {"additional_context": text}}))


main()
