// Package persistent measures hooks whose process is kept: lines per second
// through one of them, and how long an answer takes. It promises nothing and
// is no part of hookd.
package persistent
