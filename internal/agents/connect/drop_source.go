package connect

import (
	"errors"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"
)

// DropSource plans to take entry n, counted from 0, off the list under
// `sources` of hookd.yaml at path. Everything else in it stays as it is.
func DropSource(path string, n int) (Change, error) {
	t := &target{path: path}
	f, err := readFile(path)
	if err != nil {
		return Change{}, err
	}
	root, err := yamlFormat{}.document(f.text)
	if err != nil {
		return Change{}, t.at(err)
	}
	var list *yaml.Node
	if root != nil {
		list = yamlMember(root, "sources")
	}
	if list == nil || list.Kind != yaml.SequenceNode || n >= len(list.Content) {
		return Change{}, t.at(errors.New("there is no such entry under `sources`: edit it by hand"))
	}
	text, err := dropItem(f.text, root, list, n)
	if err != nil {
		return Change{}, t.at(err)
	}
	return Change{
		Path: f.real, Before: f.with(f.text), After: f.with(text), Mode: f.mode, Dir: 0o700,
		Backup: f.real + BackupSuffix, BackupMode: f.mode,
	}, nil
}

// dropItem cuts an item out of the list under sources; the last one leaves an
// empty list.
func dropItem(text []byte, root, list *yaml.Node, n int) ([]byte, error) {
	want, err := yamlFormat{}.parse(text)
	if err != nil {
		return nil, err
	}
	entries, _ := want["sources"].([]any)
	want["sources"] = slices.Delete(slices.Clone(entries), n, n+1)
	r := &yamlCut{yamlEdit: newYAMLEdit(text)}
	r.keys(root, nil)
	item := list.Content[n]
	if err := r.cutOut(list, item, item, r.dash(list, item), list.Column, false); err != nil {
		return nil, err
	}
	if key := r.keyOf[list]; len(list.Content) == 1 && list.Style&yaml.FlowStyle == 0 {
		r.put(r.offset(key)+len(key.Value)+1, " []")
	}
	out := r.apply(text)
	if got, err := (yamlFormat{}).parse(out); err != nil || !reflect.DeepEqual(got, want) {
		return nil, errUnsure
	}
	return out, nil
}
