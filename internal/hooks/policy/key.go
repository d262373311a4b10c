package policy

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hookd/hookd/internal/base/readfile"
)

// publicPrefix begins the text of a public key.
const publicPrefix = "ed25519:"

// maxKey is how long the file of a key may be, in bytes.
const maxKey = 16 << 10

// Generate makes a key: its private half, as PEM, in a file that does not exist yet and
// only its owner reads; its public half in the file with .pub behind that. It returns the
// text of the public half.
func Generate(file string) (public string, err error) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	public = FormatKey(pub)
	if err := writeNew(file+".pub", []byte(public+"\n"), 0o644); err != nil {
		return "", err
	}
	if err := writeNew(file, text, 0o600); err != nil {
		return "", errors.Join(err, os.Remove(file+".pub"))
	}
	return public, nil
}

// writeNew writes a file that must not exist: a key that was there is not replaced.
func writeNew(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// PrivateKey reads the file of Generate, or of `openssl genpkey -algorithm ed25519`.
func PrivateKey(file string) (ed25519.PrivateKey, error) {
	text, err := readfile.Read(file, maxKey)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text) // the rest
	if block == nil {
		return nil, fmt.Errorf("%s is no private key: it does not hold PEM", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the private key %s: %w", file, err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s is a key of another kind than ed25519", file)
	}
	return key, nil
}

// FormatKey is the text of a public key.
func FormatKey(key ed25519.PublicKey) string {
	return publicPrefix + base64.StdEncoding.EncodeToString(key)
}

// PublicKey reads the text of a public key, or the file that holds it.
func PublicKey(textOrFile string) (ed25519.PublicKey, error) {
	text := textOrFile
	if !strings.HasPrefix(text, publicPrefix) {
		read, err := readfile.Read(textOrFile, maxKey)
		if err != nil {
			return nil, err
		}
		text = strings.TrimSpace(string(read))
	}
	coded, ok := strings.CutPrefix(text, publicPrefix)
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%s is no public key: want the file FILE.pub of `hookd bundle keygen FILE`, or its text",
			textOrFile)
	}
	return key, nil
}

// Fingerprint is short for a key, for people to compare.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}
