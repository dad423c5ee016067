package credentials

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// FuzzTokenAnswer: whatever a token endpoint answers is a token or a fault of one line
// that does not quote a token.
func FuzzTokenAnswer(f *testing.F) {
	f.Add(200, []byte(`{"access_token":"a.b.c"}`))
	f.Add(200, []byte(`{"id_token":"x"}`))
	f.Add(401, []byte(`{"error":"invalid_client","error_description":"line\r\nline"}`))
	f.Add(500, []byte(`<html>`))
	f.Add(400, []byte(`{"error":"`+strings.Repeat("ä", 300)+`"}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		token, err := endpointRequest{url: "https://h/token", id: "id"}.read(&http.Response{StatusCode: status, Status: "x"}, body)
		var e *fault.Error
		switch {
		case err == nil && token == "":
			t.Error("neither a token nor an error")
		case err == nil:
		case token != "" || !errors.As(err, &e) || e.Kind != fault.Token:
			t.Errorf("%q beside %v", token, err)
		case strings.Contains(err.Error(), "\n"), utf8.Valid(body) && !utf8.ValidString(err.Error()), len(err.Error()) > 600:
			t.Errorf("not a line of text: %q", err)
		}
	})
}
