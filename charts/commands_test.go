package charts

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// commandLimit bounds each command of the guide; Flink's client is a JVM that reads 300 MB of jars.
const commandLimit = 2 * time.Minute

var testedBlock = regexp.MustCompile("(?s)<!-- run by a test -->\n```sh\n(.*?)```")

// guideCommands are the commands of docs/kubernetes.md in their order, each with its continued lines.
func guideCommands(t *testing.T) (commands []string) {
	t.Helper()
	blocks := testedBlock.FindAllStringSubmatch(guide(t), -1)
	if all := strings.Count(guide(t), "```sh\n"); all != len(blocks) {
		t.Errorf("%d of %d blocks of commands say that a test runs them", len(blocks), all)
	}
	command := ""
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			if command += line; !strings.HasSuffix(line, "\\\n") {
				commands, command = append(commands, strings.TrimSuffix(command, "\n")), ""
			}
		}
	}
	return commands
}

// kubeconfig leads to the server. Flink's client takes a text in braces for strict JSON.
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: here, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: %s}}]
contexts: [{name: here, context: {cluster: here, user: admin}}]
current-context: here
`

// user is somebody at the root of the repository with helm, kubectl, Flink's scripts, and a cluster to reach.
type user struct {
	*server
	folder      string
	environment []string
}

func newUser(t *testing.T, s *server) *user {
	t.Helper()
	flink := os.Getenv("PENSTOCK_FLINK")
	if flink == "" {
		t.Fatal("PENSTOCK_FLINK names no distribution of Flink; `make chart-check` brings one")
	}
	chart, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	u := &user{server: s, folder: t.TempDir()}
	config := filepath.Join(u.folder, "kubeconfig")
	text := fmt.Sprintf(kubeconfig, s.url, token)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(u.folder, "charts"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(chart, filepath.Join(u.folder, "charts", "penstock")); err != nil {
		t.Fatal(err)
	}
	u.environment = append(os.Environ(), "HOME="+u.folder, "KUBECONFIG="+config, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
		"FLINK_LOG_DIR="+u.folder, "PATH="+strings.Join([]string{os.Getenv("PENSTOCK_KUBE"), filepath.Join(flink, "bin"), os.Getenv("PATH")}, ":"))
	return u
}

// try runs a command by sh and returns what it says.
func (u *user) try(command string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", command)
	cmd.Dir, cmd.Env, cmd.WaitDelay = u.folder, u.environment, 10*time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func (u *user) sh(command string) string {
	u.t.Helper()
	out, err := u.try(command)
	if err != nil {
		u.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return out
}

// get is an object of the namespace flink.
func (u *user) get(kind, name string) object {
	u.t.Helper()
	path := fmt.Sprintf(paths[kind], "flink") + "/" + name
	code, answer := u.call(http.MethodGet, path, nil)
	if code != http.StatusOK {
		u.t.Fatalf("%s: %d %s", path, code, answer.text("message"))
	}
	return answer
}

// takePodTemplate runs the guide's kubectl get; the server takes what comes out, as a pod that Flink completes.
func (u *user) takePodTemplate(command string) object {
	u.t.Helper()
	u.sh(command)
	text, err := os.ReadFile(filepath.Join(u.folder, "pod-template.yaml"))
	if err != nil {
		u.t.Fatal(err)
	}
	var template object
	if err := yaml.UnmarshalStrict(text, &template); err != nil || template.text("kind") != "Pod" {
		u.t.Fatalf("%s brings no pod (%v):\n%s", command, err, text)
	}
	pod := completed(template)
	if refusal := u.judge(pod, "flink"); refusal != "" {
		u.t.Errorf("the pod template of %s: %s", command, refusal)
	}
	return pod
}

// runFlink runs the guide's flink run, its dots replaced by an image and a job; the cluster's parts are made.
func (u *user) runFlink(command string) {
	u.t.Helper()
	full, dots := strings.CutSuffix(command, " ...")
	if !dots {
		u.t.Fatalf("%q leaves no room for an image and a job", command)
	}
	u.sh(full + " -Dkubernetes.container.image.ref=registry.example.com/flink-with-penstock:2.2 local:///opt/flink/usrlib/job.jar")
	if image := u.get("Deployment", "orders").text("spec", "template", "spec", "containers", 0, "image"); !strings.HasPrefix(image, "registry.example.com/") {
		u.t.Errorf("the JobManager's image is %s", image)
	}
	want, err := os.ReadFile(filepath.Join(u.folder, "pod-template.yaml"))
	if err != nil {
		u.t.Fatal(err)
	}
	if got := u.get("ConfigMap", "pod-template-orders").text("data", "taskmanager-pod-template.yaml"); strings.TrimSpace(got) != strings.TrimSpace(string(want)) {
		u.t.Errorf("the JobManager makes TaskManagers by\n%s\nwant\n%s", got, want)
	}
	if config := u.get("ConfigMap", "flink-config-orders").text("data", "config.yaml"); !strings.Contains(config, "64m") {
		u.t.Errorf("the JobManager's configuration has no share of the arena:\n%s", config)
	}
}

// execute runs the guide's kubectl exec. No node runs pods here: the server comes as far as to look for one, past the pod and its container.
func (u *user) execute(command string, pods ...string) {
	u.t.Helper()
	if out, err := u.try(command); err == nil || !strings.Contains(out, `(NotFound): pods "POD" not found`) {
		u.t.Errorf("%s: %v, want the server to miss the pod\n%s", command, err, out)
	}
	for _, pod := range pods {
		there := strings.Replace(command, " POD ", " "+pod+" ", 1)
		if out, err := u.try(there); err == nil || !strings.Contains(out, "pod "+pod+" does not have a host assigned") {
			u.t.Errorf("%s: %v, want the server to miss the node alone\n%s", there, err, out)
		}
	}
}

// pod makes one for good, that no node takes.
func (u *user) pod(name string, pod object) {
	u.t.Helper()
	pod["apiVersion"], pod["kind"] = "v1", "Pod"
	pod.at("metadata").(map[string]any)["name"] = name
	if code, answer := u.call(http.MethodPost, fmt.Sprintf(paths["Pod"], "flink"), pod); code != http.StatusCreated {
		u.t.Fatalf("pod %s: %d %s", name, code, answer.text("message"))
	}
}

// TestGuidesCommandsRun runs the commands of docs/kubernetes.md by sh in their order, with the real helm, kubectl and flink. One release
// goes before the next one comes.
func TestGuidesCommandsRun(t *testing.T) {
	u := newUser(t, startServer(t))
	u.namespace("flink", "privileged")
	counts := map[string]int{}
	take := ""
	for _, command := range guideCommands(t) {
		program := strings.Join(strings.Fields(command)[:2], " ")
		counts[program]++
		switch program {
		case "helm install":
			if counts[program] > 1 {
				u.sh("helm uninstall penstock -n flink")
			}
			u.sh(command)
			u.requireInstalled(command)
		case "kubectl get":
			take = command
			u.pod("orders-taskmanager-1-1", u.takePodTemplate(command))
		case "flink run":
			u.runFlink(command)
		case "kubectl exec":
			u.execute(command, "orders-taskmanager-1-1", "node")
		default:
			t.Errorf("no test runs %q", command)
		}
		if strings.Contains(command, "mode=daemonset") {
			// "As above", says the guide of the pod template.
			u.takePodTemplate(take)
			u.pod("node", u.get("DaemonSet", "penstock").at("spec", "template").(map[string]any))
		}
	}
	if got := fmt.Sprint(counts); got != "map[flink run:1 helm install:2 kubectl exec:2 kubectl get:1]" {
		t.Errorf("the guide's commands are %s", got)
	}
}

// requireInstalled sees that the values of the guide's helm install have come as far as the server.
func (u *user) requireInstalled(command string) {
	u.t.Helper()
	if config := u.get("ConfigMap", "penstock-config").text("data", "penstockd.toml"); !strings.Contains(config, "[arena]") {
		u.t.Errorf("%s: the daemon's configuration is\n%s", command, config)
	}
	if strings.Contains(command, "mode=daemonset") {
		if limit := u.get("DaemonSet", "penstock").text("spec", "template", "spec", "containers", 0, "resources", "limits", "memory"); limit != "4864Mi" {
			u.t.Errorf("%s: the daemon's limit is %s, want 4864Mi", command, limit)
		}
		return
	}
	if cluster := u.get("PodDisruptionBudget", "penstock-taskmanagers").text("spec", "selector", "matchLabels", "app"); cluster != "orders" {
		u.t.Errorf("%s: the budget is for %s", command, cluster)
	}
	if snippet := u.get("ConfigMap", "penstock-snippets").text("data", "pod-template.yaml"); !strings.Contains(snippet, "registry.example.com/penstockd:") {
		u.t.Errorf("%s: the snippet is\n%s", command, snippet)
	}
}

// TestGuidesExecNamesWhatRuns: the container, the program and the configuration of the guide's kubectl exec are those of each mode's pod.
func TestGuidesExecNamesWhatRuns(t *testing.T) {
	execCommand := regexp.MustCompile(`^kubectl exec -n flink POD -c (\S+) -- (\S+) \w+ (--config \S+)$`)
	seen := 0
	for _, command := range guideCommands(t) {
		if !strings.HasPrefix(command, "kubectl exec ") {
			continue
		}
		seen++
		parts := execCommand.FindStringSubmatch(command)
		if parts == nil {
			t.Errorf("%q is not of the form %v", command, execCommand)
			continue
		}
		for name, values := range variants(t) {
			c, _ := daemons(t, values)
			want := fmt.Sprintf("[%s healthcheck %s]", parts[2], parts[3])
			if got := c.text("livenessProbe", "exec", "command"); c.text("name") != parts[1] || got != want {
				t.Errorf("%s: container %s, whose probe is %s; the guide has %s", name, c.text("name"), got, command)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d calls of kubectl exec, want 2", seen)
	}
}
