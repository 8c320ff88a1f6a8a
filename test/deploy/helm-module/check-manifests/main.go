// check-manifests reads Kubernetes objects as YAML from standard input and creates each one as an API server would, short of
// storing it: fields are decoded strictly, defaults applied, and the object is validated; pods must also meet the Pod
// Security Standard "restricted". It prints a line for each problem, and exits with 1 when there is one.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

const namespace = "weir"

// The kinds that the chart makes, each with the API server's rules for creating it.
var strategies = map[string]rest.RESTCreateStrategy{
	"ConfigMap":               configmap.Strategy,
	"Deployment":              deployment.Strategy,
	"HorizontalPodAutoscaler": horizontalpodautoscaler.Strategy,
	"Ingress":                 ingress.Strategy,
	"Job":                     job.Strategy,
	"NetworkPolicy":           networkpolicy.Strategy,
	"PodDisruptionBudget":     poddisruptionbudget.Strategy,
	"Service":                 service.Strategy,
	"ServiceAccount":          serviceaccount.Strategy,
}

func main() {
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	objects, problems := 0, 0
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		name, err := check(text, err)
		if name != "" {
			objects++
		}
		if err != nil {
			problems++
			fmt.Printf("%s: %v\n", name, err)
		}
	}
	fmt.Printf("%d objects, %d with problems\n", objects, problems)
	if problems > 0 || objects == 0 {
		os.Exit(1)
	}
}

// check creates the object of one document, and returns its kind and name.
func check(text []byte, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var fields map[string]any
	if err := yaml.Unmarshal(text, &fields); err != nil || len(fields) == 0 {
		return "", err
	}
	meta, _ := fields["metadata"].(map[string]any)
	kind := fmt.Sprint(fields["kind"])
	name := fmt.Sprintf("%s %v", kind, meta["name"])
	strategy, known := strategies[kind]
	if !known {
		return name, errors.New("is of a kind that check-manifests does not know")
	}
	strict := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict)
	object, version, err := strict.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return name, err
	}
	ctx := request.WithRequestInfo(request.WithNamespace(request.NewContext(), namespace), &request.RequestInfo{
		APIGroup:   version.Group,
		APIVersion: version.Version,
	})
	accessor, err := apimeta.Accessor(object)
	if err != nil {
		return name, err
	}
	rest.FillObjectMetaSystemFields(accessor)
	if err := rest.BeforeCreate(strategy, ctx, object); err != nil {
		return name, err
	}
	return name, checkSecurity(text)
}

// checkSecurity evaluates the pods of a Deployment or Job.
func checkSecurity(text []byte) error {
	versioned, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), text)
	if err != nil {
		return err
	}
	var template corev1.PodTemplateSpec
	switch object := versioned.(type) {
	case *appsv1.Deployment:
		template = object.Spec.Template
	case *batchv1.Job:
		template = object.Spec.Template
	default:
		return nil
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &metav1.ObjectMeta{}, &template.Spec))
	if !result.Allowed {
		return errors.New(result.ForbiddenDetail())
	}
	return nil
}
