/**
 * Random histories of a real job on a cluster of processes, and runs that look for leaks. The engine level of the
 * histories, with many more rounds in the same time, is the Go package daemon/history.
 */
package dev.penstock.integration.soak;
