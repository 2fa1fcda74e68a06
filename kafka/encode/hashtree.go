package encode

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// A long bucket of a large java.util.HashMap is a red-black tree, by hash and then by key, and at the same time still a list, in
// whose order it is walked. The list is not that of the tree: a new key stands behind its parent, and the root is moved to the front
// whenever it changed. All keys here are of classes with an order of their own (numbers, booleans, texts), so that Java never has to
// fall back on the identity of objects.

// shortTree is the number of keys up to which half of a tree becomes a plain bucket again when the table doubles.
const shortTree = 6

// treeNode is what a key has beside its hashNode while its bucket is a tree: indices as in hashNode.next, 0 for none.
type treeNode struct {
	parent int32
	// child are the smaller and the larger ones.
	child [2]int32
	// prev is the opposite of next.
	prev         int32
	red, planted bool
}

// node returns a key of the map that is being filled.
func (s *hashOrder) node(k int32) *hashNode { return &s.nodes[s.first+int(k)-1] }

// isTree says whether the bucket that begins with key k is a tree; k is its root then.
func (s *hashOrder) isTree(k int32) bool { return len(s.tree) != 0 && s.tree[k].planted }

// find looks for a key in a tree. It returns the key that equals n and 0, or the key below which n belongs and the sign of n
// against it.
func (s *hashOrder) find(root int32, n *hashNode) (int32, int) {
	for k := root; ; {
		sign := s.compare(n, s.node(k))
		if sign == 0 {
			return k, 0
		}
		next := s.tree[k].child[side(sign)]
		if next == 0 {
			return k, sign
		}
		k = next
	}
}

func side(sign int) int {
	if sign < 0 {
		return 0
	}
	return 1
}

// compare is the order of a tree: hashes are ints in Java.
func (s *hashOrder) compare(a, b *hashNode) int {
	if c := cmp.Compare(int32(a.hash), int32(b.hash)); c != 0 {
		return c
	}
	if c := cmp.Compare(a.number, b.number); c != 0 {
		return c
	}
	return compareUTF16(s.text[a.from:a.to], s.text[b.from:b.to])
}

// putTree adds an entry to a tree and says whether its key is new.
func (s *hashOrder) putTree(root int32, n hashNode) bool {
	parent, sign := s.find(root, &n)
	if sign == 0 {
		s.replace(s.node(parent), n.last)
		return false
	}
	p := s.node(parent)
	next := p.next
	n.next = next
	s.nodes = append(s.nodes, n)
	k := int32(len(s.nodes) - s.first)
	s.tree = append(s.tree, treeNode{parent: parent, prev: parent, planted: true})
	s.tree[parent].child[side(sign)] = k
	if next != 0 {
		s.tree[next].prev = k
	}
	s.node(parent).next = k
	s.toFront(s.balance(root, k))
	s.grow()
	return true
}

// makeTree makes a tree of the bucket that begins with head.
func (s *hashOrder) makeTree(head int32) {
	if len(s.tree) == 0 {
		size := len(s.nodes) - s.first + 1
		s.tree = slices.Grow(s.tree, size)[:size]
		clear(s.tree)
	}
	root, prev := int32(0), int32(0)
	for k := head; k != 0; k = s.node(k).next {
		s.tree[k] = treeNode{prev: prev, planted: true}
		prev = k
		if root == 0 {
			root = k
			continue
		}
		parent, sign := s.find(root, s.node(k))
		s.tree[k].parent = parent
		s.tree[parent].child[side(sign)] = k
		root = s.balance(root, k)
	}
	s.toFront(root)
}

// splitTree goes on with one half of a tree of a table that has doubled.
func (s *hashOrder) splitTree(head int32, count int, whole bool) {
	switch {
	case count > shortTree && !whole:
		s.makeTree(head)
	case count <= shortTree:
		for k := head; k != 0; k = s.node(k).next {
			s.tree[k] = treeNode{}
		}
	}
}

// toFront makes the root of a tree the first key of its bucket.
func (s *hashOrder) toFront(root int32) {
	head := s.bucket(s.node(root).hash)
	first := *head
	if first == root {
		return
	}
	*head = root
	prev, next := s.tree[root].prev, s.node(root).next
	if next != 0 {
		s.tree[next].prev = prev
	}
	s.node(prev).next = next
	s.node(root).next, s.tree[root].prev = first, 0
	s.tree[first].prev = root
}

// balance restores the rules of a red-black tree after key x was added as a leaf, and returns the root.
func (s *hashOrder) balance(root, x int32) int32 {
	t := s.tree
	t[x].red = true
	for {
		p := t[x].parent
		if p == 0 {
			t[x].red = false
			return x
		}
		g := t[p].parent
		if !t[p].red || g == 0 {
			return root
		}
		side := 0
		if t[g].child[1] == p {
			side = 1
		}
		if u := t[g].child[1-side]; t[u].red {
			t[u].red, t[p].red, t[g].red = false, false, true
			x = g
			continue
		}
		if t[p].child[1-side] == x {
			root = s.rotate(root, p, side)
			x, p = p, x
		}
		t[p].red, t[g].red = false, true
		root = s.rotate(root, g, 1-side)
	}
}

// rotate makes p the child on this side of its child on the other side, and returns the root.
func (s *hashOrder) rotate(root, p int32, side int) int32 {
	t := s.tree
	up := t[p].child[1-side]
	inner := t[up].child[side]
	t[p].child[1-side] = inner
	if inner != 0 {
		t[inner].parent = p
	}
	above := t[p].parent
	t[up].parent = above
	switch {
	case above == 0:
		root, t[up].red = up, false
	case t[above].child[0] == p:
		t[above].child[0] = up
	default:
		t[above].child[1] = up
	}
	t[up].child[side], t[p].parent = p, up
	return root
}

// compareUTF16 is String.compareTo of two texts in valid UTF-8: by UTF-16 units, in which code points above 0xFFFF come before those
// from 0xE000 on.
func compareUTF16(a, b []byte) int {
	i, least := 0, min(len(a), len(b))
	for i < least && a[i] == b[i] {
		i++
	}
	if i == least {
		return cmp.Compare(len(a), len(b))
	}
	for i > 0 && !utf8.RuneStart(a[i]) {
		i--
	}
	x, _ := utf8.DecodeRune(a[i:])
	y, _ := utf8.DecodeRune(b[i:])
	if x < 0x10000 != (y < 0x10000) {
		if x >= 0x10000 {
			x = 0xD800
		} else {
			y = 0xD800
		}
	}
	return cmp.Compare(x, y)
}

// putTextInTree adds an entry whose key is the text from n.from on, which stays when the key is new.
func (s *hashOrder) putTextInTree(root int32, n hashNode) {
	if !s.putTree(root, n) {
		s.text = s.text[:n.from]
	}
}
