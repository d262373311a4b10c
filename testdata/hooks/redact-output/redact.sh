#!/bin/sh
# Takes tool_output out of the JSON object on stdin as it is written there, with
# its escapes, masks what looks like a secret, and gives it back. Prints nothing
# when there is nothing to mask: the next hook then gets its turn. Needs only
# sh, awk and sed.
set -eu
export LC_ALL=C

# Records end at each quote, so they are by turns structure and text. A record
# of text that ends in an odd number of backslashes goes on after the quote.
raw=$(awk '
BEGIN { RS = "\"" }
!text {
  value = /:[ \t\r\n]*$/
  depth += gsub(/[{[]/, "") - gsub(/[]}]/, "")
  wanted = value && depth == 1 && key == "tool_output"
  if (!value) key = ""
  text = 1
  next
}
{
  escaped = match($0, /\\+$/) && RLENGTH % 2
  part = escaped ? $0 "\"" : $0
  if (wanted) printf "%s", part
  else if (!value && length(key) < 64) key = key part
  if (escaped) next
  if (wanted) exit
  text = 0
}')

masked=$(printf '%s' "$raw" | sed -E '
s/-----BEGIN [A-Z ]*PRIVATE KEY-----([^-]|-[^-])*-----END [A-Z ]*PRIVATE KEY-----/[redacted]/g
s/(AKIA|ASIA)[0-9A-Z]{16}/[redacted]/g
s/gh[opsu]_[A-Za-z0-9]{20,}/[redacted]/g
s/(sk|xox[abprs])-[A-Za-z0-9-]{16,}/[redacted]/g
s/([Bb]earer )[A-Za-z0-9._~+\/=-]{8,}/\1[redacted]/g
s/(([Pp]assword|PASSWORD|[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Aa]pi_?[Kk]ey|API_?KEY)(\\")?[[:space:]]*[:=][[:space:]]*(\\")?)[^][:space:]\\",&[][^[:space:]\\",&]*/\1[redacted]/g')

if [ "$raw" != "$masked" ]; then
  printf '{"tool_output":"%s"}\n' "$masked"
fi
