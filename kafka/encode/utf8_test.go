package encode

import (
	"strings"
	"testing"

	"penstock.dev/penstock/columnar"
)

func TestEscapes(t *testing.T) {
	var controls strings.Builder
	for c := range 0x20 {
		controls.WriteByte(byte(c))
	}
	in := controls.String() + "\"\\/\x7F\u0080é\u2028€\uFFFD\uFEFF<>&'"
	want := `\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000B\f\r\u000E\u000F` +
		`\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001A\u001B\u001C\u001D\u001E\u001F` +
		`\"\\/` + "\x7F\u0080é\u2028€\uFFFD\uFEFF<>&'"
	if got := string(appendEscaped(nil, []byte(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A key with everything, and long runs that cross every boundary of the word loop.
func TestNonBMP(t *testing.T) {
	typ := row("k\U0001F600\x01\x1F/", of(columnar.VarChar))
	got, err := encodeRows(t, typ, JSONOptions{}, []any{strings.Repeat("x\U0001F600", 3000)})
	want := `{"k\uD83D\uDE00\u0001\u001F/":"` + strings.Repeat(`x\uD83D\uDE00`, 3000) + `"}`
	if err != nil || got[0] != want {
		t.Errorf("got %.200s, %v", got, err)
	}
	if got := string(appendEscaped(nil, []byte("\U0010FFFF\U00010000"))); got != `\uDBFF\uDFFF\uD800\uDC00` {
		t.Errorf("got %s", got)
	}
}

// How new String(bytes, UTF_8) of the JDK groups malformed bytes; "?" stands for U+FFFD.
func TestInvalidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"\x80": "?", "\xFF": "?", "\xF8": "?", "\xC0\x80": "??", "\xC1\xBF": "??", "\xF5\x80\x80\x80": "????",
		"\xC3": "?", "\xC3\xC3\xA9": "?é", "\xC3A": "?A",
		"\xE2\x82": "?", "\xE2\x82A": "?A", "\xE2A": "?A", "\xE2": "?",
		"\xE0\x80\x80": "???", "\xE0\x9F\xBF": "???",
		"\xED\xA0\x80": "?", "\xED\xA0\x80\xED\xB0\x80": "??", "\xED\xA0A": "?A", "\xED\xA0": "?",
		"\xF0\x9F\x98": "?", "\xF0\x9F\x98A": "?A", "\xF0\x9F": "?", "\xF0\x9FA": "?A", "\xF0": "?",
		"\xF0\x80\x80\x80": "????", "\xF4\x90\x80\x80": "????", "\xF0\x9F\x98\xF0\x9F\x98\x80": `?\uD83D\uDE00`,
		"€\xE2\x82€": "€?€",
	} {
		for _, pad := range []string{"", "abcdefgh", "abcdefghijklm"} {
			want := pad + strings.ReplaceAll(want, "?", "\uFFFD")
			if got := string(appendEscaped(nil, []byte(pad+in))); got != want {
				t.Errorf("%s%X: got %q, want %q", pad, in, got, want)
			}
		}
	}
}
