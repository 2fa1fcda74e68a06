// Package cgroup tells how much memory this process may still take before the kernel's memory controller kills it. There is no error
// for a page beyond the limit, whichever system call wanted it; so the daemon asks before it makes a segment. Versions 1 and 2.
package cgroup
