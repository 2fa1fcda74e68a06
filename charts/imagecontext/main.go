// Command imagecontext copies what a container engine would send as the context of an image: the files of a folder that its
// .dockerignore lets in, by the engines' own matcher. It shows that the image's build step needs nothing else.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

func main() {
	root := flag.String("root", ".", "folder of the Dockerfile")
	out := flag.String("out", "", "folder that is made anew")
	flag.Parse()
	count, err := run(*root, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "imagecontext:", err)
		os.Exit(1)
	}
	fmt.Printf("the image's context has %d files\n", count)
}

func run(root, out string) (int, error) {
	if out == "" {
		return 0, fmt.Errorf("-out names no folder")
	}
	matcher, err := ignored(filepath.Join(root, ".dockerignore"))
	if err != nil {
		return 0, err
	}
	if err := os.RemoveAll(out); err != nil {
		return 0, err
	}
	count := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			// Nothing of these is ever let in, and they are large.
			if name == ".git" || name == "build" || name == "out" || name == "client-java" {
				return fs.SkipDir
			}
			return nil
		}
		skip, err := matcher.MatchesOrParentMatches(name)
		if err != nil || skip || !entry.Type().IsRegular() {
			return err
		}
		count++
		return copyFile(path, filepath.Join(out, name))
	})
	return count, err
}

func ignored(path string) (*patternmatcher.PatternMatcher, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	patterns, err := ignorefile.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return patternmatcher.New(patterns)
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
