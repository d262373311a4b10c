package discovery

import "github.com/hookd/hookd/internal/hooks/source/hookdir"

// Configure changes the reading of the next scan: the root, how folders are read, and
// which hooks are switched off. It does not change how changes are noticed.
func (d *Discovery) Configure(opts Options) {
	opts = opts.withDefaults()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opts.Root, d.opts.Read, d.opts.Disabled = opts.Root, opts.Read, opts.Disabled
	d.opts.Files, d.opts.Fixed = opts.Files, opts.Fixed
	d.opts.Approved, d.opts.Parsers, d.opts.Dirs = opts.Approved, opts.Parsers, opts.Dirs
}

// Readings takes hooks that were read under the options in force, for the next scan. It
// waits while there is a scan.
func (d *Discovery) Readings() *hookdir.Readings {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opts.Read.Readings
}
