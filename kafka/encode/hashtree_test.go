package encode

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// keyKinds are the first words of the lines of testdata/hashmap_trees.txt.
var keyKinds = map[string]func(s *hashOrder, key string, entry int){
	"t": func(s *hashOrder, key string, entry int) {
		at := len(s.text)
		s.text = append(s.text, key...)
		s.putText(at, entry)
	},
	"i": func(s *hashOrder, key string, entry int) {
		v, _ := strconv.ParseInt(key, 10, 32)
		s.putNumber(v, uint32(v), entry)
	},
	"l": func(s *hashOrder, key string, entry int) {
		v, _ := strconv.ParseInt(key, 10, 64)
		s.putNumber(v, longHash(v), entry)
	},
}

// The walks of real maps with trees, as JDK 17 and 25 print them: kind of the keys (text, int, long), table, keys as they are put |
// keys as they are walked. In some a tree was split, in some both halves became plain buckets again.
func TestHashOrderOfTrees(t *testing.T) {
	file, err := os.ReadFile("testdata/hashmap_trees.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	var s hashOrder
	standing := 0
	for _, line := range lines {
		given, walk, _ := strings.Cut(line, " | ")
		words := strings.Split(given, " ")
		table, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		s.reset()
		s.start(table)
		for i, key := range words[2:] {
			keyKinds[words[0]](&s, key, i)
		}
		if len(s.tree) != len(s.nodes)+1 {
			t.Errorf("%s: no tree", given)
		}
		if slices.ContainsFunc(s.tree, func(n treeNode) bool { return n.planted }) {
			standing++
		}
		s.arrange()
		var got []string
		for _, n := range s.nodes {
			if words[0] == "t" {
				got = append(got, string(s.text[n.from:n.to]))
			} else {
				got = append(got, strconv.FormatInt(n.number, 10))
			}
		}
		if !slices.Equal(got, strings.Split(walk, " ")) {
			t.Errorf("%s: got %q, want %q", given, got, walk)
		}
	}
	if standing == 0 || standing == len(lines) {
		t.Errorf("%d of %d maps end with a tree; some have to, and some have lost it", standing, len(lines))
	}
}

// A repeated key of a tree keeps its place and takes the last value.
func TestHashTreeReplaces(t *testing.T) {
	var s hashOrder
	plain := walkTexts(&s, 64, colliding(9))
	s.reset()
	again := walkTexts(&s, 64, append(colliding(9), "AaAaAaBB"))
	plain[slices.Index(plain, "AaAaAaBB=1")] = "AaAaAaBB=9"
	if !slices.Equal(again, plain) {
		t.Errorf("got %q, want %q", again, plain)
	}
	if !slices.Equal(s.replaced, []int{1}) || len(s.text) != 9*8 {
		t.Errorf("replaced %d, %d bytes of text", s.replaced, len(s.text))
	}
}

func TestCompareUTF16(t *testing.T) {
	texts := []string{
		"", "a", "ab", "b", "\x00", "é", "ê", "字", "\uD7FF", "\uE000", "\uFFFF", "\U00010000", "\U0001F600", "\U0001F601", "a\U0010FFFF",
	}
	for _, a := range texts {
		for _, b := range texts {
			want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
			if got := cmp.Compare(compareUTF16([]byte(a), []byte(b)), 0); got != want {
				t.Errorf("%q, %q: got %d, want %d", a, b, got, want)
			}
		}
	}
}
