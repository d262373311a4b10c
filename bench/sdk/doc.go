// Package sdk measures the cost of the SDK files: hooks that import them beside hooks
// that read their JSON themselves, started for each event and kept. It promises nothing
// and is no part of hookd.
package sdk
