// Command notices lists the code of other authors that is linked into hookd's programs.
// Without arguments it writes THIRD_PARTY, the licences of the modules of all systems
// that hookd is built for, in the module's root. With -sbom it writes the contents of
// the given programs as CycloneDX JSON. The same input gives the same bytes. It reads
// the module cache and never the network.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The programs that are shipped, and the systems.
var (
	programs = []string{
		"github.com/hookd/hookd/cmd/hookd", "github.com/hookd/hookd/cmd/hookd-bridge",
		"github.com/hookd/hookd/cmd/hookd-fleet",
		"github.com/hookd/hookd/cmd/hookd-fleet-server",
	}
	systems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}
)

// isNotice matches the files that a licence asks to be passed on.
var isNotice = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)`)

func main() {
	sbom := flag.String("sbom", "", "write what the given programs are made of to this `file`, as CycloneDX JSON")
	version := flag.String("version", "", "of hookd, for -sbom")
	flag.Parse()
	var err error
	if *sbom != "" {
		err = writeSBOM(*sbom, *version, flag.Args())
	} else {
		err = writeNotices("THIRD_PARTY")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// A module is a linked module, and the folders of its linked packages.
type module struct {
	Path, Version, Dir string
	packages           []string
}

// linked returns the modules of the programs on all systems, by path.
func linked() ([]module, error) {
	found := map[string]*module{}
	for _, system := range systems {
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Module"}, programs...)...)
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Dir    string
				Module *struct {
					module
					Main    bool
					Replace *module
				}
			}
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read go list for %s: %w", system, err)
			}
			if p.Module == nil || p.Module.Main { // the standard library, hookd itself
				continue
			}
			m := p.Module.module
			if p.Module.Replace != nil {
				m = *p.Module.Replace
			}
			if found[m.Path] == nil {
				found[m.Path] = &m
			}
			found[m.Path].packages = append(found[m.Path].packages, p.Dir)
		}
	}
	var list []module
	for _, path := range slices.Sorted(maps.Keys(found)) {
		list = append(list, *found[path])
	}
	return list, nil
}

// notices returns the files to pass on of a module: the files in its folder and in the
// folders of the linked packages, and between.
func (m module) notices() ([]string, error) {
	files := map[string]bool{}
	for _, dir := range m.packages {
		for ; strings.HasPrefix(dir, m.Dir); dir = filepath.Dir(dir) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.Type().IsRegular() && isNotice.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
					files[filepath.Join(dir, e.Name())] = true
				}
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("module %s has no licence in %s", m.Path, m.Dir)
	}
	return slices.Sorted(maps.Keys(files)), nil
}

const preface = `The programs hookd, hookd-bridge, hookd-fleet and hookd-fleet-server are made
of hookd's own code, whose licence is in LICENSE, and of the modules below, under the licences below each.
` + "`make notices`" + ` writes this file.
`

// heading begins the part of a module.
func heading(path, version string) string {
	return fmt.Sprintf("\n%s\n%s\n", strings.Repeat("=", 80), strings.TrimSpace(path+" "+version))
}

// thirdParty is the text of THIRD_PARTY.
func thirdParty() ([]byte, error) {
	modules, err := linked()
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	var b bytes.Buffer
	b.WriteString(preface)
	b.WriteString(heading("The Go standard library", "")) // its version is that of the Go which built the program
	if err := quote(&b, strings.TrimSpace(string(root)), "LICENSE"); err != nil {
		return nil, err
	}
	for _, m := range modules {
		b.WriteString(heading(m.Path, m.Version))
		files, err := m.notices()
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			name, err := filepath.Rel(m.Dir, file)
			if err != nil {
				return nil, err
			}
			if err := quote(&b, m.Dir, name); err != nil {
				return nil, err
			}
		}
	}
	err = quotePage(&b)
	return b.Bytes(), err
}

// pageDir has the files of the page, which npm packages make and no Go module does.
func pageDir() (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), "internal", "people", "ui"), nil
}

// pageFile is a file of another author that the page has, as a line of VENDOR says.
type pageFile struct {
	path    string // of the file here
	pack    string // the npm package that it is of
	version string
	licence string // by its SPDX name
	inPack  string // its path in the package
	sum     string // SHA-256
}

// pageFiles returns the files of other authors that the page is served with; files that only
// its tests have are left out.
func pageFiles(dir string) (list []pageFile, err error) {
	vendor := filepath.Join(dir, "assets", "vendor")
	text, err := os.ReadFile(filepath.Join(vendor, "VENDOR"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 6 || strings.HasPrefix(line, "#") || strings.Contains(f[0], "testdata") {
			continue
		}
		list = append(list, pageFile{filepath.Join(vendor, f[0]), f[1], f[2], f[3], f[4], f[5]})
	}
	return list, nil
}

// pagePackages returns the npm packages of the page, as "name version".
func pagePackages(dir string) (list []string, err error) {
	files, err := pageFiles(dir)
	for _, f := range files {
		if name := f.pack + " " + f.version; !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list, err
}

// quotePage adds the licences of the files that make up the page of hookd ui.
func quotePage(b *bytes.Buffer) error {
	dir, err := pageDir()
	if err != nil {
		return err
	}
	list, err := pagePackages(dir)
	for _, p := range list {
		name, version, _ := strings.Cut(p, " ")
		b.WriteString(heading("npm "+name, version))
		file := strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-")
		if err := quote(b, filepath.Join(dir, "licences"), file); err != nil {
			return err
		}
	}
	return err
}

// quote writes one file under its name.
func quote(b *bytes.Buffer, dir, name string) error {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	fmt.Fprintf(b, "\n--- %s ---\n\n%s\n", filepath.ToSlash(name), bytes.Trim(text, "\n"))
	return nil
}

func writeNotices(file string) error {
	text, err := thirdParty()
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// The parts of CycloneDX 1.6 that are used.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string      `json:"type"`
		Ref        string      `json:"bom-ref"`
		Name       string      `json:"name"`
		Version    string      `json:"version,omitempty"`
		Hashes     []hash      `json:"hashes,omitempty"`
		Licences   []licence   `json:"licenses,omitempty"`
		PURL       string      `json:"purl,omitempty"`
		Components []component `json:"components,omitempty"`
	}
	licence struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// library is the component of a module.
func library(path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl}
}

// npmPackages describes the npm packages of the page whose files are in a program, each with
// these files and their sums. A program that has none of them gives none.
func npmPackages(program []byte) (list []component, err error) {
	dir, err := pageDir()
	if err != nil {
		return nil, err
	}
	files, err := pageFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f.path)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(program, text) {
			continue
		}
		purl := "pkg:npm/" + strings.Replace(f.pack, "@", "%40", 1) + "@" + f.version
		at := slices.IndexFunc(list, func(c component) bool { return c.Ref == purl })
		if at < 0 {
			c := component{Type: "library", Ref: purl, Name: f.pack, Version: f.version, PURL: purl}
			c.Licences = make([]licence, 1)
			c.Licences[0].License.ID = f.licence
			at, list = len(list), append(list, c)
		}
		list[at].Components = append(list[at].Components, component{
			Type: "file", Ref: purl + "#" + f.inPack, Name: f.inPack,
			Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(text))}},
		})
	}
	return list, nil
}

// newBOM describes built programs by the build information that the linker wrote into
// them. Its time is epoch.
func newBOM(version string, epoch time.Time, files []string) (*bom, error) {
	if len(files) == 0 {
		return nil, errors.New("no programs: type notices -sbom FILE -version VERSION PROGRAM…")
	}
	main := library("github.com/hookd/hookd", version)
	main.Type = "application"
	libraries := map[string]component{}
	var uses []dependency
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		info, err := buildinfo.Read(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("read what %s is made of: %w", file, err)
		}
		name := filepath.Base(file)
		program := component{
			Type: "file", Ref: name, Name: name, Version: version,
			Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(text))}},
		}
		main.Components = append(main.Components, program)
		used := []component{library("stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			used = append(used, library(m.Path, m.Version))
		}
		ofPage, err := npmPackages(text)
		if err != nil {
			return nil, err
		}
		used = append(used, ofPage...)
		refs := []string{}
		for _, c := range used {
			libraries[c.Ref] = c
			refs = append(refs, c.Ref)
		}
		slices.Sort(refs)
		uses = append(uses, dependency{program.Ref, refs})
	}
	b := &bom{Format: "CycloneDX", Spec: "1.6", Version: 1, Dependencies: uses}
	b.Metadata = metadata{epoch.UTC().Format(time.RFC3339), main}
	for _, ref := range slices.Sorted(maps.Keys(libraries)) {
		b.Components = append(b.Components, libraries[ref])
	}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	b.Serial = "urn:uuid:" + uuidOf(text)
	return b, nil
}

// uuidOf makes a UUID, version 8, of a text: another text has another.
func uuidOf(text []byte) string {
	sum := sha256.Sum256(text)
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func writeSBOM(file, version string, programs []string) error {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w: set it to the seconds of the commit", err)
	}
	b, err := newBOM(version, time.Unix(epoch, 0), programs)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
