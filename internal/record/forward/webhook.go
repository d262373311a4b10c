package forward

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/wire"
)

// webhook sends each batch as one JSON object.
type webhook struct{ target config.Forward }

func (w *webhook) send(ctx context.Context, b batch) (thrown int64, err error) {
	body := b.object()
	signature := ""
	if w.target.Sign != "" {
		key, err := secret(w.target.Sign)
		if err != nil {
			return 0, fmt.Errorf("sign: %w", err)
		}
		signature = sign(key, body)
	}
	_, err = post(ctx, w.target, b.from, w.target.URL, body, signature)
	return 0, err
}

// sign is the signature of a body, in the form of GitHub's X-Hub-Signature-256.
func sign(key string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// object encodes the batch as
//
//	{"host":…,"hookd":"1.2.3","missed":0,"audit_head":"12:…","decisions":[{…},…]}
func (b batch) object() []byte {
	dst := append(make([]byte, 0, 512*(1+len(b.decisions))), '{')
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "host"), b.from.host)
	dst = rawjson.AppendString(rawjson.AppendKey(dst, "hookd"), b.from.version)
	dst = rawjson.AppendInt(dst, "missed", b.missed)
	if b.head.N > 0 {
		dst = rawjson.AppendString(rawjson.AppendKey(dst, "audit_head"), b.head.String())
	}
	dst = append(rawjson.AppendKey(dst, "decisions"), '[')
	for i := range b.decisions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendDecision(append(dst, '{'), &b.decisions[i])
	}
	return append(dst, "]}"...)
}

// appendDecision appends the members of a decision, and its end.
func appendDecision(dst []byte, d *wire.Decision) []byte {
	dst = strconv.AppendUint(rawjson.AppendKey(dst, "seq"), d.Seq, 10)
	return append(d.AppendJSON(dst), '}')
}
