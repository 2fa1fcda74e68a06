package charts

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	// startLimit bounds each start: of etcd, of the API server, of a resource definition.
	startLimit = 2 * time.Minute
	token      = "chart-check"
)

// server is a real kube-apiserver over a real etcd. It has no nodes and no controllers: it judges objects.
type server struct {
	t      *testing.T
	url    string
	client *http.Client
}

// startServer runs the programs that PENSTOCK_KUBE names the folder of, until the end of the test.
func startServer(t *testing.T) *server {
	t.Helper()
	programs := os.Getenv("PENSTOCK_KUBE")
	if programs == "" {
		t.Skip("PENSTOCK_KUBE names no API server; `make chart-check` builds one")
	}
	work := t.TempDir()
	key := filepath.Join(work, "signing.key")
	writeKey(t, key)
	tokens := filepath.Join(work, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, peer, secure := freePort(t), freePort(t), freePort(t)
	run(t, filepath.Join(programs, "etcd"), "--data-dir="+filepath.Join(work, "etcd"), "--log-level=error",
		"--listen-client-urls=http://"+client, "--advertise-client-urls=http://"+client, "--listen-peer-urls=http://"+peer,
		"--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=default=http://"+peer, "--unsafe-no-fsync")
	_, port, _ := net.SplitHostPort(secure)
	run(t, filepath.Join(programs, "kube-apiserver"), "--etcd-servers=http://"+client, "--bind-address=127.0.0.1", "--secure-port="+port,
		"--cert-dir="+filepath.Join(work, "certificates"), "--token-auth-file="+tokens, "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+key, "--service-account-signing-key-file="+key)
	s := &server{t: t, url: "https://" + secure, client: &http.Client{
		// The server's own certificate of this minute, on loopback.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 30 * time.Second,
	}}
	s.eventually("the default namespace", func() bool {
		code, answer := s.call(http.MethodGet, "/api/v1/namespaces/default", nil)
		return code == http.StatusOK && answer.text("metadata", "uid") != "<nil>"
	})
	return s
}

func writeKey(t *testing.T, path string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// run starts a program that ends with the test; its last words are shown when the test fails.
func run(t *testing.T, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		if text := out.String(); t.Failed() {
			t.Logf("%s: %s", filepath.Base(program), text[max(0, len(text)-4000):])
		}
	})
}

func (s *server) eventually(what string, ready func() bool) {
	s.t.Helper()
	for end := time.Now().Add(startLimit); !ready(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("it did not happen in time: %s", what)
		}
	}
}

// call makes one request; the code is 0 when nobody answers.
func (s *server) call(method, path string, body any) (int, object) {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequest(method, s.url+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	var o object
	_ = json.Unmarshal(answer, &o)
	return response.StatusCode, o
}

// paths are where objects of a kind go; %s is the namespace.
var paths = map[string]string{
	"Namespace":                "/api/v1/namespaces",
	"CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	"Pod":                      "/api/v1/namespaces/%s/pods",
	"ConfigMap":                "/api/v1/namespaces/%s/configmaps",
	"Service":                  "/api/v1/namespaces/%s/services",
	"ServiceAccount":           "/api/v1/namespaces/%s/serviceaccounts",
	"DaemonSet":                "/apis/apps/v1/namespaces/%s/daemonsets",
	"Deployment":               "/apis/apps/v1/namespaces/%s/deployments",
	"PodDisruptionBudget":      "/apis/policy/v1/namespaces/%s/poddisruptionbudgets",
	"ServiceMonitor":           "/apis/monitoring.coreos.com/v1/namespaces/%s/servicemonitors",
	"FlinkDeployment":          "/apis/flink.apache.org/v1beta1/namespaces/%s/flinkdeployments",
}

// dry is the path at which the server judges an object as if it were to be made, unknown fields included.
func dry(kind, namespace string) string {
	return fmt.Sprintf(paths[kind], namespace) + "?dryRun=All&fieldValidation=Strict"
}

// judge tells what the server has against an object, "" when it takes it.
func (s *server) judge(o object, namespace string) string {
	s.t.Helper()
	if paths[o.text("kind")] == "" {
		return "the test knows no path for kind " + o.text("kind")
	}
	code, answer := s.call(http.MethodPost, dry(o.text("kind"), namespace), o)
	if code == http.StatusCreated {
		return ""
	}
	return fmt.Sprintf("%d %s", code, answer.text("message"))
}

// create makes an object for good.
func (s *server) create(o object) {
	s.t.Helper()
	if code, answer := s.call(http.MethodPost, paths[o.text("kind")], o); code != http.StatusCreated {
		s.t.Fatalf("%s %s: %d %s", o.text("kind"), o.text("metadata", "name"), code, answer.text("message"))
	}
}

// namespace makes one with a Pod Security level.
func (s *server) namespace(name, level string) {
	s.t.Helper()
	s.create(object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name,
		"labels": map[string]any{"pod-security.kubernetes.io/enforce": level}}})
}

// define installs the resource definitions that `make chart-check` has fetched, and waits until they are served.
func (s *server) define() {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(os.Getenv("PENSTOCK_KUBE"), "crd", "*.y*ml"))
	if err != nil || len(names) < 2 {
		s.t.Fatalf("resource definitions: %v, %v; want those of Flink's and of Prometheus's operator", names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			s.t.Fatal(err)
		}
		var o object
		if err := yaml.Unmarshal(text, &o); err != nil {
			s.t.Fatal(err)
		}
		s.create(o)
		kind := o.text("spec", "names", "kind")
		s.eventually(kind+" is served", func() bool {
			code, _ := s.call(http.MethodGet, fmt.Sprintf(paths[kind], "default"), nil)
			return code == http.StatusOK
		})
	}
}

// flinkDeployment is what a user makes of the snippet.
func flinkDeployment(snippet object) object {
	spec := snippet.at("spec").(map[string]any)
	spec["image"], spec["flinkVersion"], spec["serviceAccount"] = "flink:2.2", "v1_20", "flink"
	spec["jobManager"] = map[string]any{"resource": map[string]any{"memory": "1024m", "cpu": 1}}
	spec["taskManager"].(map[string]any)["resource"] = map[string]any{"memory": "2048m", "cpu": 1}
	configuration, _ := spec["flinkConfiguration"].(map[string]any)
	for key, value := range configuration {
		configuration[key] = fmt.Sprint(value)
	}
	return object{"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "metadata": map[string]any{"name": "orders"}, "spec": spec}
}

// completed is what Flink makes of a pod template: it brings name and image.
func completed(template object) object {
	template["metadata"].(map[string]any)["name"] = "taskmanager"
	main := template.at("spec", "containers", 0).(map[string]any)
	main["image"] = "flink:2.2"
	return template
}

// restricted adds what a Flink site adds to its own container under the level "restricted".
func restricted(pod object) object {
	pod.at("spec", "containers", 0).(map[string]any)["securityContext"] = map[string]any{
		"runAsNonRoot": true, "runAsUser": 9999, "allowPrivilegeEscalation": false,
		"capabilities": map[string]any{"drop": []any{"ALL"}}, "seccompProfile": map[string]any{"type": "RuntimeDefault"},
	}
	return pod
}

func TestTheServerTakesEveryManifest(t *testing.T) {
	s := startServer(t)
	s.define()
	s.namespace("flink", "privileged")
	s.namespace("strict", "restricted")
	judged := 0
	for name, values := range variants(t) {
		objects := rendered(t, values)
		template := completed(parsed(t, objects, "pod-template.yaml"))
		objects["template"] = template
		objects["operator"] = flinkDeployment(parsed(t, objects, "flink-deployment.yaml"))
		for key, o := range objects {
			judged++
			if refusal := s.judge(o, "flink"); refusal != "" {
				t.Errorf("%s: %s: %s", name, key, refusal)
			}
		}
		refusal := s.judge(restricted(template), "strict")
		if sidecar := !strings.HasPrefix(name, "daemonset"); sidecar && refusal != "" {
			t.Errorf("%s: under the Pod Security level restricted: %s", name, refusal)
		} else if !sidecar && !strings.Contains(refusal, "hostPath") {
			t.Errorf("%s: the level restricted takes a folder of the node: %q", name, refusal)
		}
	}
	if refusal := s.judge(guideDeployment(t), "flink"); refusal != "" {
		t.Errorf("docs/kubernetes.md: %s", refusal)
	}
	t.Logf("%d objects judged", judged)
	s.refuses(t)
}

// refuses sees that this server would find what could be wrong.
func (s *server) refuses(t *testing.T) {
	values := variants(t)["daemonset"]
	set := func() object { return rendered(t, values)["DaemonSet/rel-penstock"] }
	for want, spoil := range map[string]func(object){
		`unknown field "spec.template.spec.containers[0].livnessProbe"`: func(o object) {
			o.at("spec", "template", "spec", "containers", 0).(map[string]any)["livnessProbe"] = map[string]any{}
		},
		"must be less than or equal to memory limit": func(o object) {
			o.at("spec", "template", "spec", "containers", 0, "resources", "requests").(map[string]any)["memory"] = "9999Gi"
		},
		"volumeMounts[0].name: Not found": func(o object) {
			o.at("spec", "template", "spec", "containers", 0, "volumeMounts", 0).(map[string]any)["name"] = "penstock-konfig"
		},
	} {
		o := set()
		spoil(o)
		if refusal := s.judge(o, "flink"); !strings.Contains(refusal, want) {
			t.Errorf("got %q, want a refusal with %q", refusal, want)
		}
	}
	monitor := rendered(t, variants(t)["daemonset-large"])["ServiceMonitor/penstock-large"]
	monitor.at("spec", "endpoints", 0).(map[string]any)["intervall"] = "3s"
	if refusal := s.judge(monitor, "flink"); !strings.Contains(refusal, "intervall") {
		t.Errorf("a ServiceMonitor with an unknown field: %q", refusal)
	}
	deployment := flinkDeployment(parsed(t, rendered(t, variants(t)["sidecar"]), "flink-deployment.yaml"))
	deployment.at("spec", "taskManager", "podTemplate", "spec").(map[string]any)["initContainer"] = []any{}
	if refusal := s.judge(deployment, "flink"); !strings.Contains(refusal, "initContainer") {
		t.Errorf("a FlinkDeployment with an unknown field: %q", refusal)
	}
}
