// Checks of client-go and controller-runtime. Arguments: the kubeconfig and a namespace.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/diff"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/remotecommand"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func check(name string, action func() error) {
	if err := action(); err != nil {
		fmt.Printf("failed %s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	fmt.Println("ok", name)
}

func main() {
	log.SetLogger(zap.New(zap.WriteTo(&bytes.Buffer{})))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		fmt.Println("failed kubeconfig:", err)
		return
	}
	ns := os.Args[2]
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = "application/vnd.kubernetes.protobuf"
	protobuf.AcceptContentTypes = "application/vnd.kubernetes.protobuf"
	json := kubernetes.NewForConfigOrDie(config)
	typed := kubernetes.NewForConfigOrDie(protobuf)

	check("create namespace, protobuf only", func() error {
		_, err := typed.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
		return err
	})
	labels := map[string]string{"app": "web"}
	one := int32(1)
	check("create deployment, protobuf only", func() error {
		_, err := typed.AppsV1().Deployments(ns).Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "web:1"}}}},
		}}, metav1.CreateOptions{})
		return err
	})
	var pod string
	check("list pods, protobuf only", func() error {
		for i := 0; i < 120; i++ {
			pods, err := typed.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
			if err != nil {
				return err
			}
			for _, p := range pods.Items {
				if p.Status.Phase == corev1.PodRunning {
					pod = p.Name
					return nil
				}
			}
			time.Sleep(250 * time.Millisecond)
		}
		return errors.New("no pod runs")
	})
	check("the same object in protobuf and JSON", func() error {
		a, err := typed.CoreV1().Pods(ns).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		b, err := json.CoreV1().Pods(ns).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		a.ManagedFields, b.ManagedFields = nil, nil
		if a.ResourceVersion == b.ResourceVersion && !equality.Semantic.DeepEqual(a, b) {
			return fmt.Errorf("they differ: %s", diff.Diff(a, b))
		}
		return nil
	})
	check("shared informer, protobuf only", func() error {
		factory := informers.NewSharedInformerFactoryWithOptions(typed, 0, informers.WithNamespace(ns))
		seen := make(chan string, 10)
		_, _ = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o interface{}) { seen <- o.(*corev1.ConfigMap).Name }})
		stop := make(chan struct{})
		defer close(stop)
		factory.Start(stop)
		factory.WaitForCacheSync(stop)
		if _, err := typed.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data"}}, metav1.CreateOptions{}); err != nil {
			return err
		}
		for {
			select {
			case name := <-seen:
				if name == "data" {
					return nil
				}
			case <-time.After(10 * time.Second):
				return errors.New("no event")
			}
		}
	})
	check("typed server-side apply", func() error {
		_, err := json.CoreV1().ConfigMaps(ns).Apply(ctx, corev1apply.ConfigMap("applied", ns).WithData(map[string]string{"a": "b"}), metav1.ApplyOptions{FieldManager: "go"})
		return err
	})
	check("dynamic client", func() error {
		_, err := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Resource: "flowschemas"}).Get(ctx, "catch-all", metav1.GetOptions{})
		return err
	})
	check("metadata client, protobuf", func() error {
		list, err := metadata.NewForConfigOrDie(protobuf).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(ns).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) < 2 {
			return errors.New("objects are missing")
		}
		return err
	})
	exec := func(make func(*rest.Config, string, *rest.Request) (remotecommand.Executor, error)) error {
		request := json.CoreV1().RESTClient().Post().Resource("pods").Namespace(ns).Name(pod).SubResource("exec").
			VersionedParams(&corev1.PodExecOptions{Command: []string{"hostname"}, Stdout: true, Stderr: true}, scheme.ParameterCodec)
		executor, err := make(config, "POST", request)
		if err != nil {
			return err
		}
		var out, errOut bytes.Buffer
		if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &errOut}); err != nil {
			return err
		}
		if strings.TrimSpace(out.String()) != pod {
			return fmt.Errorf("output %q", out.String())
		}
		return nil
	}
	check("exec over SPDY", func() error {
		return exec(func(c *rest.Config, method string, r *rest.Request) (remotecommand.Executor, error) {
			return remotecommand.NewSPDYExecutor(c, method, r.URL())
		})
	})
	check("exec over WebSocket", func() error {
		return exec(func(c *rest.Config, _ string, r *rest.Request) (remotecommand.Executor, error) {
			return remotecommand.NewWebSocketExecutor(c, "GET", r.URL().String())
		})
	})
	check("leader election", func() error {
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, ns, "leader", typed.CoreV1(), typed.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: "a"})
		if err != nil {
			return err
		}
		leading, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go leaderelection.RunOrDie(leading, leaderelection.LeaderElectionConfig{Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(done) }, OnStoppedLeading: func() {}}})
		defer stop()
		select {
		case <-done:
			return nil
		case <-time.After(15 * time.Second):
			return errors.New("not elected")
		}
	})
	check("controller-runtime manager with a cache", func() error {
		manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, Cache: ctrlcache.Options{DefaultNamespaces: map[string]ctrlcache.Config{ns: {}}}})
		if err != nil {
			return err
		}
		reconciled := make(chan string, 100)
		err = ctrl.NewControllerManagedBy(manager).For(&appsv1.Deployment{}).Owns(&appsv1.ReplicaSet{}).Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			var d appsv1.Deployment
			if err := manager.GetClient().Get(ctx, r.NamespacedName, &d); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			reconciled <- d.Name
			return reconcile.Result{}, nil
		}))
		if err != nil {
			return err
		}
		running, stop := context.WithCancel(ctx)
		defer stop()
		go func() { _ = manager.Start(running) }()
		select {
		case <-reconciled:
			return nil
		case <-time.After(20 * time.Second):
			return errors.New("nothing was reconciled")
		}
	})
	check("envtest installs a definition", func() error {
		environment := &envtest.Environment{UseExistingCluster: new(true), Config: config, CRDs: []*apiextensionsv1.CustomResourceDefinition{definition()}}
		environment.CRDInstallOptions.CleanUpAfterUse = true
		if _, err := environment.Start(); err != nil {
			return err
		}
		tests := schema.GroupVersionResource{Group: "conformance.flotilla.dev", Version: "v1", Resource: "tests"}
		_, err := dynamic.NewForConfigOrDie(config).Resource(tests).Namespace(ns).List(ctx, metav1.ListOptions{})
		return errors.Join(err, environment.Stop())
	})
	check("envtest installs a webhook that a manager serves", func() error {
		environment := &envtest.Environment{UseExistingCluster: new(true), Config: config, WebhookInstallOptions: envtest.WebhookInstallOptions{
			ValidatingWebhooks: []*admissionv1.ValidatingWebhookConfiguration{validation(ns)},
		}}
		if _, err := environment.Start(); err != nil {
			return err
		}
		return errors.Join(denied(ctx, config, environment.WebhookInstallOptions, json, ns), environment.Stop())
	})
	check("delete namespace", func() error {
		return typed.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{})
	})
}

func definition() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "tests.conformance.flotilla.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "conformance.flotilla.dev", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Test", ListKind: "TestList", Plural: "tests", Singular: "test"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

// A webhook for the ConfigMaps of one namespace.
func validation(ns string) *admissionv1.ValidatingWebhookConfiguration {
	return &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "denies.conformance.flotilla.dev", AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionv1.SideEffectClassNone),
			ClientConfig:      admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: ns, Name: "webhook", Path: new("/deny")}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": ns}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
}

// Serves the webhook and waits until it denies a request.
func denied(ctx context.Context, config *rest.Config, options envtest.WebhookInstallOptions, clients kubernetes.Interface, ns string) error {
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, WebhookServer: webhook.NewServer(webhook.Options{
		Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir,
	})})
	if err != nil {
		return err
	}
	manager.GetWebhookServer().Register("/deny", &webhook.Admission{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Denied("by the check")
	})})
	running, stop := context.WithCancel(ctx)
	defer stop()
	go func() { _ = manager.Start(running) }()
	for range 40 {
		_, err = clients.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "denied-"}}, metav1.CreateOptions{})
		if err != nil && strings.Contains(err.Error(), "denied the request: by the check") {
			return nil
		}
		time.Sleep(250 * time.Millisecond)
	}
	return fmt.Errorf("the webhook did not deny the request: %w", err)
}
