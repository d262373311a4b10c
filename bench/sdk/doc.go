// Package sdk measures what the SDK files cost: hooks that import them beside hooks
// that read their JSON themselves, started for each event and kept. It promises
// nothing and is no part of hookd.
package sdk
