package main

import (
	"strings"
	"testing"
)

func TestEachValueNeedsItsWords(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n":                                   "a: has no comment",
		"b:\n  # fine\n  c: 1\n  d: 2\n":           "b.d: has no comment",
		"# A map.\na: {}\n":                        `a: say by schema: {"additionalProperties": ...}`,
		"# A number.\na: 1.5\n":                    "!!float",
		"# A number.\n# schema: {minimum}\na: 1\n": "a: schema:",
	} {
		root, err := parse([]byte(text))
		if err == nil {
			_, err = root.schema()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestSchemaAndTable(t *testing.T) {
	root, err := parse([]byte("# How | many.\n# schema: {\"minimum\": 2}\na: 3\nb:\n  # Which.\n  c: x\n"))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := root.schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"minimum": 2`, `"type": "integer"`, `"default": 3`, `"additionalProperties": false`, `"description": "Which."`} {
		if !strings.Contains(string(schema), want) {
			t.Errorf("the schema has no %s:\n%s", want, schema)
		}
	}
	const want = "| value | default | meaning |\n|---|---|---|\n| `a` | `3` | How \\| many. |\n| `b.c` | `\"x\"` | Which. |\n"
	if got := root.table(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, err := replaceTable("no marks", want); err == nil {
		t.Error("a README without marks is taken")
	}
}
