// Package docs has no code of its own: it is where the documents live, the
// gallery of hooks, and the tests that keep both true. A snippet, a hook or a
// schema in here has been run against a real daemon by the tests beside it.
package docs
