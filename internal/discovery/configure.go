package discovery

// Configure changes what the next Load or scan reads: the root, how folders
// are read, and what is switched off. How changes are noticed stays as it was.
func (d *Discovery) Configure(opts Options) {
	opts = opts.withDefaults()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opts.Root, d.opts.Read, d.opts.Disabled = opts.Root, opts.Read, opts.Disabled
	d.opts.Files, d.opts.Fixed, d.opts.Approved, d.opts.Parsers = opts.Files, opts.Fixed, opts.Approved, opts.Parsers
}
