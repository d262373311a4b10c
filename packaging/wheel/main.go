// Command wheel writes a Python wheel that carries hookd's programs, so that pip
// and pipx install them where there is no compiler:
//
//	wheel -version 1.2.3 -system linux-amd64 -date 1700000000 FOLDER DIST
//
// FOLDER has hookd, hookd-bridge, LICENSE and man/. The same input gives the same
// bytes. The wheel has no Python code: its programs are scripts to pip.
package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// tags say on which machines a wheel can be installed. The programs are static: any
// libc will do.
var tags = map[string]string{
	"linux-amd64":  "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux-arm64":  "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin-amd64": "macosx_12_0_x86_64",
	"darwin-arm64": "macosx_12_0_arm64",
}

func main() {
	version := flag.String("version", "", "of hookd")
	system := flag.String("system", "", "such as linux-amd64")
	date := flag.Int64("date", 0, "of the files, in seconds since 1970")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: wheel -version VERSION -system SYSTEM -date SECONDS FOLDER DIST")
		os.Exit(2)
	}
	path, err := write(*version, *system, time.Unix(*date, 0).UTC(), flag.Arg(0), flag.Arg(1))
	if err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

// release is a version of git's or of a tag.
var release = regexp.MustCompile(`^(\d+(?:\.\d+)*)(?:-(alpha|beta|rc)\.?(\d+))?(?:-(\d+)-g([0-9a-f]+))?(-dirty)?$`)

// pythonVersion writes a version as Python's packages do: 1.2.3-rc.1 is 1.2.3rc1,
// four commits after it 1.2.3rc1.post4+g1234abc.
func pythonVersion(version string) string {
	m := release.FindStringSubmatch(version)
	if m == nil {
		local := strings.Trim(regexp.MustCompile(`[^0-9A-Za-z]+`).ReplaceAllString(version, "."), ".")
		return "0.0.0.dev0+" + strings.ToLower(local)
	}
	text := m[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[2]] + m[3]
	if m[4] != "" {
		text += ".post" + m[4] + "+g" + m[5]
	}
	return text
}

// file is one of a wheel.
type file struct {
	name string
	text []byte
	mode os.FileMode
}

func write(version, system string, date time.Time, folder, dist string) (path string, err error) {
	tag, ok := tags[system]
	if !ok {
		return "", fmt.Errorf("no wheel is known for the system %q", system)
	}
	if date.Year() < 1980 { // zip knows no earlier one
		date = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	version = pythonVersion(version)
	base := "hookd-" + version
	list, err := contents(base, version, tag, folder)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dist, base+"-py3-none-"+tag+".whl")
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	z := zip.NewWriter(out)
	var record strings.Builder
	for _, f := range list {
		sum := sha256.Sum256(f.text)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	name := base + ".dist-info/RECORD"
	list = append(list, file{name, []byte(record.String() + name + ",,\n"), 0o644})
	for _, f := range list {
		if err := add(z, f, date); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return path, out.Close()
}

func add(z *zip.Writer, f file, date time.Time) error {
	h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
	h.SetMode(f.mode)
	w, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	_, err = w.Write(f.text)
	return err
}

// contents are the files of a wheel except for its record.
func contents(base, version, tag, folder string) (list []file, err error) {
	put := func(name, from string, mode os.FileMode) {
		text, readErr := os.ReadFile(from)
		if err == nil {
			err = readErr
		}
		list = append(list, file{name, text, mode})
	}
	for _, program := range []string{"hookd", "hookd-bridge"} {
		put(base+".data/scripts/"+program, filepath.Join(folder, program), 0o755)
	}
	pages, _ := filepath.Glob(filepath.Join(folder, "man", "*")) // the pattern is fine
	for _, page := range pages {
		put(base+".data/data/share/man/man1/"+filepath.Base(page), page, 0o644)
	}
	for _, name := range []string{"LICENSE", "THIRD_PARTY"} {
		put(base+".dist-info/licenses/"+name, filepath.Join(folder, name), 0o644)
	}
	metadata := "Metadata-Version: 2.1\nName: hookd\nVersion: " + version + "\nSummary: Runs people's hooks for AI agents\n" +
		"Home-page: https://github.com/hookd/hookd\nLicense: MIT\nRequires-Python: >=3.8\n"
	wheel := "Wheel-Version: 1.0\nGenerator: hookd\nRoot-Is-Purelib: false\n"
	for t := range strings.SplitSeq(tag, ".") {
		wheel += "Tag: py3-none-" + t + "\n"
	}
	list = append(list, file{base + ".dist-info/METADATA", []byte(metadata), 0o644},
		file{base + ".dist-info/WHEEL", []byte(wheel), 0o644})
	return list, err
}
