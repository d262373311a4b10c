// Package docs holds the documents, the gallery of hooks and the tests that
// keep both true. It has no code of its own. The tests run every snippet, hook
// and schema against a real daemon.
package docs
