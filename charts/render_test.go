package charts

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kinds are the kinds of objects, sorted, once each.
func kinds(objects map[string]object) string {
	set := map[string]bool{}
	for _, o := range objects {
		set[o.text("kind")] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), " ")
}

func TestWhatEachVariantMakes(t *testing.T) {
	for name, want := range map[string]string{
		"sidecar":           "ConfigMap PodDisruptionBudget",
		"sidecar-monitored": "ConfigMap PodDisruptionBudget Service ServiceMonitor",
		"small":             "ConfigMap",
		"daemonset":         "ConfigMap DaemonSet ServiceAccount",
		"daemonset-large":   "ConfigMap DaemonSet Service ServiceAccount ServiceMonitor",
	} {
		values, found := variants(t)[name]
		if !found {
			t.Errorf("ci/%s-values.yaml is missing", name)
			continue
		}
		if got := kinds(rendered(t, values)); got != want {
			t.Errorf("%s makes %s, want %s", name, got, want)
		}
	}
}

// daemons are the daemon's containers of all variants, with what stands around them.
func daemons(t *testing.T, values map[string]any) (container, pod object) {
	t.Helper()
	objects := rendered(t, values)
	for _, o := range objects {
		if o.text("kind") == "DaemonSet" {
			pod = o.at("spec", "template", "spec").(map[string]any)
			return pod.at("containers", 0).(map[string]any), pod
		}
	}
	pod = parsed(t, objects, "pod-template.yaml").at("spec").(map[string]any)
	return pod.at("initContainers", 0).(map[string]any), pod
}

// TestTheDaemonHasNoRights holds each daemon to the Pod Security level "restricted", container by container.
func TestTheDaemonHasNoRights(t *testing.T) {
	for name, values := range variants(t) {
		c, pod := daemons(t, values)
		for want, way := range map[string][]any{
			"true":           {"securityContext", "runAsNonRoot"},
			"false":          {"securityContext", "allowPrivilegeEscalation"},
			"[ALL]":          {"securityContext", "capabilities", "drop"},
			"<nil>":          {"securityContext", "capabilities", "add"},
			"RuntimeDefault": {"securityContext", "seccompProfile", "type"},
		} {
			if got := c.text(way...); got != want {
				t.Errorf("%s: %v is %s, want %s", name, way, got, want)
			}
		}
		if c.text("securityContext", "readOnlyRootFilesystem") != "true" || pod.text("hostUsers") != "<nil>" || pod.text("hostNetwork") != "<nil>" {
			t.Errorf("%s: %v in %v", name, c["securityContext"], pod)
		}
		if pod.text("securityContext", "fsGroup") != c.text("securityContext", "runAsGroup") {
			t.Errorf("%s: fsGroup %s is not the daemon's group %s", name, pod.text("securityContext", "fsGroup"), c.text("securityContext", "runAsGroup"))
		}
	}
}

// TestMemoryFollowsTheArena: the limit is arena + heap + margin, and equal to the request.
func TestMemoryFollowsTheArena(t *testing.T) {
	for name, want := range map[string]string{"sidecar": "1280Mi", "small": "192Mi", "daemonset-large": "11264Mi"} {
		c, _ := daemons(t, variants(t)[name])
		if limit, request := c.text("resources", "limits", "memory"), c.text("resources", "requests", "memory"); limit != want || request != want {
			t.Errorf("%s: request %s, limit %s; want %s", name, request, limit, want)
		}
	}
}

func TestProbesAskTheDaemon(t *testing.T) {
	for name, values := range variants(t) {
		c, _ := daemons(t, values)
		for _, probe := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
			if got := c.text(probe, "exec", "command"); got != "[/usr/bin/penstockd healthcheck --config /etc/penstock/penstockd.toml]" {
				t.Errorf("%s: %s runs %s", name, probe, got)
			}
		}
	}
}

func TestSidecarIsNative(t *testing.T) {
	c, pod := daemons(t, variants(t)["sidecar"])
	if c.text("restartPolicy") != "Always" || pod.text("containers", 0, "name") != "flink-main-container" {
		t.Errorf("%v in %v", c, pod)
	}
	if env := pod.text("containers", 0, "env", 0, "value"); env != "/run/penstock/sockets" {
		t.Errorf("Flink looks for the sockets in %s", env)
	}
	if c, _ := daemons(t, variants(t)["daemonset"]); c.text("restartPolicy") != "<nil>" {
		t.Errorf("a container of a DaemonSet has a restart policy of its own: %v", c)
	}
}

// TestFolderOfTheNode: only the init container is root, and it may chown alone.
func TestFolderOfTheNode(t *testing.T) {
	_, pod := daemons(t, variants(t)["daemonset"])
	prepare := object(pod.at("initContainers", 0).(map[string]any))
	if prepare.text("securityContext", "capabilities") != "map[add:[CHOWN] drop:[ALL]]" ||
		prepare.text("args") != "[prepare-folder /run/penstock --uid=9999 --gid=9999]" {
		t.Errorf("%v", prepare)
	}
	_, large := daemons(t, variants(t)["daemonset-large"])
	if large["initContainers"] != nil || large.text("volumes", 1, "hostPath", "path") != "/var/lib/penstock/sockets" {
		t.Errorf("%v", large)
	}
	template := parsed(t, rendered(t, variants(t)["daemonset-large"]), "pod-template.yaml")
	if template.text("spec", "volumes", 0, "hostPath", "path") != "/var/lib/penstock/sockets" || template.at("spec", "initContainers") != nil {
		t.Errorf("the TaskManager's pod: %v", template)
	}
}

func TestSnippetsAgree(t *testing.T) {
	for name, values := range variants(t) {
		objects := rendered(t, values)
		pod, operator := parsed(t, objects, "pod-template.yaml"), parsed(t, objects, "flink-deployment.yaml")
		for _, part := range []string{"metadata", "spec"} {
			if a, b := pod.text(part), operator.text("spec", "taskManager", "podTemplate", part); a != b {
				t.Errorf("%s: %s differs:\n%s\n%s", name, part, a, b)
			}
		}
	}
}

func TestConfigurationChangesTheDaemonSet(t *testing.T) {
	sum := func(values map[string]any) string {
		for _, o := range rendered(t, values) {
			if o.text("kind") == "DaemonSet" {
				return o.text("spec", "template", "metadata", "annotations", "checksum/config")
			}
		}
		return ""
	}
	quiet := map[string]any{"mode": "daemonset", "daemon": map[string]any{"logLevel": "warn"}}
	if a, b := sum(variants(t)["daemonset"]), sum(quiet); a == b || a == "" {
		t.Errorf("the pods of another configuration have the same checksum %q", a)
	}
}

// TestTheDaemonTakesItsConfiguration has penstockd judge what is rendered.
func TestTheDaemonTakesItsConfiguration(t *testing.T) {
	daemon := os.Getenv("PENSTOCKD")
	if daemon == "" {
		t.Skip("PENSTOCKD names no daemon; `make chart-check` does")
	}
	for name, values := range variants(t) {
		for key, o := range rendered(t, values) {
			if !strings.HasSuffix(key, "-config") {
				continue
			}
			file := filepath.Join(t.TempDir(), name+".toml")
			if err := os.WriteFile(file, []byte(o.text("data", "penstockd.toml")), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(daemon, "validate", "--config", file).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s\n%s", name, err, out, o.text("data", "penstockd.toml"))
			}
			want := o.text("data", "penstockd.toml")
			if _, directory, _ := strings.Cut(want, "directory = \""); !strings.Contains(string(out), strings.SplitN(directory, `"`, 2)[0]+"/session.sock") {
				t.Errorf("%s: the daemon serves elsewhere: %s", name, out)
			}
		}
	}
}

func TestNotesSayHowToGoOn(t *testing.T) {
	for name, values := range variants(t) {
		files, err := render(load(t), values)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"pod-template-file.taskmanager", "PENSTOCK_SOCKET_DIR", "penstockd status"} {
			if !strings.Contains(files["NOTES.txt"], want) {
				t.Errorf("%s: the notes do not say %q", name, want)
			}
		}
	}
}
