// Package rawjson reads and writes JSON as bytes, without building values: it
// finds the members of an object, replaces some and leaves all other bytes as
// they are, and appends members to a record. It is for the paths on which each
// event costs one pass; encoding/json takes about ten times as long.
//
// Tests and fuzz targets hold its reads and writes to encoding/json. Nothing blocks, no
// call keeps its arguments, and all but Walker and Lexer require valid JSON: for
// anything else the result is unspecified, but no call panics. This is the only scanner
// of JSON in the tree.
package rawjson
