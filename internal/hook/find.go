package hook

// Find returns the entry of that source and name, nil if there is none.
func (s *Snapshot) Find(source Source, name string) *Entry {
	for i, e := range s.Entries {
		if e.Source == source && e.Name == name {
			return &s.Entries[i]
		}
	}
	return nil
}
