package cmd

import (
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestKubernetesManifests holds that each manifest of docs/kubernetes.md is YAML and that
// its container's arguments are a kgdiag command.
func TestKubernetesManifests(t *testing.T) {
	text, err := os.ReadFile("../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]string{}
	for i, block := range strings.Split(string(text), "```yaml\n")[1:] {
		var manifest struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Args            []string
							SecurityContext struct {
								RunAsNonRoot bool `yaml:"runAsNonRoot"`
							} `yaml:"securityContext"`
						}
					}
				}
			}
		}
		yml, _, _ := strings.Cut(block, "```")
		if err := yaml.Unmarshal([]byte(yml), &manifest); err != nil {
			t.Fatalf("manifest %d: %v", i+1, err)
		}
		for _, c := range manifest.Spec.Template.Spec.Containers {
			if err := parses(strings.Join(c.Args, " ")); err != nil {
				t.Errorf("%s: %v: %v", manifest.Kind, c.Args, err)
			}
			if !c.SecurityContext.RunAsNonRoot {
				t.Errorf("%s: the image's user is not root, and its manifest should say so", manifest.Kind)
			}
			commands[manifest.Kind] = c.Args[0]
		}
	}
	if commands["Job"] != "why" || commands["Deployment"] != "watch" {
		t.Errorf("the commands of the manifests: %v", commands)
	}
}
