package encode

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// plainCSV is Jackson's rule (formats: loose check, quote and escape doubled) over UTF-16 units, as plainly as it can be said.
func plainCSV(text string, delimiter, quote, escape rune) string {
	units := utf16.Encode([]rune(text))
	asks := func(u uint16) bool {
		if escape != 0 {
			return rune(u) <= max(delimiter, quote) || rune(u) == escape
		}
		return rune(u) <= max(delimiter, quote) || rune(u) == quote || u == '\\'
	}
	if len(units) <= 24 && !slices.ContainsFunc(units, asks) {
		return text
	}
	doubled := []string{string(quote), string(quote) + string(quote)}
	if escape != 0 && escape != quote {
		doubled = append(doubled, string(escape), string(escape)+string(escape))
	}
	return string(quote) + strings.NewReplacer(doubled...).Replace(text) + string(quote)
}

func TestQuotingLikeThePlainRule(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	delimiters := []rune{',', ';', '|', '\t', 1, ' ', 'a', '~', 0x7F, 0x80, 'é', '☃', '，', 0xFFFD, 0xFFFF}
	quotes := []rune{'"', '\'', '~', 'a', 1, 0x80, '☃', 0xFFFD}
	escapes := []rune{0, '\\', '|', '"', 'b', 'é', '☃', 0xFFFD}
	alphabet := []rune("ab \\\"',;|~\t\n\x00\x01\x7F\u0080é☃€，\uFFFD\uFFFF\U00010000\U0001F600\U0010FFFF")
	for range 60_000 {
		d, q, x := delimiters[random.IntN(len(delimiters))], quotes[random.IntN(len(quotes))], escapes[random.IntN(len(escapes))]
		plain := random.IntN(3) == 0
		var text []rune
		for range random.IntN(40) {
			// Few characters out of the ordinary, or all of them.
			c := 'x'
			if plain == (random.IntN(10) == 0) {
				c = alphabet[random.IntN(len(alphabet))]
			}
			text = append(text, c)
		}
		quoting := newCSVQuoting(d, q, x)
		if got, want := string(quoting.appendString(nil, []byte(string(text)))), plainCSV(string(text), d, q, x); got != want {
			t.Fatalf("delimiter %q, quote %q, escape %q, text %q: got %q, want %q", d, q, x, string(text), got, want)
		}
	}
}
