package app

import "runtime/debug"

// release is set by the build with -ldflags "-X penstock.dev/penstock/daemon/app.release=...".
var release = ""

// Version is the release, or the revision that the Go toolchain recorded, or "development".
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "development"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "development-" + s.Value[:12]
		}
	}
	return "development"
}
