package producer

import (
	"fmt"
	"log/slog"
)

// hidden is what every printer makes of a Secret.
const hidden = "[hidden]"

// Secret is a text that no printer, logger or encoder shows; only Reveal does. It holds an address, because package fmt asks no method
// of a value in an unexported field.
type Secret struct{ text *string }

// NewSecret hides text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal is the text, for the library that needs it and for nothing else.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet is false for the zero Secret and the empty text.
func (s Secret) IsSet() bool { return s.Reveal() != "" }

// Format hides the text from every verb of package fmt, those that look into structures included.
func (Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, hidden) }

// LogValue hides the text from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text from encoders, encoding/json among them.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
